"""No simulation of the chapter passes by luck of its seed."""

from other_seeds import check_with_other_seeds

CELLS = [
    "setup",
    "scale-variance",
    "err-27-check",
    "scale-mean-check",
    "scale-derivative-check",
    "scale-saturation-check",
]


def test_every_simulation_holds_with_other_seeds(monkeypatch):
    check_with_other_seeds(monkeypatch, "07-attention", drawing="scale-variance", only=CELLS)
