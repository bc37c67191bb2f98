"""A schedule over a noise floor: JavaScript against the library, its state, its life in a page."""

from __future__ import annotations

import math

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer import optimization as opt
from primer.notebook.figures import png
from primer.widgets.rate_schedule import CURVATURES, SHAPES, STEPS, RateSchedule

FILE = "rate_schedule.js"
shapes, batches = st.sampled_from(sorted(SHAPES)), st.sampled_from([1, 4, 16, 64])
peaks, firsts = st.floats(0.01, 1.9), st.floats(1, 8)


@given(shapes, peaks, st.integers(0, 100))
def test_the_rates_are_those_of_python(javascript, shape, peak, warm):
    found = javascript(FILE, "rates", shape, peak, warm, STEPS)
    widget = RateSchedule(shape=shape, rate=peak, warm=warm)
    np.testing.assert_allclose(found, widget.rates(), rtol=1e-9, atol=1e-12)


@given(shapes, st.floats(0.01, 0.24), batches, firsts)
def test_what_is_expected_is_the_librarys(javascript, shape, peak, batch, first):
    widget = RateSchedule(shape=shape, rate=peak, batch=batch, first=first)
    steep = javascript(FILE, "steepness", first, STEPS)
    np.testing.assert_allclose(np.outer(steep[:STEPS], CURVATURES), widget.curvatures())
    given_ = (CURVATURES.tolist(), widget.rates().tolist(), steep, 1 / batch)
    found = javascript(FILE, "expected", *given_)
    way, noise = widget.expected()
    np.testing.assert_allclose(found["way"], way.ravel(), rtol=1e-8, atol=1e-15)
    np.testing.assert_allclose(found["noise"], noise.ravel(), rtol=1e-8, atol=1e-15)
    np.testing.assert_allclose(found["loss"], (way + noise).sum(axis=1), rtol=1e-8)


@given(peaks, batches)
def test_the_floor_is_the_librarys(javascript, peak, batch):
    found = javascript(FILE, "floorOf", CURVATURES.tolist(), peak, 1 / batch)
    assert found == pytest.approx(opt.loss_floor(CURVATURES, peak, 1 / batch), rel=1e-9)


@given(st.floats(1e-9, 1e6))
def test_an_axis_ends_at_a_round_number_a_little_above_what_it_shows(javascript, largest):
    end = javascript("axis_end.js", "axisEnd", largest)
    assert 0.57 < largest / end <= 0.96
    assert len(f"{end:.10g}".replace(".", "").strip("0").partition("e")[0]) <= 2


def test_one_run_scatters_about_what_is_expected(javascript):
    rng = np.random.default_rng(0)
    widget = RateSchedule(shape="cosine", batch=1, first=2.0)
    steep = javascript(FILE, "steepness", 2.0, STEPS)
    runs = [
        javascript(
            *(FILE, "run", CURVATURES.tolist(), widget.rates().tolist(), steep, 1.0),
            rng.normal(size=STEPS * len(CURVATURES)).tolist(),
        )
        for _ in range(60)
    ]
    at = np.array(runs)[:, [0, 20, 200, 400]]
    expected = sum(part.sum(axis=1) for part in widget.expected())[[0, 20, 200, 400]]
    error = at.std(axis=0) / math.sqrt(len(at))
    assert (abs(at.mean(axis=0) - expected) <= 5 * error + 1e-12).all()


def test_the_result_line_says_what_is_left(javascript):
    state = {"shape": "WSD", "rate": 0.09, "batch": 1, "step": 0}
    found = {"noise": [0.02, 0.0], "loss": [0.08]}
    assert javascript(FILE, "describe", state, found, [0.1], 0.1234) == (
        "WSD from 0.09: the peak’s floor is 0.123. Expected after 0 steps: 0.080 (25% noise); this "
        "run: 0.100."
    )
    state |= {"shape": "constant", "batch": 4}
    said = javascript(FILE, "describe", state, found | {"loss": [1e9]}, [1e9], 0.1)
    assert said == (
        "Constant rate 0.09 in batches of 4: its floor is 0.100. Expected after 0 steps: more than "
        "10,000; this run: more than 10,000."
    )


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"rate": 2.0}, "rate must be 0.01 to 1.9, got 2.0"),
        ({"rate": math.nan}, "rate must be"),
        ({"warm": 101}, "warm must be 0 to 100"),
        ({"batch": 2}, "batch"),
        ({"first": 0.5}, "first must be 1 to 8"),
        ({"step": 401}, "step must be 0 to 400"),
        ({"shape": "linear"}, "shape"),
    ],
)
def test_values_out_of_range_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        RateSchedule(**state)


def test_the_still_picture_shows_the_losses_and_their_parts():
    widget = RateSchedule(shape="WSD", rate=0.2, step=300)
    left, course, parts = widget.picture().axes
    way, noise = widget.expected()
    np.testing.assert_allclose(left.lines[0].get_ydata(), widget.run()[:301])
    np.testing.assert_allclose(left.lines[1].get_ydata(), (way + noise).sum(axis=1))
    np.testing.assert_allclose(course.lines[0].get_ydata(), widget.rates())
    heights = [[bar.get_height() for bar in row] for row in parts.containers]
    np.testing.assert_allclose(heights, [noise[300], way[300]], atol=1e-15)


def test_it_has_a_picture():
    assert png(RateSchedule(rate=1.9, first=8.0).picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_the_schedule_is_set_and_the_step_moved(widget_page, width):
    widget = RateSchedule()
    page = widget_page(widget, width=width, has_touch=True)
    result = page.locator(".result")
    written = f"its floor is {widget.floor():.3f}"
    assert written in result.inner_text()
    assert f"this run: {widget.run()[-1]:.3f}" in result.inner_text()
    page.get_by_label("WSD").tap()
    settle(page)
    assert "WSD from 0.3 in batches of 16" in result.inner_text()
    page.get_by_role("slider", name="Look at step").press("ArrowLeft")
    settle(page)
    assert "after 399 steps" in result.inner_text()
    box = page.locator("svg.losses").bounding_box()
    assert box
    page.mouse.click(box["x"] + 46 + (box["width"] - 60) / 2, box["y"] + 60)
    settle(page)
    assert page.evaluate("model.get('step')") == pytest.approx(200, abs=2)
    page.get_by_role("slider", name="Peak rate").press("End")
    page.get_by_role("slider", name="Steeper at first").press("End")
    settle(page)
    assert "more than 10,000" in result.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_the_bars_stack_to_the_expected_loss(widget_page):
    widget = RateSchedule(shape="cosine", step=100)
    page = widget_page(widget)
    for name in ("noise", "way"):
        assert page.locator(f"path.{name}").get_attribute("d").count("M") == len(CURVATURES)


@pytest.mark.browser
def test_a_run_is_played_to_its_end(widget_page):
    page = widget_page(RateSchedule(), clock=True)
    page.get_by_role("button", name="Run").first.click()
    page.clock.run_for(1000)
    assert 50 < page.evaluate("model.get('step')") < 150
    page.clock.run_for(4000)
    assert page.evaluate("model.get('step')") == STEPS
