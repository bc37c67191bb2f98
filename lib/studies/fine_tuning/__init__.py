"""Studies of :mod:`primer.fine_tuning`."""
