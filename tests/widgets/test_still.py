"""Every widget's still picture shows what it showed when somebody last looked at it."""

from __future__ import annotations

import json

import drawn
import pytest
import still
import torch
from matplotlib.figure import Figure

from primer import widgets


@pytest.mark.parametrize("name", widgets.__all__)
def test_a_still_picture_shows_what_it_showed(name: str) -> None:
    torch.set_num_threads(1)
    kept = json.loads(still.file_of(name).read_text("utf-8"))
    now = still.states(name)
    assert now.pop("controls") == kept.pop("controls")
    found = drawn.differences(now, kept)
    assert not found, "\n".join(
        [*found[:12], f"if it is meant: python tests/tools/still.py {name}"]
    )


def test_there_is_a_still_picture_for_each_widget_and_no_other() -> None:
    assert {path.stem for path in still.FOLDER.glob("*.json")} == set(widgets.__all__)


def test_marks_are_described_in_parts_of_their_panel() -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.set(xlim=(0, 4), ylim=(0, 2), xlabel="time")
    axes.plot([1, 3], [0, 1], color="#ff0000")
    found = still.of_figure(figure)
    assert found["panel 0: line #ff0000 - None x"] == [2, 100.0, 300.0, 200.0, 0.5]
    assert found["panel 0: line #ff0000 - None y"] == [2, 0.0, 200.0, 100.0, 0.5]
    assert found["panel 0: axes"] == "time | "
