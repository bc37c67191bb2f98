"""What functions ask of their input, said once: numbers, arrays, and what hints say of tensors.

Each function but :func:`checked` takes the name its argument has in the caller, so that a
``ValueError`` can name it, and returns the argument ready to compute with.
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
from primer.inputs.functions import evaluated
from primer.inputs.hints import checked
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
    whole,
)

__all__ = [
    "as_array",
    "checked",
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
    "tensor",
    "tokens",
    "unmasked",
    "vector",
    "whole",
]
