"""No simulation of the chapter passes by luck of its seed."""

from other_seeds import check_with_other_seeds

CELLS = ["setup", "scale-variance", "scale-saturation", "scale-check"]


def test_every_simulation_holds_with_other_seeds(monkeypatch):
    check_with_other_seeds(monkeypatch, "07-attention", drawing="scale-check", only=CELLS)


def test_the_simulation_on_the_errata_page_holds_with_other_seeds(monkeypatch):
    check_with_other_seeds(
        monkeypatch,
        "errata/07-attention",
        drawing="err-27-check",
        only=["setup", "err-27-check"],
    )
