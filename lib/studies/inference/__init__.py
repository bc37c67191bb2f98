"""Studies of :mod:`primer.inference`."""
