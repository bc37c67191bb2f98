"""Studies of :mod:`primer.inside`."""
