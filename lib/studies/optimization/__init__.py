"""Studies of :mod:`primer.optimization`."""
