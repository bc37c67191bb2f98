"""Memory matrix: its writes in the page against primer, its words, its life in a browser."""

from __future__ import annotations

import numpy as np
import pytest
import traitlets
from thorough import WIDTHS
from widget_page import settle

from primer.notebook.figures import png
from primer.widgets.memory_matrix import RULES, VALUES, WIDTH, MemoryMatrix, keys_at

FILE = "memory_matrix.js"


@pytest.mark.parametrize("angle", [20, 37, 60, 90])
def test_keys_have_length_one_and_stand_at_one_angle(javascript, angle):
    keys = keys_at(angle)
    expected = np.full((WIDTH, WIDTH), np.cos(np.radians(angle)))
    np.fill_diagonal(expected, 1)
    np.testing.assert_allclose(keys @ keys.T, expected, atol=1e-12)
    np.testing.assert_allclose(javascript(FILE, "keysAt", angle), keys, atol=1e-12)


@pytest.mark.parametrize(
    ("writes", "angle", "rate"),
    [(0, 90, 1.0), (1, 20, 1.5), (8, 60, 1.0), (11, 75, 0.35), (16, 20, 0.1)],
)
def test_the_page_writes_as_python_does(javascript, writes, angle, rate):
    widget = MemoryMatrix(writes=writes, angle=angle, rate=rate)
    state = {"writes": writes, "angle": angle}
    values = VALUES.tolist()
    np.testing.assert_array_equal(
        np.reshape(javascript(FILE, "newest", values, writes), (-1, WIDTH)), widget.newest()
    )
    for name, own in zip(RULES, (None, rate), strict=True):
        memory = javascript(FILE, "written", values, state, own)
        np.testing.assert_allclose(memory["W"], widget.matrices()[name], atol=1e-12)
        np.testing.assert_allclose(
            javascript(FILE, "errors", memory, values, state), widget.errors()[name], atol=1e-12
        )
        before = MemoryMatrix(writes=max(0, writes - 1), angle=angle, rate=rate).matrices()[name]
        np.testing.assert_allclose(np.add(before, memory["added"]), memory["W"], atol=1e-12)


def test_at_right_angles_both_are_exact_until_keys_get_second_values():
    straight = MemoryMatrix(writes=8, angle=90)
    for found in straight.errors().values():
        np.testing.assert_allclose(found, 0, atol=1e-12)
    np.testing.assert_allclose(straight.matrices()["addition"], straight.newest(), atol=1e-12)
    again = MemoryMatrix(writes=16, angle=90).errors()
    np.testing.assert_allclose(again["addition"], 1, atol=1e-12)
    np.testing.assert_allclose(again["delta rule"], 0, atol=1e-12)


def test_tilted_keys_leave_the_delta_rule_its_newest_pair():
    found = MemoryMatrix(writes=8, angle=60).errors()
    assert found["addition"].min() > 0.8
    assert found["delta rule"][:-1].min() > 0.4
    assert found["delta rule"][-1] == pytest.approx(0, abs=1e-12)


def test_the_result_line_says_what_is_seen(javascript):
    state = {"writes": 0, "angle": 90, "asked": 1}
    assert javascript(FILE, "describe", state, [[], []]).startswith("Nothing is written yet")
    state |= {"writes": 1, "asked": 2}
    assert javascript(FILE, "describe", state, [[0.5], [0.25]]) == (
        "1 pair, keys at 90°. Mean error: addition 0.50, delta rule 0.25. Key 2 has no value yet."
    )
    state |= {"asked": 1}
    assert javascript(FILE, "describe", state, [[0.5], [0.25]]).endswith("Key 1: 0.50 and 0.25.")


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"writes": 17}, "writes must be 0 to 16"),
        ({"angle": 19}, "angle must be 20 to 90"),
        ({"rate": float("nan")}, "rate"),
        ({"asked": 0}, "asked must be 1 to 8"),
    ],
)
def test_values_out_of_range_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        MemoryMatrix(**state)


@pytest.mark.parametrize("writes", [0, 3, 16])
def test_every_state_has_a_still_picture(writes):
    assert png(MemoryMatrix(writes=writes).picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_pairs_are_written_and_keys_tilted(widget_page, width):
    page = widget_page(MemoryMatrix(), width=width, has_touch=True)
    settle(page)
    result, errors = page.locator(".result"), page.locator("svg.errors")
    assert "5 pairs, keys at 75°. Mean error: addition 0.47, delta rule 0.25" in result.inner_text()
    for _ in range(3):
        page.get_by_role("slider", name="Pairs written").press("ArrowRight")
    page.get_by_role("slider", name="Angle of keys").press("Home")
    settle(page)
    assert "8 pairs, keys at 20°. Mean error: addition 2.03, delta rule 1.08" in result.inner_text()
    errors.press("ArrowRight")
    settle(page)
    assert page.evaluate("model.get('asked')") == 2
    box = errors.bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + box["width"] - 20, box["y"] + 60)
    settle(page)
    assert result.inner_text().endswith("Key 8: 1.63 and 0.00.")
    page.get_by_role("slider", name="Pairs written").press("Home")
    settle(page)
    assert "Nothing is written yet" in result.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0
