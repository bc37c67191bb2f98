"""A book of two chapters with all that asks: guesses, questions, tasks, lines, exercises."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from tiny_book import CHAPTER, READING_KEPT, build, chapter_of, write_book, write_registry

EARLIER = "chapters/07-attention"
TODAY = "(today)=\n# Today\n\n```{today}\n```\n"

GUESS = """::::{admonition} Guess first
:class: guess
One and one is …

:::{dropdown} three.
That is one more than there are.
:::
:::{dropdown} two.
Right. Count.
:::
:::{dropdown} one.
One of 1 + 1 was lost.
:::
::::
"""
CHOICE = r"""::::{admonition} Question
:class: question
:name: ask-positions-shift

Both tokens move on by five places. Why does the score $q^\top k$ stay?

:::{dropdown} The arrows are not turned at all
They are, by five steps each, and that is seen in the picture.
:::
:::{dropdown} The angles of both grow alike
Right. Only their difference enters the product $q^\top k$, and that is as before.
:::
::::
"""
NUMBER = r"""::::{admonition} Try this
:class: task
:name: try-positions-turns

Predict: how many turns has the hand made at place 5, when each place turns it by one radian?

:::{dropdown} Answer
Five radians are $5/(2\pi)$ of a turn, a little less than a whole one.
:::
::::
"""
ORDER = r"""::::{admonition} Put in order
:class: order
:name: order-positions-step

One step of decoding with a cache. One of the lines does not belong.

* sample the next token from the last row
* compute all keys again
* `embed` the new token only
* score it by $q^\top k$ with all keys

:::{dropdown} In order
1. `embed` the new token only
2. score it by $q^\top k$ with all keys
3. sample the next token from the last row

*compute all keys again* – a decoy: the cache holds them, since no later token changes them.
:::
::::
"""
SEEN = """::::{admonition} Try this
:class: task
:name: try-positions-look

Move the slider from left to right, and say beforehand where the curve will bend.

:::{dropdown} What you should see
It bends in the middle, where both hands point the same way.
:::
::::
"""
TEXT = f"""# Positions

Reading takes two minutes. See [the first section](#positions-first).

(positions-first)=
## First section

{GUESS}
{CHOICE}

(positions-second)=
## Second section

{NUMBER}
{SEEN}
"""
THIRD = f"""(positions-third)=
## Third section

{ORDER}

## Exercises

```{{exercise}} How many
:label: ex-positions-count
How many pairs do four queries and three keys make?
```
"""
EARLIER_TEXT = """# Attention

Reading takes an hour.

(attention-first)=
## A first look

::::{admonition} Question
:class: question
:name: ask-attention-sum

The weights of a row have the sum …

:::{dropdown} one.
Right. They are shares.
:::
:::{dropdown} of the scores.
The softmax has divided by it.
:::
::::

::::{admonition} Question
:class: question
:name: ask-attention-sign

A weight is never …

:::{dropdown} negative.
Right. An exponential is positive.
:::
:::{dropdown} small.
It may be as small as it likes.
:::
::::
"""
SUMMARY = """(attention-summary)=
## Summary

* Attention is a **weighted mean** of values.
* Its weights are a softmax of scores.
"""
ASKED = [
    {"question": "What is attention a mean of?", "section": "attention-first"},
    {"question": "What are its weights?", "section": "attention-first"},
]


def printing(source: str, printed: str, cell: str, tag: str) -> nbformat.NotebookNode:
    """Make a code cell that was run."""
    output = new_output("stream", name="stdout", text=printed)
    return new_code_cell(
        source, id=cell, outputs=[output], execution_count=1, metadata={"tags": [tag]}
    )


def chapters() -> dict[str, nbformat.NotebookNode]:
    """Make both chapters."""
    stub = "from primer.exercises.sample import check_count\n\nanswer = ...\ncheck_count(answer)"
    later = [
        new_markdown_cell(TEXT, id="text"),
        printing(
            'answer_to("try-positions-turns", 5 / 6.2832, unit="turns", within=0.05)',
            "→ try-positions-turns: 0.80 turns (within 0.05)\n",
            "turns-check",
            "check",
        ),
        new_markdown_cell(THIRD, id="third"),
        new_code_cell(stub, id="count", metadata={"tags": ["exercise"]}),
    ]
    summary = new_markdown_cell(SUMMARY, id="summary", metadata={"cards": ASKED})
    earlier = [new_markdown_cell(EARLIER_TEXT, id="text"), summary]
    return {EARLIER: chapter_of(earlier), CHAPTER: chapter_of(later)}


def asking_book(folder: Path, more: dict[str, str] | None = None) -> Path:
    """Build the book; return the folder of its site."""
    found = chapters()
    pages = {
        EARLIER: "# Attention\n",
        "chapters/appendix/kept": READING_KEPT,
        "chapters/appendix/today": TODAY,
        "chapters/appendix/cards": "# Flash cards\n\n```{cards}\n```\n",
        **(more or {}),
    }
    write_book(folder, found[CHAPTER], pages)
    (folder / f"{EARLIER}.md").unlink()
    nbformat.write(found[EARLIER], folder / f"{EARLIER}.ipynb")
    write_registry(folder, [Path(EARLIER).name, Path(CHAPTER).name])
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "_build/html"
