"""Widgets: figures the reader can take hold of, alive with or without Python running."""

from primer.widgets.rope import RopeRotation

__all__ = ["RopeRotation"]
