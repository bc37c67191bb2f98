"""Studies of :mod:`primer.positions`."""
