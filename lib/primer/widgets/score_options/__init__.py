"""Score the options: texts after a context, and three rules that make a choice of their bits."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure

from primer.evaluation.questions import continuation_bits
from primer.palette import LIGHT
from primer.widgets.controls import Choice
from primer.widgets.shared.language_model import LanguageModelWidget

ALONE = "\n"
"""What stands before an option that is scored without its context."""
MOST = 6
LETTERS = "abcdef"
RULES = {"sum": "sum of bits", "letter": "bits a letter", "alone": "less the cost alone"}
SETS = {
    "FABIAN\nI would exult, man: you know, he brought me out o'\n": (
        "favour with my lady about a bear-baiting here.",
        "that they come from my niece, and that she's in",
        "them; item, one neck, one chin, and so forth. Were",
        "everything that thou wilt have me.",
    ),
    "ROMEO\nBut soft, what light through yonder window breaks?\n": (
        "It is the east, and Juliet is the sun.",
        "It is the west, and Juliet is the moon.",
        "It is an honest gentleman of Verona.",
        "Away!",
    ),
    "Who killed the King?\n(A) the Queen (B) Macbeth (C) a dog (D) nobody\nThe answer is\n": (
        "A",
        "B",
        "C",
        "D",
    ),
}
"""Contexts to begin with, and the options of each; the first is of a play that it never read."""


class Costs(NamedTuple):
    """What each option costs, in bits: after the context, and after a line break alone."""

    after: Float[np.ndarray, " options"]
    alone: Float[np.ndarray, " options"]


class ScoreOptions(LanguageModelWidget):
    r"""The reader's own options after a context, scored by the book's model in the page.

    The cost of an option :math:`o` after a context :math:`c` is
    :math:`-\log_2 p(o \mid c)`, that of both less that of the context; *alone* a line break stands
    in the place of the context.

    Parameters
    ----------
    **state
        First values of the traits: ``text`` (the context), ``options`` (two to six lines, an
        option in each), ``rule`` (``"sum"``, ``"letter"`` or ``"alone"``), ``examples`` (contexts
        to choose from) and ``checkpoint`` (the model, from
        :func:`primer.widgets.shared.quantized.pack`; the book's own when left out).

    Raises
    ------
    traitlets.TraitError
        When a value is of another kind, or the checkpoint is none.

    Examples
    --------
    >>> ScoreOptions(text="To be, or not ", options="to be\nto have", rule="letter")
    ScoreOptions(text='To be, or not ', options='to be\nto have', rule='letter')
    """

    description = (
        "A field for a context and one for options, a line each. A table says of each option what "
        "it costs the model in bits after the context, a letter, alone, and after the context less "
        "alone; bars show the rule that is chosen. The least is the model's answer."
    )

    EXAMPLES = tuple(SETS)
    constants: ClassVar[dict[str, Any]] = {
        "sets": {text: "\n".join(options) for text, options in SETS.items()},
        "alone": ALONE,
        "most": MOST,
        "rules": RULES,
    }

    options = traitlets.Unicode("\n".join(next(iter(SETS.values())))).tag(sync=True)
    rule = Choice("sum", RULES, label="Rule")

    @traitlets.validate("options")
    def _check_options(self, proposal: traitlets.Bunch) -> str:
        try:
            proposal.value.encode("utf-8")
        except UnicodeEncodeError:
            raise traitlets.TraitError("options hold half a character, a lone surrogate") from None
        return str(proposal.value)

    def listed(self) -> list[str]:
        """List the options, at most six: lines that are not empty."""
        return [line for line in self.options.split("\n") if line.strip()][:MOST]

    def costs(self) -> Costs:
        """Compute what the options cost.

        Raises
        ------
        ValueError
            When context and option together are longer than the model reads.
        """
        contexts = (self.text or ALONE, ALONE)
        model, encoding = self.model(), self.encoding()
        for option in self.listed():
            length = len(encoding.encode(contexts[0] + option))
            if length > model.config.context_length:
                raise ValueError(
                    f"the model reads {model.config.context_length} tokens; context and option "
                    f"have {length}: shorten one"
                )
        with torch.no_grad():
            after, alone = (
                continuation_bits(model, encoding, [(start, option) for option in self.listed()])
                for start in contexts
            )
        return Costs(after, alone)

    def scores(self) -> Float[np.ndarray, " options"]:
        """Compute the scores of the options by the chosen rule; the least is the answer."""
        after, alone = self.costs()
        if self.rule == "letter":
            return after / [len(option) for option in self.listed()]
        return after - alone if self.rule == "alone" else after

    def picture(self) -> Figure:
        """Draw the scores as bars, the least in another color.

        Returns
        -------
        Figure
            One panel.
        """
        options = self.listed()
        figure = Figure(figsize=(7.2, 0.8 + 0.45 * max(3, len(options))), layout="constrained")
        if len(options) < 2:
            figure.text(0.5, 0.5, "Two options or more can be scored.", ha="center")
            return figure
        axes, scores = figure.subplots(), self.scores()
        colors = [LIGHT["blue" if s == scores.min() else "muted"] for s in scores]
        axes.barh(range(len(options)), scores, color=colors)
        axes.set_yticks(range(len(options)), [_short(option) for option in options])
        axes.invert_yaxis()
        axes.axvline(0, color=LIGHT["ink"], lw=1)
        axes.set(xlabel=RULES[self.rule].replace("less", "bits less"))
        axes.set_title(f"The answer: {_short(options[int(scores.argmin())])}")
        return figure


def _short(option: str) -> str:
    """Cut an option to what has room beside a bar."""
    return option if len(option) <= 24 else option[:23] + "…"
