"""Studies of :mod:`primer.train`."""
