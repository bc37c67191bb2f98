"""What functions ask of their input, said once: in signatures, which :func:`checked` reads.

The kinds of arguments, ``Positive`` or ``Vector``, stand in :mod:`primer.inputs.kinds`.  What no
signature can say, a function asks itself: each of the other functions takes the name its argument
has in the caller, so that a ``ValueError`` can name it, and returns it ready to compute with.
"""

from primer.inputs.arrays import (
    as_array,
    distribution,
    finite,
    matrix,
    real,
    tensor,
    unmasked,
    vector,
)
from primer.inputs.fields import checked_fields
from primer.inputs.functions import evaluated
from primer.inputs.guard import checked
from primer.inputs.kinds import (
    Count,
    Dim,
    Distribution,
    Fraction,
    Like,
    Many,
    Matrix,
    Natural,
    NotNegative,
    Number,
    Numbers,
    Positive,
    Probability,
    Reals,
    Seed,
    Side,
    Steps,
    StepsOrNone,
    Vector,
    Whole,
    among,
    at_least,
)
from primer.inputs.sizes import room
from primer.inputs.tokens import tokens
from primer.inputs.values import (
    count,
    fraction,
    not_negative,
    number,
    one_of,
    positive,
    probability,
    random_generator,
    truth,
    whole,
)

__all__ = [
    "Count",
    "Dim",
    "Distribution",
    "Fraction",
    "Like",
    "Many",
    "Matrix",
    "Natural",
    "NotNegative",
    "Number",
    "Numbers",
    "Positive",
    "Probability",
    "Reals",
    "Seed",
    "Side",
    "Steps",
    "StepsOrNone",
    "Vector",
    "Whole",
    "among",
    "as_array",
    "at_least",
    "checked",
    "checked_fields",
    "count",
    "distribution",
    "evaluated",
    "finite",
    "fraction",
    "matrix",
    "not_negative",
    "number",
    "one_of",
    "positive",
    "probability",
    "random_generator",
    "real",
    "room",
    "tensor",
    "tokens",
    "truth",
    "unmasked",
    "vector",
    "whole",
]
