"""The masking desk: one line of text, prepared for six objectives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
import traitlets
from jaxtyping import Bool
from matplotlib.figure import Figure
from torch import Tensor

from primer import pretraining as pre
from primer.language_models import BytePairEncoding
from primer.palette import LIGHT
from primer.widgets.base import Widget, whole_ticks
from primer.widgets.controls import Choice, Number, Whole
from primer.widgets.shared.mulberry import mulberry
from primer.widgets.shared.quantized import book_twin, unpacked_masked

TOKENS = ["To", "be", ",", "or", "not", "to", "be", ":", "that", "is", "the", "question"]
OTHERS = ["king", "I", "love", ".", "night", "you", "blood", "and"]
"""What a random token is drawn from; for the twin, too, each of them is one token."""
MASK, START = "▢", "<start>"
N, MEAN_SPAN, LONGEST = len(TOKENS), 2, 4
CHANCES = {
    "spans": pre.span_length_probabilities(0.2, LONGEST),
    "infill": np.array([2**k * np.exp(-2) / np.prod(range(1, k + 1)) for k in range(13)]),
}
"""How likely a span has a length: from 1 on for SpanBERT; from 0 on, Poisson, for BART."""
OBJECTIVES = {
    "next": "next token (GPT)",
    "prefix": "prefix, then next token",
    "masked": "masked tokens (BERT)",
    "spans": "masked spans (SpanBERT)",
    "cut": "spans cut out (T5)",
    "infill": "gaps of unknown length (BART)",
}


class Answer(NamedTuple):
    """What the masked twin says of a place: its word, how probable it is, and the right word."""

    said: str
    sure: float
    right: float


class Rows(NamedTuple):
    """What the model reads, what it should say (empty: nothing), and which places count."""

    inputs: list[str]
    targets: list[str]
    counted: list[bool]
    allowed: Bool[Tensor, "n n"]


class MaskingDesk(Widget):
    r"""One line as inputs, targets and counted places, who may see whom, and what a model says.

    .. math:: (\text{inputs},\; \text{targets},\; \text{counted}) =
              \operatorname{corrupt}(\text{text})

    An encoder's and a decoder's tokens stand one behind the other, as
    :func:`primer.pretraining.family_mask` has them for the family ``"prefix"``.  Hidden tokens
    and spans are filled in the page by the masked twin of the book's model.

    Parameters
    ----------
    **state
        First values of the traits: ``objective`` (``"next"``, ``"prefix"``, ``"masked"``,
        ``"spans"``, ``"cut"`` or ``"infill"``), ``rate`` (0.05 to 0.6), ``length`` (of the prefix,
        1 to 11), ``seed`` (0 to 999) and ``twin`` (the model, from
        :func:`primer.widgets.shared.quantized.pack_masked`; the book's own when left out).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range, or the twin is no model.

    Examples
    --------
    >>> rows = MaskingDesk(objective="prefix", length=10).rows()
    >>> [word for word, counts in zip(rows.targets, rows.counted, strict=True) if counts]
    ['the', 'question']
    """

    description = (
        "The line 'To be, or not to be: that is the question' in twelve cells: what a masked "
        "model reads, what it should say, and which places count in the loss; beside it a square "
        "of 12 × 12 places, all filled, since an encoder sees everything. Below the places that "
        "count stands what a masked model says."
    )
    constants: ClassVar[dict[str, Any]] = {
        "tokens": TOKENS,
        "others": OTHERS,
        "chances": {name: list(map(float, p)) for name, p in CHANCES.items()},
        "split": list(pre.BERT_SPLIT),
        "mean": MEAN_SPAN,
    }

    objective = Choice("masked", OBJECTIVES, label="Objective")
    rate = Number(0.3, low=0.05, high=0.6, step=0.05, label="Rate")
    length = Whole(4, low=1, high=N - 1, label="Prefix", unit=" tokens")
    seed = Whole(0, low=0, high=999, label="Draw")
    twin = traitlets.Bytes().tag(sync=True)

    @traitlets.default("twin")
    def _default_twin(self) -> bytes:
        return book_twin()

    @traitlets.validate("twin")
    def _check_twin(self, proposal: traitlets.Bunch) -> bytes:
        try:
            unpacked_masked(proposal.value)
        except ValueError as error:
            raise traitlets.TraitError(f"twin: {error}") from None
        return bytes(proposal.value)

    def rows(self) -> Rows:
        """Prepare the line for the objective, with the random numbers of the page."""
        uniform = mulberry(self.seed)
        if self.objective in ("next", "prefix"):
            ids = torch.arange(N)
            seen = pre.next_token(ids) if self.objective == "next" else pre.prefix(ids, self.length)
            inputs, targets = ([TOKENS[i] for i in row] for row in seen[:2])
            known = self.length if self.objective == "prefix" else 0
            return Rows(inputs, targets, seen.counted.tolist(), _allowed(len(inputs), known))
        if self.objective in ("masked", "spans"):
            draw = _masked if self.objective == "masked" else _spans
            inputs, counted = draw(uniform, self.rate)
            return Rows(inputs, list(TOKENS), counted, torch.ones(N, N, dtype=torch.bool))
        read, written = (_cut if self.objective == "cut" else _infill)(uniform, self.rate)
        silent = len(read)
        inputs = [*read, START, *written[:-1]]
        counted = [False] * silent + [True] * len(written)
        return Rows(inputs, [""] * silent + written, counted, _allowed(len(inputs), silent))

    @torch.no_grad()
    def answers(self) -> list[Answer | None]:
        """Let the twin fill the places that count; None elsewhere, and where it is not asked."""
        rows = self.rows()
        if self.objective not in ("masked", "spans"):
            return [None] * len(rows.inputs)
        model, encoding = unpacked_masked(self.twin)
        mask = encoding.special_tokens[pre.MASK]
        right = [_encoded(encoding, word, place) for place, word in enumerate(rows.targets)]
        read = []
        for place, (word, ids) in enumerate(zip(rows.inputs, right, strict=True)):
            given = [] if word == MASK else _encoded(encoding, word, place)
            read.append((given + [mask] * len(ids))[: len(ids)])
        tokens = torch.tensor([[token for ids in read for token in ids]])
        parts = model.logits(tokens)[0].double().softmax(-1).split([len(ids) for ids in right])
        return [
            _answer(encoding, part, ids) if counts else None
            for part, ids, counts in zip(parts, right, rows.counted, strict=True)
        ]

    def picture(self) -> Figure:
        """Draw the three rows and the attention mask.

        Returns
        -------
        Figure
            Two panels.
        """
        rows = self.rows()
        figure = Figure(figsize=(7.2, 4.6), layout="constrained")
        top, bottom = figure.subplots(2, 1, height_ratios=[1, 2])
        size = 8 if len(rows.inputs) < 16 else 5.5
        columns = zip(*rows[:3], self.answers(), strict=True)
        for place, (read, said, counts, answer) in enumerate(columns):
            color = LIGHT["orange"] if counts else LIGHT["ink"]
            fills = f"{answer.said}\n{answer.sure:.0%}" if answer else ""
            for height, text in enumerate((fills, str(int(counts)), said, read)):
                top.text(place, height, text, ha="center", va="center", fontsize=size, color=color)
        top.set(xlim=(-0.6, len(rows.inputs) - 0.4), ylim=(-0.6, 3.6), xticks=[])
        top.set_yticks([0, 1, 2, 3], ["twin", "counts", "target", "input"])
        top.grid(visible=False)
        top.set_title(f"{OBJECTIVES[self.objective]}: {sum(rows.counted)} places count")
        ends = (0.5, len(rows.inputs) + 0.5)  # places are counted from 1
        bottom.imshow(
            rows.allowed.numpy(), cmap="Blues", vmin=0, vmax=1.4, extent=(*ends, *ends[::-1])
        )
        whole_ticks(bottom.xaxis, bottom.yaxis)
        bottom.set(xlabel="seen place", ylabel="seeing place")
        bottom.grid(visible=False)
        return figure


def _encoded(encoding: BytePairEncoding, word: str, place: int) -> list[int]:
    """Encode a word of the line, with the space before it where there is one."""
    return encoding.encode(word if place == 0 or word in ",.:" else f" {word}")


def _answer(encoding: BytePairEncoding, chances: Tensor, right: list[int]) -> Answer:
    """Take the most probable token of each of a place's hidden ones."""
    best = chances.argmax(dim=-1)
    said = encoding.decode(best.tolist()).removeprefix(" ")
    for space, sign in ((" ", "␣"), ("\n", "⏎"), ("\t", "⇥")):
        said = said.replace(space, sign)
    one_each = torch.arange(len(right))
    right_chance = float(chances[one_each, torch.tensor(right)].prod())
    return Answer(said, float(chances[one_each, best].prod()), right_chance)


def _allowed(n: int, known: int) -> Bool[Tensor, "n n"]:
    return pre.family_mask("prefix", n, prefix=min(known, n))


def _below(uniform: Iterator[float], n: int) -> int:
    """Draw a whole number below n."""
    return int(next(uniform) * n)


def _listed(uniform: Iterator[float], chances: list[float]) -> int:
    """Draw a place in a list with these probabilities."""
    left, place = next(uniform), 0
    while place < len(chances) - 1 and left >= chances[place]:
        left -= chances[place]
        place += 1
    return place


def _faced(uniform: Iterator[float]) -> Callable[[str], str]:
    """Draw what becomes of a selected token, or of a whole span: mask, random, unchanged."""
    fate = next(uniform)
    if fate < pre.BERT_SPLIT[0]:
        return lambda _: MASK
    if fate < pre.BERT_SPLIT[0] + pre.BERT_SPLIT[1]:
        return lambda _: OTHERS[_below(uniform, len(OTHERS))]
    return lambda token: token


def _masked(uniform: Iterator[float], rate: float) -> tuple[list[str], list[bool]]:
    counted = [next(uniform) < rate for _ in TOKENS]
    return [_faced(uniform)(t) if c else t for t, c in zip(TOKENS, counted, strict=True)], counted


def _spans(uniform: Iterator[float], rate: float) -> tuple[list[str], list[bool]]:
    inputs, counted = list(TOKENS), [False] * N
    while left := max(1, round(rate * N)) - sum(counted):
        length = min(1 + _listed(uniform, CHANCES["spans"].tolist()), left)
        free = [
            s for s in range(N - length + 1) if not any(counted[max(0, s - 1) : s + length + 1])
        ]
        if not free:
            length, free = 1, [place for place in range(N) if not counted[place]]
        start, face = free[_below(uniform, len(free))], _faced(uniform)
        for place in range(start, start + length):
            inputs[place], counted[place] = face(TOKENS[place]), True
    return inputs, counted


def _cut(uniform: Iterator[float], rate: float) -> tuple[list[str], list[str]]:
    sizes = pre.span_sizes(N, rate, MEAN_SPAN)
    hidden = _pieces(uniform, sizes.hidden, sizes.spans)
    kept = _pieces(uniform, N - sizes.hidden, sizes.spans)
    read, written, place = [], [], 0
    for number, (before, span) in enumerate(zip(kept, hidden, strict=True)):
        read += [*TOKENS[place : place + before], f"<{number}>"]
        written += [f"<{number}>", *TOKENS[place + before : place + before + span]]
        place += before + span
    return read, [*written, f"<{sizes.spans}>"]


def _pieces(uniform: Iterator[float], total: int, parts: int) -> list[int]:
    """Cut a number into so many positive parts."""
    free, cuts = list(range(1, total)), [0, total]
    cuts += [free.pop(_below(uniform, len(free))) for _ in range(parts - 1)]
    return np.diff(sorted(cuts)).tolist()


def _infill(uniform: Iterator[float], rate: float) -> tuple[list[str], list[str]]:
    left, lengths = max(1, round(rate * N)), []
    kept = N - left
    while left:
        lengths.append(min(_listed(uniform, CHANCES["infill"].tolist()), left))
        left -= lengths[-1]
    cuts = sorted(_below(uniform, kept + 1) for _ in lengths)
    read, place, before = [], 0, 0
    for cut, length in zip(cuts, lengths, strict=True):
        read += [*TOKENS[place : place + cut - before], MASK]
        place, before = place + cut - before + length, cut
    return [*read, *TOKENS[place:]], list(TOKENS)
