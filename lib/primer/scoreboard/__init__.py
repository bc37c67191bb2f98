"""Every model of the book on one text, in one unit: bits per character on four held-out plays.

``python -m studies scoreboard.board`` measures what is missing in ``scoreboard.csv``, and
``python -m studies scoreboard.board "7-gram"`` measures this entry again. Each row is written as
soon as it is known: an interrupted run goes on where it stopped. What each scene costs each model
stands in ``scenes.csv``; the rows, their errors and their differences are computed from it.

To add a model, add a line to :data:`primer.scoreboard.entries.ENTRIES`: a name, a function
``(training, held_out) -> Score``, and the file of its weights if it has one. Then run the command.
"""

from primer.scoreboard.errors import Mean, mean_by_scene
from primer.scoreboard.table import (
    Reading,
    Row,
    read_readings,
    read_scenes,
    read_scoreboard,
    sorted_rows,
)

__all__ = [
    "Mean",
    "Reading",
    "Row",
    "mean_by_scene",
    "read_readings",
    "read_scenes",
    "read_scoreboard",
    "sorted_rows",
]
