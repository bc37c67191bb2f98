"""Studies of :mod:`primer.pretraining`."""
