"""A number in each spelling of a person who is right: made from what an exercise declares."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction

from primer.notebook import NumberExercise

DIGITS = {"one": 1, "two": 2, "three": 3, "four": 4}
GROUPS = [",", " ", "\u00a0", "\u2009", "\u202f", "'", "’", "_"]
MINUS = ["-", "−", "–", "‐"]
UP = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
VULGAR = {(1, 2): "½", (1, 3): "⅓", (2, 3): "⅔", (1, 4): "¼", (3, 4): "¾", (2, 5): "⅖", (3, 5): "⅗"}
PER_CENT = [" %", "%", " percent", " per cent"]


def asked(exercise: NumberExercise) -> str:
    """Return the right answer with the digits that the exercise asks for, or those that it needs.

    Examples
    --------
    >>> from primer.exercises.fine_tuning import check_bits, check_count
    >>> asked(check_count), asked(check_bits)
    ('58560', '3.258')
    """
    if "whole number" in exercise.expects or float(exercise.right).is_integer():
        return str(round(exercise.right))
    said = re.search(r"\b(one|two|three|four) decimals?\b", exercise.expects)
    if said:
        return f"{exercise.right:.{DIGITS[said[1]]}f}"
    needed = next(
        n for n in range(9) if abs(round(exercise.right, n) - exercise.right) <= exercise.within
    )
    return f"{exercise.right:.{max(needed, 1)}f}"


def grouped(text: str, mark: str) -> str:
    """Write a mark between thousands."""
    whole, point, rest = text.partition(".")
    return f"{int(whole):,}".replace(",", mark) + point + rest


def bare(exercise: NumberExercise) -> Iterator[str]:
    """Yield spellings without a unit and without a sign."""
    text = asked(exercise).lstrip("-")
    yield from (
        text,
        f" {text} ",
        f"= {text}",
        f"≈ {text}",
        f"({text})",
        f"{text}*1",
        f"1*({text})",
    )
    mantissa, exponent = f"{float(text):.9e}".split("e")
    digits, power = f"{float(mantissa):.9g}", int(exponent)
    yield f"{digits}e{power}"
    for times in ("·", "×", "*", " x "):
        yield f"{digits}{times}10^{power}"
        yield f"{digits} {times} 10**{power}"
    yield f"{digits} × 10{str(power).translate(UP)}"
    if float(text) >= 1000:
        yield from (grouped(text, mark) for mark in GROUPS)
    if "." in text:
        yield f"{text}0"
        if text.startswith("0."):
            yield text[1:]
    else:
        yield from (f"{text}.", f"{text}.0")
    whole = round(float(text)) if float(text).is_integer() else 0
    for base in range(2, 100):
        height = round(math.log(whole, base)) if whole > 1 else 0
        if height > 1 and base**height == whole:
            yield from (f"{base}^{height}", f"{base}**{height}", f"{base} ^ {height}")
            yield f"{base}{str(height).translate(UP)}"
    factor = next((n for n in range(2, 100) if whole and whole % n == 0 and whole > n), 0)
    if factor:
        yield from (f"{factor}{times}{whole // factor}" for times in ("*", "·", "×", " x ", "⋅"))
    near = Fraction(abs(exercise.right)).limit_denominator(60)
    if near.denominator > 1 and abs(float(near) - abs(exercise.right)) <= exercise.within:
        top, bottom = near.numerator, near.denominator
        yield from (f"{top}/{bottom}", f"{top} / {bottom}", f"{top}÷{bottom}", f"{top}⁄{bottom}")
        ones, part = divmod(top, bottom)
        vulgar = VULGAR.get((part, bottom))
        if vulgar:
            yield from (f"{ones or ''}{vulgar}", f"{ones} {vulgar}" if ones else vulgar)
        if ones:
            yield f"{ones} {part}/{bottom}"


def with_unit(exercise: NumberExercise) -> Iterator[str]:
    """Yield the answer with the unit that was asked for."""
    text, expects = asked(exercise), exercise.expects
    said = re.search(r"\bnumber of (\w+(?: \w+)?)", expects)
    if said:
        many = said[1].removesuffix(" to")
        yield from (f"{text} {many}", f"{text} {many.removesuffix('s')}", f"{text}{many}")
    if re.search(r"\b(share|chance|probability|weight, a number)\b", expects):
        value = round(100 * float(exercise.right), 1)
        yield from (f"{value:g}{unit}" for unit in PER_CENT)
    if "percentage" in expects:
        yield from (f"{text}{unit}" for unit in PER_CENT)
    if "hertz" in expects:
        yield from (f"{text} Hz", f"{text}Hz", f"{text} hertz", f"{float(text) / 1000:g} kHz")
    if re.search(r"\b(factor|ratio)\b", expects):
        yield from (f"{text}×", f"{text} x", f"{text} times", f"{text}-fold")
    for word in ("bits", "nats"):
        if re.search(rf"\b{word}\b", expects):
            yield f"{text} {word}"


def spellings(exercise: NumberExercise) -> list[str]:
    """Return every way to type the right answer, on the page.

    Examples
    --------
    >>> from primer.exercises.language_models import check_per_word
    >>> {"512", "2^9", "2⁹", "8**3", "2*256"} <= set(spellings(check_per_word))
    True
    """
    positive = bare(exercise)
    signed = [f"{minus}{text}" for text in positive for minus in MINUS if text[0] not in " =≈"]
    alone = signed if exercise.right < 0 else bare(exercise)
    return list(dict.fromkeys([*alone, *with_unit(exercise)]))


def in_python(exercise: NumberExercise) -> list[str]:
    """Return every way to write the right answer in a cell."""
    text = asked(exercise)
    sign, size = ("-", text[1:]) if text.startswith("-") else ("", text)
    found = [text, f"float({text})", f"np.float32({text})", f"torch.tensor({text})"]
    found += [f"Fraction('{text}')", f"Decimal('{text}')", f"np.array({text})", f"{float(text)!r}"]
    if float(size) >= 1000:
        found.append(sign + grouped(size, "_"))
    for one in bare(exercise):
        plain = one.replace("^", "**")
        if re.fullmatch(r"[\d.]+( ?[*/] ?[\d.]+|\*\*\d+)", plain):
            found.append(f"{sign}{plain}")
    return found


def with_decimal_comma(exercise: NumberExercise) -> list[str]:
    """Return the answer with a comma where the book has a point."""
    text = asked(exercise)
    return [text.replace(".", ",")] if "." in text else []
