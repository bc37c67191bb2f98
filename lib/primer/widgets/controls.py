"""Traits that declare the reader's control beside the value: once, for page, validation and tests.

A widget declares ``step = Number(0.1, low=0.001, high=3.0, scale="decades", label="Step size η")``;
the page makes a slider of it, Python refuses what lies outside, and nobody writes a bound twice.
What a declaration lacks is said when the class is made, by :func:`declared_controls`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import traitlets

from primer.inputs import one_of

SCALES = ("linear", "falling", "decades", "octaves", "shifted")
"""How a slider runs: by the value, downwards, by its log₁₀, its log₂, or log₁₀(1 + value/knee)."""

FORMS = ("fixed", "grouped", "short", "significant")
"""How a value is written: 0.50; 10,000; 0.5; 0.500."""

LOOKS = ("radio", "select", "slider")
MOST_RADIOS = 4


class _Slider:
    """What :class:`Number` and :class:`Whole` have in common."""

    control: dict[str, Any]
    hint: str

    def _declare(
        self,
        *,
        label: str,
        low: float,
        high: float,
        step: float,
        scale: str = "linear",
        form: str = "fixed",
        digits: int = 2,
        unit: str = "",
        named: Mapping[float, str] | None = None,
        none: str | None = None,
        when: tuple[str, Any] | None = None,
        whole: bool = False,
        hint: str = "",
        knee: float = 1.0,
    ) -> None:
        """Keep what the page is to know, and a hint for who leaves the range."""
        self.hint = hint
        self.control = {"kind": "number", "label": label, "low": low, "high": high, "step": step}
        self.control |= {"scale": scale, "form": form, "digits": digits, "unit": unit}
        self.control |= {"named": list(map(list, (named or {}).items())), "whole": whole}
        self.control |= {"none": none, "when": when and list(when), "knee": knee}

    def _within(self, value: float) -> None:
        """Raise traitlets' error when a value lies outside its range, or is NaN."""
        low, high = self.control["low"], self.control["high"]
        if not low <= value <= high:  # a NaN fails this comparison too
            name, hint = getattr(self, "name", "value"), self.hint and f"; {self.hint}"
            allowed = f"{low:,.10g} to {high:,.10g}"
            raise traitlets.TraitError(f"{name} must be {allowed}, got {value!r}{hint}")

    def fault(self) -> str | None:
        """Say what is wrong with the declaration."""
        low, high, step, knee = (self.control[name] for name in ("low", "high", "step", "knee"))
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            return f"has an empty range, {low:g} to {high:g}: give finite ends, low below high"
        if self.control["scale"] not in SCALES:
            return f"has scale {self.control['scale']!r}: give one of {', '.join(SCALES)}"
        if self.control["form"] not in FORMS:
            return f"has form {self.control['form']!r}: give one of {', '.join(FORMS)}"
        if self.control["scale"] in ("decades", "octaves") and low <= 0:
            return f"runs by {self.control['scale']} from {low:g}: a logarithm needs low above 0"
        if not 0 < knee < math.inf:
            return f"has the knee {knee:g}: give a finite number above 0"
        place = {
            "decades": math.log10,
            "octaves": math.log2,
            "shifted": lambda value: math.log10(1 + value / knee),
        }.get(self.control["scale"], float)
        if not 0 < step <= place(high) - place(low):
            return f"has the step {step:g}: give one above 0 and not longer than the range"
        value = getattr(self, "default_value", low)
        if value is None and self.control["none"]:
            return None
        if value is None or not low <= value <= high:
            return f"begins at {value!r}, outside of its range {low:g} to {high:g}"
        return None


class Number(_Slider, traitlets.Float[float, Any]):
    r"""A number between two bounds, with a slider; NaN is refused.

    Parameters
    ----------
    default : float
        The value at first.
    label : str
        What stands before the slider.
    low, high : float
        The bounds, which are allowed.
    step : float
        The step of the slider, in units of its scale: 0.01 of ``"decades"`` is a factor of
        :math:`10^{0.01}`.
    scale : str
        ``"linear"``, ``"falling"``, ``"decades"``, ``"octaves"`` or, from zero on, ``"shifted"``:
        :math:`\log_{10}(1+x/\text{knee})`.  The values of the last three are rounded to three
        digits.
    form, digits, unit
        How the value is written beside the slider, see :data:`FORMS`.
    named : mapping, optional
        Words for some values: ``{1.0: "all"}``.
    hint : str, optional
        What the error adds when a value lies outside.
    knee : float, optional
        Where ``"shifted"`` turns from even steps to even factors; 1 when left out.
    when : (str, value), optional
        Another trait and its value; with any other value this control is switched off.
    """

    def __init__(self, default: float, **declared: Any) -> None:
        declared = {"label": "", "step": 0.01, **declared}
        super().__init__(default)
        self._declare(**declared)
        self.tag(sync=True)

    def validate(self, obj: Any, value: Any) -> float:
        """Return the number, or raise a ``TraitError`` that says what is wrong with it."""
        number = float(super().validate(obj, value))
        self._within(number)
        return number


class Whole(_Slider, traitlets.Int[Any, Any]):
    """A whole number between two bounds, with a slider; parameters as of :class:`Number`.

    With ``none="all"`` None is allowed too: it stands at the end of the slider, by that name.
    """

    def __init__(self, default: int | None, **declared: Any) -> None:
        declared = {"label": "", "step": 1, "digits": 0, **declared}
        nothing: Any = declared.get("none") is not None
        super().__init__(default, allow_none=nothing)
        self._declare(whole=True, **declared)
        self.tag(sync=True)

    def validate(self, obj: Any, value: Any) -> int | None:
        """Return the number, or raise a ``TraitError`` that says what is wrong with it."""
        number = super().validate(obj, value)
        if number is None:
            return None
        self._within(number)
        return int(number)


class Choice(traitlets.Enum[Any]):
    """One of several values: radio buttons up to four, a list from five on.

    Parameters
    ----------
    default
        The value at first.
    options : mapping or collection
        The values, with the words for each; without a mapping a value is its own word.
    label : str
        What stands before the control.
    look : str, optional
        ``"radio"``, ``"select"`` or, for numbers in order, ``"slider"``.
    when
        As of :class:`Number`.
    """

    def __init__(
        self,
        default: Any,
        options: Mapping[Any, str] | Collection[Any],
        *,
        label: str = "",
        look: str | None = None,
        when: tuple[str, Any] | None = None,
    ) -> None:
        listed = (
            options if isinstance(options, Mapping) else {value: str(value) for value in options}
        )
        super().__init__(tuple(listed), default)
        look = look or ("radio" if len(listed) <= MOST_RADIOS else "select")
        self.control: dict[str, Any] = {
            "kind": "choice",
            "label": label,
            "options": list(map(list, listed.items())),
        }
        self.control |= {"look": look, "when": when and list(when)}
        self.tag(sync=True)

    def fault(self) -> str | None:
        """Say what is wrong with the declaration."""
        options = self.control["options"]
        if len(options) < 2:
            return f"offers {len(options)} values: a choice needs two"
        if not all(str(text).strip() for _, text in options):
            return "offers a value without words"
        if self.default_value not in [value for value, _ in options]:
            return f"begins at {self.default_value!r}, which it does not offer"
        if self.control["look"] not in LOOKS:
            return f"has look {self.control['look']!r}: give one of {', '.join(LOOKS)}"
        return None


class Name(traitlets.Unicode[str, Any]):
    """One of the names in another trait, a dictionary: a list to choose from.

    Parameters
    ----------
    default : str
        The name at first.
    among : str
        The trait whose keys are the names.
    label : str
        What stands before the list.
    words : callable, optional
        Makes the words for a name.
    more : mapping, optional
        What the page offers besides, with its words: a sound that the reader brings.
    """

    def __init__(
        self,
        default: str,
        *,
        among: str,
        label: str = "",
        look: str = "select",
        words: Callable[[str], str] = str,
        more: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(default)
        self.words, self.more = words, more or {}
        self.control: dict[str, Any] = {
            "kind": "choice",
            "label": label,
            "among": among,
            "look": look,
            "when": None,
        }
        self.tag(sync=True)

    def validate(self, obj: Any, value: Any) -> str:
        """Return the name, or raise a ``TraitError`` that says which there are."""
        return known(str(self.name), value, getattr(obj, self.control["among"]))

    def offered(self, obj: Any) -> list[list[str]]:
        """List the names and their words, in the order in which a widget has them."""
        names = {name: self.words(name) for name in getattr(obj, self.control["among"])}
        return list(map(list, (names | dict(self.more)).items()))

    def fault(self) -> None:
        """Nothing can be wrong with it but what is wrong with any."""


class Switch(traitlets.Bool[bool, Any]):
    """Yes or no: a check box.

    Parameters
    ----------
    default : bool
        The value at first.
    label : str
        What stands behind the box.
    when
        As of :class:`Number`.
    """

    def __init__(
        self, default: bool, *, label: str = "", when: tuple[str, Any] | None = None
    ) -> None:
        super().__init__(default)
        self.control = {"kind": "switch", "label": label, "when": when and list(when)}
        self.tag(sync=True)

    def fault(self) -> None:
        """Nothing can be wrong with it but what is wrong with any."""


def known(trait: str, name: object, names: Collection[object]) -> str:
    """Return the name proposed for a trait, or raise traitlets' error that says which there are."""
    try:
        return str(one_of(trait, name, names))
    except ValueError as error:
        raise traitlets.TraitError(str(error)) from None


def declared_controls(owner: str, traits: Iterable[tuple[str, Any]]) -> dict[str, dict[str, Any]]:
    """Collect what the traits of a class declare for the page.

    Parameters
    ----------
    owner : str
        The name of the class, for messages.
    traits : iterable of (str, TraitType)
        Its traits, by their names.

    Returns
    -------
    dict
        For each trait with a control what it declares, ready for JSON.

    Raises
    ------
    ValueError
        When a declaration lacks a label, has an empty range, offers nothing to choose, begins
        outside, or depends on a trait that is not there.

    Examples
    --------
    >>> declared_controls("Hill", [("height", Number(2.0, low=5.0, high=5.0, label="Height"))])
    Traceback (most recent call last):
      ...
    ValueError: Hill.height has an empty range, 5 to 5: give finite ends, low below high
    """
    known_traits = dict(traits)
    controls = {name: t.control for name, t in known_traits.items() if hasattr(t, "control")}
    for name, control in controls.items():
        fault = known_traits[name].fault()
        other = control["when"] and control["when"][0]
        if not control["label"].strip():
            fault = 'has no label: write label="…", what stands beside the control on the page'
        elif other and other not in known_traits:
            fault = f"depends on {other!r}, but {owner} has no such trait"
        elif control.get("among", name) not in known_traits:
            fault = f"takes its names from {control['among']!r}, but {owner} has no such trait"
        if fault:
            raise ValueError(f"{owner}.{name} {fault}")
    return controls
