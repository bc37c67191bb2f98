"""Too many parameters: JavaScript against the library, and its life in a browser."""

from __future__ import annotations

import re

import numpy as np
import pytest
import traitlets
from hypothesis import example, given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import center, settle

from primer import networks
from primer.notebook.figures import png
from primer.widgets import TooManyParameters
from primer.widgets.too_many import CUT, DEGREES, FEATURES, GRID, POINTS, drawn, truth

bases = st.sampled_from(sorted(FEATURES))


@given(bases, st.floats(-1, 1), st.integers(0, 40))
def test_the_features_are_the_librarys(javascript, basis, x, degree):
    values = javascript("too_many.js", "features", basis, x, degree)
    np.testing.assert_allclose(values, FEATURES[basis]([x], degree)[0], atol=1e-10)


@given(
    bases,
    st.integers(0, 2**32 - 1),
    st.integers(0, 200),
    st.sampled_from([0.0, 1e-6, 1e-3, 0.1, 1.0]),
)
@example("polynomials", 0, 19, 0.0)
@example("cosines", 0, 19, 0.0)
def test_the_fit_is_the_librarys(javascript, basis, seed, degree, penalty):
    places, y = drawn()[0], np.random.default_rng(seed).normal(size=POINTS)
    found = javascript("too_many.js", "fit", basis, places, y.tolist(), degree, penalty)
    fit = networks.minimum_norm_fit(FEATURES[basis](places, degree), y, penalty, CUT)
    largest, smallest = fit.singular_values[[0, -1]]
    # two programs agree to as many digits as the features leave them
    digits = 1e-6 + (1e-15 * largest / smallest if penalty == 0 else 0)
    scale = abs(fit.weights).max() + 1e-12
    np.testing.assert_allclose(
        np.array(found["coefficients"]) / scale, fit.weights / scale, atol=digits
    )
    assert found["smallest"] == pytest.approx(smallest, rel=1e-6, abs=1e-14 * largest)


def test_the_truth_and_what_is_measured_are_the_librarys(javascript):
    assert javascript("too_many.js", "truth", 0.3) == pytest.approx(truth(np.array(0.3)))
    widget = TooManyParameters(degree=7)
    assert widget.test_error() == pytest.approx(widget.test_error(7))
    assert len(widget.coefficients(11)) == 12
    assert GRID[[0, -1]].tolist() == [-0.95, 0.95]


def test_what_the_chapter_says_of_it_holds():
    errors = {d: TooManyParameters(degree=d).test_error() for d in (5, 19, 200)}
    assert errors[19] > 1e4 * errors[200] > 1e4 * errors[5]
    smallest = {d: TooManyParameters().smallest(d) for d in DEGREES}
    assert min(smallest, key=lambda d: smallest[d]) == 19
    assert TooManyParameters(penalty=1e-2).test_error() < 0.1
    clean = {basis: TooManyParameters(noise=0.0, basis=basis).test_error() for basis in FEATURES}
    assert clean["polynomials"] < 1e-9 < 1e6 < clean["cosines"]  # noise, or what no cosine can do


def test_a_direction_that_is_nearly_none_gets_no_weight(javascript):
    parts = {"u": [[1, 0], [0, 1]], "v": [[0, 1], [1, 0]], "s": [2.0, 1e-14]}
    assert javascript("too_many.js", "solve", parts, [3.0, 1.0], 0) == [0, 1.5]


def test_the_result_line_says_what_is_seen(javascript):
    state = {"train": 0.0, "test": 12345.6, "smallest": 4.2e-7}
    line = javascript("too_many.js", "describe", 19, 20, state)
    assert line.startswith("20 coefficients, as many as points. Error on the points 0, on new ones")
    assert "1.2·10⁴" in line
    assert "4.2·10⁻⁷" in line
    assert javascript("too_many.js", "describe", 0, 20, state).startswith("1 coefficient, fewer")
    assert "20 coefficients, fewer" not in line
    assert "21 coefficients, more than" in javascript("too_many.js", "describe", 20, 20, state)
    for value, said in ((0.001, "0.0010"), (0.0999, "0.0999"), (0.1, "0.10"), (999.5, "999.50")):
        line = javascript("too_many.js", "describe", 3, 20, state | {"train": value})
        assert f"on the points {said}, on" in line
    line = javascript("too_many.js", "describe", 3, 20, state | {"train": 1000, "test": 9e-4})
    assert "on the points 1.0·10³, on new ones 9.0·10⁻⁴;" in line


@pytest.mark.browser
def test_a_point_stays_in_the_drawing_wherever_it_is_pulled(widget_page):
    page = widget_page(TooManyParameters(degree=3, noise=0.0))
    point = page.get_by_role("button", name="Point 3,")
    for far, height in ((-2000, 2.5), (2000, -2.5)):
        x, y = center(point)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y + far)
        page.mouse.up()
        settle(page)
        assert f"y {height:.2f}".replace("-", "−") in point.get_attribute("aria-label")
        pulled = page.evaluate("model.get('pulls')[2]")
        assert pulled == pytest.approx(height - truth(np.array(drawn()[0][2])))
        edge = page.locator(".points .axis").get_attribute("d")
        _, top, foot, _ = (float(part) for part in re.findall(r"[\d.]+", edge))
        assert float(point.get_attribute("cy")) == (top if height > 0 else foot)


@pytest.mark.parametrize(
    "state",
    [
        {"degree": 201},
        {"degree": 2.5},
        {"noise": float("nan")},
        {"noise": 0.6},
        {"penalty": 0.5},
        {"basis": "splines"},
        {"sample": 0},
        {"pulls": [1.0]},
        {"pulls": [float("inf")] * POINTS},
        {"degrees": 3},
    ],
)
def test_bad_state_is_refused(state):
    with pytest.raises(traitlets.TraitError):
        TooManyParameters(**state)


@pytest.mark.parametrize(
    "widget", [TooManyParameters(), TooManyParameters(degree=0, basis="cosines", penalty=1.0)]
)
def test_there_is_a_picture(widget):
    assert png(widget.picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_it_answers_to_the_keyboard(widget_page, width):
    page = widget_page(TooManyParameters(degree=5), width=width)
    result = page.locator(".result")
    assert "6 coefficients, fewer than points" in result.inner_text()
    page.get_by_label("Degree").press("End")
    settle(page)
    assert "201 coefficients, more than points. Error on the points 0," in result.inner_text()
    page.get_by_label("Ridge λ").press("End")
    settle(page)
    assert "Error on the points 0," not in result.inner_text()
    page.get_by_label("cosines", exact=True).check()
    settle(page)
    assert page.evaluate("model.get('basis')") == "cosines"
    before = result.inner_text()
    point = page.get_by_role("button", name="Point 3,")
    point.focus()
    point.press("PageUp")
    settle(page)
    assert page.evaluate("model.get('pulls')[2]") == pytest.approx(0.5)
    assert result.inner_text() != before
    page.get_by_role("button", name="Put the points back").click()
    settle(page)
    assert not any(page.evaluate("model.get('pulls')"))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0
