"""Every widget's still picture shows what it showed when somebody last looked at it."""

from __future__ import annotations

import re

import drawn
import pytest
import still
import torch
from matplotlib.figure import Figure

from primer import widgets


@pytest.mark.parametrize("name", widgets.__all__)
def test_a_still_picture_shows_what_it_showed(name: str) -> None:
    torch.set_num_threads(1)
    kept = still.file_of(name).read_text("utf-8").splitlines()
    found = drawn.differences(still.account(name), kept, still.same)
    assert not found, "\n".join(
        [*found[:12], f"if it is meant: python tests/tools/still.py {name}"]
    )


COUNTS = re.compile(
    "(layer|step( t)?|tosses|presses|token|block|((seen|seeing) )?place( n)?|pairs.*|right.*)$"
)
PROGRAMS = re.compile(r"\d[eE][+-]?\d|(?<![\w–])-\d|\b(nan|inf|None)\b")


@pytest.mark.parametrize("name", widgets.__all__)
def test_a_still_picture_is_written_as_people_write(name: str) -> None:
    figure = getattr(widgets, name)().picture()
    still.lay_out(figure)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [tick for tick in axis.get_ticklocs() if low <= tick <= high]
            if COUNTS.match(axis.get_label_text()) and axis.get_scale() == "linear":
                assert ticks == [round(tick) for tick in ticks], axis.get_label_text()
        said = [piece for piece in still.words(axes) if "mathdefault" not in piece]
        assert [piece for piece in said if PROGRAMS.search(piece)] == []


@pytest.mark.parametrize("name", widgets.__all__)
def test_every_control_is_moved(name: str) -> None:
    kind = getattr(widgets, name)
    for one in still.controls(kind):
        control = getattr(kind, one)
        value = control.default_value
        found = still.elsewhere(control, value)
        assert found != value, f"{name}.{one} stays at {value}"
        if "low" in control.control:
            assert control.control["low"] <= found <= control.control["high"]


def test_there_is_a_still_picture_for_each_widget_and_no_other() -> None:
    assert {path.name for path in still.FOLDER.iterdir()} == {f"{n}.txt" for n in widgets.__all__}


def test_a_panel_says_where_its_marks_lie_and_what_stands_written() -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.set(xlim=(0, 4), ylim=(0, 2), xlabel="time", xticks=[0, 4], yticks=[])
    axes.plot([1, 3], [0, 1], color="#ff0000")
    panel = "panel 0: x 0 … 4, y 0 … 2; 1 line #ff0000: x 1 … 3, y 0 … 1"
    assert still.of_figure(figure) == [panel, "    time | 0 4"]
    assert still.same(panel.replace("3,", "3.01,"), panel)
    assert not still.same(panel.replace("3,", "3.2,"), panel)
    assert not still.same(panel.replace("1 line", "2 line"), panel)
