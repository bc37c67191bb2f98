"""Widgets: figures the reader can take hold of, alive with or without Python running."""

from primer.widgets.least_squares import LeastSquaresByHand
from primer.widgets.power import PowerExplorer
from primer.widgets.rope import RopeRotation
from primer.widgets.sampling import SamplingLaboratory
from primer.widgets.spectrogram import SpectrogramExplorer

__all__ = [
    "LeastSquaresByHand",
    "PowerExplorer",
    "RopeRotation",
    "SamplingLaboratory",
    "SpectrogramExplorer",
]
