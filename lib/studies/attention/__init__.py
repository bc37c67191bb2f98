"""Studies of :mod:`primer.attention`."""
