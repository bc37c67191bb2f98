"""Studies of :mod:`primer.scaling`."""
