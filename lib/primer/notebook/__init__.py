"""What the cells of a chapter use: to check, to measure, to draw and to quote the library."""

from typing import TYPE_CHECKING, Any

from primer.notebook.exercises import Mistake, exercise
from primer.notebook.page_answers import ChoiceExercise, NumberExercise
from primer.notebook.predictions import answer_to
from primer.notebook.simulate import (
    Estimate,
    generator,
    monte_carlo,
    monte_carlo_variance,
    verify_simulated,
)
from primer.notebook.source import show_source
from primer.notebook.variants import varied
from primer.notebook.verify import (
    measured,
    verify,
    verify_between,
    verify_raises,
    verify_that,
)

if TYPE_CHECKING:
    from primer.notebook.figures import show, use_book_style

__all__ = [
    "ChoiceExercise",
    "Estimate",
    "Mistake",
    "NumberExercise",
    "answer_to",
    "exercise",
    "generator",
    "measured",
    "monte_carlo",
    "monte_carlo_variance",
    "show",
    "show_source",
    "use_book_style",
    "varied",
    "verify",
    "verify_between",
    "verify_raises",
    "verify_simulated",
    "verify_that",
]


def __getattr__(name: str) -> Any:
    """Load what draws when it is asked for: matplotlib takes its time, and few checks need it."""
    if name in {"show", "use_book_style"}:
        from primer.notebook import figures

        return getattr(figures, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
