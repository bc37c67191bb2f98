"""A trait of so many numbers between two bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import traitlets


class Numbers(traitlets.List):  # type: ignore[type-arg]
    """So many numbers between two bounds."""

    def __init__(self, default: list[float], *, low: float, high: float) -> None:
        super().__init__(default_value=default)
        self.bounds, self.count = (low, high), len(default)
        self.tag(sync=True)

    def validate(self, obj: Any, value: Any) -> list[float]:
        """Return the numbers as a list, or say what is wrong with them."""
        try:
            found = np.asarray(value, dtype=float)
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(f"{self.name} must hold numbers: {error}") from None
        low, high = self.bounds
        if found.shape != (self.count,) or not ((found >= low) & (found <= high)).all():
            raise traitlets.TraitError(
                f"{self.name} must hold {self.count} numbers from {low:g} to {high:g}, "
                f"got shape {found.shape} with {found.ravel()[:4].tolist()} …"
            )
        return [float(x) for x in found]
