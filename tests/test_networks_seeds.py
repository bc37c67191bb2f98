"""No check of the chapter passes by luck of its seed."""

from other_seeds import check_with_other_seeds


def test_every_check_holds_with_other_seeds(monkeypatch):
    check_with_other_seeds(monkeypatch, "04-networks", drawing="convolution-variance-check")
