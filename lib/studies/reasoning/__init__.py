"""Studies of :mod:`primer.reasoning`."""
