"""Press the keys: a reader, a base and a trained model on the way from a start to a target."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np
import torch
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure

from primer.alignment import Replies
from primer.alignment.replies import reply_mask
from primer.palette import LIGHT
from primer.reasoning import KINDS, Calculator, Verdicts, check, split_pairs
from primer.reasoning.attempts import LIMIT
from primer.reasoning.keys import KEYS
from primer.reasoning.recorded import load_recorded
from primer.transformers import Transformer
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Whole
from primer.widgets.shared.mulberry import mulberry
from primer.widgets.shared.quantized import pack_bare, unpacked_bare

CALCULATOR = Calculator()
MODELS = {"base": "base", "trained": "trained model"}
TRIES = (4, 16, 64)
MOST = (LIMIT - 1) // 2
"""So many presses, each with its number, and the end have room in a reply."""
COLORS = ("green", "muted", "purple", "red", "muted", "muted")
"""Of the kinds of replies."""


@functools.cache
def packed(name: str) -> bytes:
    """Pack a recorded model for the page, with eight bits for a weight."""
    return pack_bare(load_recorded(name))


class Pressed(traitlets.List):  # type: ignore[type-arg]
    """Keys that were pressed, nine at most."""

    def validate(self, obj: Any, value: Any) -> list[str]:
        """Return the keys, or say what is wrong with them."""
        keys = [value] if isinstance(value, str) else list(value)
        for key in keys:
            if key not in KEYS:
                raise traitlets.TraitError(f"pressed holds {key!r}; the keys are {', '.join(KEYS)}")
        if len(keys) > MOST:
            raise traitlets.TraitError(f"pressed holds {len(keys)} keys, {MOST} have room")
        return keys


class PressTheKeys(Widget):
    r"""A calculator with four keys, a question, and two models that answer it in the page.

    The models are those of :func:`primer.reasoning.recorded.load_recorded`, rounded to eight bits
    for a weight. Their replies are drawn at temperature 1 with the random numbers of ``seed``.

    Parameters
    ----------
    **state
        First values of the traits: ``start`` and ``target`` (0 to 49), ``model`` whose replies are
        drawn as ways (``"base"`` or ``"trained"``), ``tries`` (replies of each: 4, 16 or 64),
        ``seed`` (of the draws, from 0 on), ``pressed`` (the reader's keys, nine at most), and
        ``base`` and ``trained``, files of :func:`primer.widgets.shared.quantized.pack_bare`.

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range, a key is none, or a file is no model.

    Examples
    --------
    >>> widget = PressTheKeys(start=7, target=20, pressed=["+3", "×2"])
    >>> widget
    PressTheKeys(start=7, target=20, model='trained', tries=16, seed=0)
    >>> widget.walk()
    [7, 10, 20]
    """

    description = (
        "A calculator with the keys plus 3, minus 5, times 2 and half, a start and a target. Under "
        "each key stands how probable a base and a trained model hold it to be the next. A drawing "
        "shows what the display shows after each press, in replies of a model, by the checker's "
        "verdict, and on the reader's own way. A table counts the verdicts on both models."
    )

    start = Whole(16, low=0, high=49, label="Start")
    target = Whole(18, low=0, high=49, label="Target")
    model = Choice("trained", MODELS, label="Ways of the")
    tries = Choice(16, TRIES, label="Replies of each", look="slider")
    seed = traitlets.Int(0, min=0).tag(sync=True)
    pressed = Pressed().tag(sync=True)
    base = traitlets.Bytes().tag(sync=True)
    trained = traitlets.Bytes().tag(sync=True)
    constants: ClassVar[dict[str, Any]] = {
        "names": MODELS,
        "questions": split_pairs(CALCULATOR)[0].tolist(),
    }

    @traitlets.default("base")
    def _default_base(self) -> bytes:
        return packed("base")

    @traitlets.default("trained")
    def _default_trained(self) -> bytes:
        return packed("trained")

    @traitlets.validate("base", "trained")
    def _check_model(self, proposal: traitlets.Bunch) -> bytes:
        name = proposal.trait.name
        try:
            found = unpacked_bare(bytes(proposal.value)).config
        except ValueError as error:
            raise traitlets.TraitError(f"{name}: {error}") from None
        if found.vocab_size != CALCULATOR.vocab_size or found.context_length < 3 + LIMIT:
            raise traitlets.TraitError(
                f"{name} must know the calculator's {CALCULATOR.vocab_size} tokens and read "
                f"{3 + LIMIT}, this model knows {found.vocab_size} and reads {found.context_length}"
            )
        return bytes(proposal.value)

    def in_page(self, name: str) -> Transformer:
        """Return the base or the trained model as the page runs it."""
        return unpacked_bare(getattr(self, name))

    def walk(self) -> list[int]:
        """List what the display shows on the reader's way, up to an illegal press."""
        shown = [self.start]
        for key in self.pressed:
            display = CALCULATOR.press(shown[-1], key)
            if display is None:
                break
            shown.append(display)
        return shown

    def expected(self, name: str) -> Float[np.ndarray, " vocab"]:
        """Compute how probable a model holds each token to be the next on the reader's way."""
        shown = self.walk()
        pairs = zip(self.pressed, shown[1:], strict=False)
        way = [t for key, display in pairs for t in (50 + [*KEYS].index(key), display)]
        tokens = torch.tensor([[self.start, self.target, CALCULATOR.arrow, *way]])
        with torch.no_grad():
            return np.asarray(self.in_page(name)(tokens)[0, -1].double().softmax(-1))

    def replies(self, name: str) -> Replies:
        """Draw the replies of a model, the same as the page draws.

        Raises
        ------
        ValueError
            When the start is the target: there is no question then.
        """
        prompt = CALCULATOR.prompts(np.array([[self.start, self.target]]))
        numbers = mulberry(2 * self.seed + [*MODELS].index(name))
        uniforms = torch.tensor([next(numbers) for _ in range(self.tries * LIMIT)])
        uniforms = uniforms.double().reshape(self.tries, LIMIT)
        tokens = torch.full((self.tries, LIMIT), CALCULATOR.end)
        ended = torch.zeros(self.tries, dtype=torch.bool)
        prompts = prompt.repeat(self.tries, 1)
        for place in range(LIMIT):
            with torch.no_grad():
                logits = self.in_page(name)(torch.cat([prompts, tokens[:, :place]], dim=1))[:, -1]
            mass = logits.double().softmax(-1).cumsum(-1)
            chosen = (mass <= uniforms[:, place, None]).sum(-1).clamp(max=mass.shape[-1] - 1)
            tokens[:, place] = torch.where(ended, CALCULATOR.end, chosen)
            ended |= chosen == CALCULATOR.end
        return Replies(prompts, tokens, reply_mask(tokens, CALCULATOR.end))

    def verdicts(self, name: str) -> Verdicts:
        """Let the checker press the keys of a model's replies."""
        return check(CALCULATOR, self.replies(name))

    def picture(self) -> Figure:
        """Draw the ways of one model's replies and the reader's own; count what both did.

        Returns
        -------
        Figure
            Two panels beside each other.
        """
        figure = Figure(figsize=(7.2, 3.4), layout="constrained")
        if self.start == self.target:
            figure.text(0.5, 0.5, f"The display shows {self.target} already.", ha="center")
            return figure
        ways, bars = figure.subplots(1, 2, width_ratios=(3, 2))
        replies = {name: self.replies(name) for name in MODELS}
        kinds = {name: check(CALCULATOR, some).kind for name, some in replies.items()}
        drawn = zip(kinds[self.model].tolist(), replies[self.model].tokens.tolist(), strict=True)
        for kind, tokens in sorted(drawn, reverse=True):
            shown = _shown(self.start, tokens)
            ways.plot(shown, "-", lw=1.5, alpha=0.7, color=LIGHT[COLORS[kind]])
        ways.plot(self.walk(), "o-", lw=2.2, color=LIGHT["ink"])
        ways.axhline(self.target, color=LIGHT["ink"], lw=1, ls="--")
        ways.set(xlim=(-0.2, LIMIT / 2 + 0.2), ylim=(-1.5, 50.5))
        ways.set(xlabel="presses", ylabel="display", title=f"{self.start} → {self.target}")
        for offset, name, color in ((-0.2, "base", "orange"), (0.2, "trained", "blue")):
            count = np.bincount(kinds[name].numpy(), minlength=len(KINDS))
            bars.barh(np.arange(len(KINDS)) + offset, count, 0.4, color=LIGHT[color], label=name)
        bars.set_yticks(range(len(KINDS)), KINDS)
        bars.invert_yaxis()
        bars.set(xlabel=f"of {self.tries} replies")
        bars.legend()
        return figure


def _shown(start: int, tokens: list[int]) -> list[int]:
    """List what the display shows while a reply's keys are pressed, up to a fault or the end."""
    shown, keys = [start], [*KEYS]
    for place, token in enumerate(tokens):
        key = token - CALCULATOR.size
        if place % 2 and key >= 0:
            break  # a number was due
        if place % 2 == 0:
            display = CALCULATOR.press(shown[-1], keys[key]) if 0 <= key < len(keys) else None
            if display is None:
                break
            shown.append(display)
    return shown
