"""Studies of :mod:`primer.recurrent`."""
