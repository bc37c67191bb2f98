"""Widgets: figures the reader can take hold of, alive with or without Python running."""

from primer.widgets.least_squares import LeastSquaresByHand
from primer.widgets.rope import RopeRotation
from primer.widgets.spectrogram import SpectrogramExplorer

__all__ = ["LeastSquaresByHand", "RopeRotation", "SpectrogramExplorer"]
