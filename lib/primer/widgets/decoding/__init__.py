"""Decoding: from the next-token distribution of the book's language model to text."""

from __future__ import annotations

import contextlib
from typing import Any, ClassVar

import torch
import traitlets
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from primer.fine_tuning.stored import unpack_lora
from primer.inference import Hypothesis, beam_search, effective_choices, generate, probabilities
from primer.palette import LIGHT
from primer.widgets.controls import Name, Number, Whole
from primer.widgets.shared.changed_model import NOTHING, ChangedModelWidget, stored_changes

MOST_TOKENS, MOST_BEAMS, SEEDS = 200, 6, 100
SHOWN = 14
MODELS = {
    "plays": "trained on the plays",
    "docstrings": "fine-tuned on NumPy's docstrings",
    "aligned": "aligned: rewarded for ! in its replies",
}
"""What the changes that come with the book make of its model."""


class Decoding(ChangedModelWidget):
    r"""The next token of a language model, and what different ways to choose it make of a prompt.

    The reader types a prompt; the model runs in the page, as it was trained or with a change of
    low rank: fine-tuned on docstrings, or aligned with a rater's wish.  The next-token distribution
    is drawn before and after temperature, top-k and top-p; beside each other stand a greedy
    continuation, the best that beam search finds, and three samples; the beam search is drawn as a
    tree.

    Parameters
    ----------
    **state
        First values of the traits: ``text`` (the prompt), ``change`` (``"plays"`` for none,
        ``"docstrings"`` or ``"aligned"``), ``temperature`` (0.1 to 5), ``top_k`` (a
        whole number from 1, or None for all), ``top_p`` (above 0, at most 1), ``n_tokens`` (1 to
        200), ``n_beams`` (1 to 6), ``seed`` (0 to 99), ``examples`` (prompts to choose from),
        ``checkpoint`` (the model, from :func:`primer.widgets.shared.quantized.pack`; the book's own
        when left out) and ``changes`` (name → factors, from
        :func:`primer.fine_tuning.stored.pack_lora`; those that fit the model when left out).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or of another kind, the checkpoint is none, or a change
        belongs to another model.

    Examples
    --------
    >>> Decoding(temperature=0.5, top_k=20)  # doctest: +NORMALIZE_WHITESPACE
    Decoding(text='My lord, I', change='plays', temperature=0.5, top_k=20, top_p=1.0, n_tokens=40,
             n_beams=3, seed=1)
    """

    description = (
        "Two bars for each of the most probable next tokens: the probability that a language "
        "model gives, and below it the one that is drawn from after temperature, top-k and top-p; "
        "what is cut says by which. Below, a greedy continuation, one by beam search and three "
        "samples."
    )

    EXAMPLES = (
        "My lord, I",
        "O my dear",
        "Enter the King of ",
        "To be, or not to be",
        "ROMEO\nBut soft, what light",
        "HAMLET\nWho comes here?\n\nHORATIO\n",
        "See also",
    )
    constants: ClassVar[dict[str, Any]] = {"shown": SHOWN, "seeds": SEEDS}

    change = Name("plays", among="changes", label="Model", words=lambda n: MODELS.get(n, n))
    temperature = Number(
        1.0,
        low=0.1,
        high=5.0,
        scale="decades",
        label="Temperature τ",
        hint="its limit 0 is greedy",
    )
    top_k = Whole(
        None,
        low=1,
        high=2**20,
        step=0.1,
        scale="octaves",
        none="all",
        label="Top-k",
        hint="None keeps all",
    )
    top_p = Number(1.0, low=0.01, high=1.0, named={1.0: "all"}, label="Top-p", hint="1 keeps all")
    n_tokens = Whole(40, low=1, high=MOST_TOKENS, label="New tokens")
    n_beams = Whole(3, low=1, high=MOST_BEAMS, label="Beams")
    seed = Whole(1, low=0, high=SEEDS - 1, label="Seed")

    @traitlets.default("changes")
    def _default_changes(self) -> dict[str, bytes]:
        fitting = {"plays": NOTHING}
        for name, data in stored_changes().items():
            with contextlib.suppress(ValueError):  # a change of another model, or no model at all
                unpack_lora(data, self.model())
                fitting[name] = data
        return fitting

    @traitlets.validate("top_k")
    def _check_top_k(self, proposal: traitlets.Bunch) -> int | None:
        vocabulary = self.model().config.vocab_size
        if proposal.value is not None and not 1 <= proposal.value <= vocabulary:
            raise traitlets.TraitError(
                f"top_k must be 1 to {vocabulary}, or None to keep all, got {proposal.value}"
            )
        return proposal.value if proposal.value is None else int(proposal.value)

    def tokens(self) -> list[int]:
        """Encode the part of the prompt that leaves room for the new tokens."""
        room = self.model().config.context_length - self.n_tokens
        return self.encoding().encode(self.text)[-room:]

    def logits(self) -> Float[Tensor, " vocab"]:
        """Compute the logits of the token that follows the prompt."""
        with torch.no_grad():
            return self.changed_model()(torch.tensor([self.tokens()]))[0, -1].double()

    def distribution(self) -> Float[Tensor, " vocab"]:
        """Compute the distribution that the next token is drawn from."""
        return probabilities(self.logits(), self.temperature, self.top_k, self.top_p)

    def greedy(self) -> list[int]:
        """Continue the prompt greedily by :func:`primer.inference.generate`."""
        prompt = self.tokens()
        whole = generate(self.changed_model(), prompt, self.n_tokens, end_token=self.end())
        return [int(token) for token in whole[len(prompt) :]]

    def beam(self) -> Hypothesis:
        """Find the best continuation by :func:`primer.inference.beam_search`."""
        found = beam_search(
            self.changed_model(), self.tokens(), self.n_tokens, self.n_beams, end_token=self.end()
        )
        return found[0]

    def picture(self) -> Figure:
        """Draw the most probable next tokens, and the greedy continuation in words.

        Returns
        -------
        Figure
            One panel.
        """
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        if not self.text:
            figure.text(0.5, 0.5, "A prompt of one token or more can be continued.", ha="center")
            return figure
        self._draw_bars(figure.subplots())
        return figure

    def _draw_bars(self, axes: Axes) -> None:
        """Draw the model's probabilities, and below each the one that is drawn from."""
        logits, drawn = self.logits(), self.distribution()
        model = logits.softmax(-1)
        order = logits.argsort(descending=True, stable=True)[:SHOWN].tolist()
        for row, token in enumerate(order):
            kept = float(drawn[token])
            color = LIGHT["muted" if kept else "red"]
            hatch = None if kept else "////"
            axes.barh(row - 0.2, float(model[token]), 0.3, fill=False, edgecolor=color, hatch=hatch)
            axes.barh(row + 0.2, kept, 0.4, color=LIGHT["blue"], alpha=0.75)
        axes.set_yticks(range(len(order)), [self.name_of(token) for token in order])
        axes.set(ylim=(len(order) - 0.4, -0.6), xlabel="probability")
        before, after = (float(effective_choices(p.log())) for p in (model, drawn))
        axes.set_title(
            f"As uncertain as {before:.1f} equal choices; drawn from (blue): {after:.1f}"
        )
