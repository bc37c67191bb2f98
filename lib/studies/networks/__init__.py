"""Studies of :mod:`primer.networks`."""
