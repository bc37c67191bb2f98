"""What the cells of a chapter use: to check, to measure, to draw and to quote the library."""

from primer.notebook.exercises import Mistake, exercise
from primer.notebook.figures import show, use_book_style
from primer.notebook.source import show_source
from primer.notebook.verify import (
    measured,
    verify,
    verify_between,
    verify_raises,
    verify_that,
)

__all__ = [
    "Mistake",
    "exercise",
    "measured",
    "show",
    "show_source",
    "use_book_style",
    "verify",
    "verify_between",
    "verify_raises",
    "verify_that",
]
