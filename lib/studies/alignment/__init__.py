"""Studies of :mod:`primer.alignment`."""
