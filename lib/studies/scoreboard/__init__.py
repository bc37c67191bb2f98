"""Studies of :mod:`primer.scoreboard`."""
