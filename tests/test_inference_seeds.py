"""No simulation of the chapter passes by luck of its seed."""

from other_seeds import check_with_other_seeds

CELLS = ["setup", "my-lord", "cuts", "top-k-check", "speculative-tiny", "speculative-check"]


def test_every_simulation_holds_with_other_seeds(monkeypatch):
    check_with_other_seeds(monkeypatch, "11-inference", drawing="top-k-check", only=CELLS)
