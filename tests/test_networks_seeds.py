"""No simulation of the chapter passes by luck of its seed."""

from other_seeds import check_with_other_seeds

DRAWING = ("convolution-variance-check", "dropout-check", "graphs-check")


def test_every_simulation_holds_with_other_seeds(monkeypatch):
    check_with_other_seeds(monkeypatch, "04-networks", drawing=DRAWING[0], only={"setup", *DRAWING})
