"""A sliding kernel: its sums against NumPy and the library, its state, its life in a page."""

from __future__ import annotations

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer.notebook.figures import png
from primer.widgets.sliding_kernel import BORDERS, KERNELS, LENGTH, SIGNALS, SlidingKernel

MATH = "sliding.js"

states = st.builds(
    dict,
    signal=st.sampled_from([*SIGNALS]),
    kernel=st.sampled_from([*KERNELS]),
    border=st.sampled_from(BORDERS),
    flip=st.booleans(),
)
numbers = st.floats(-1, 1)


@given(states)
def test_the_output_is_numpys(state):
    widget = SlidingKernel(**state)
    x, h = np.array(SIGNALS[state["signal"]]), np.array(KERNELS[state["kernel"]])
    g = h if state["flip"] else h[::-1]
    if state["border"] == "circular":
        expected = np.fft.ifft(np.fft.fft(x) * np.fft.fft(g, LENGTH)).real
    else:
        expected = np.convolve(x, g, state["border"])
    np.testing.assert_allclose(widget.output(), expected, atol=1e-12)
    if not state["flip"] and state["border"] != "circular":
        correlated = np.correlate(x, h, "full")
        first, last = widget.places()
        np.testing.assert_allclose(widget.output(), correlated[first : last + 1], atol=1e-12)


@given(states)
def test_the_page_slides_as_the_library_does(javascript, state):
    widget = SlidingKernel(**state)
    own = javascript(MATH, "taps", KERNELS[state["kernel"]], state["flip"])
    assert own == widget.taps().tolist()
    first, last = javascript(MATH, "places", len(own), state["border"])
    assert (first, last) == widget.places()
    x = SIGNALS[state["signal"]]
    found = [javascript(MATH, "total", x, own, n, state["border"]) for n in range(first, last + 1)]
    np.testing.assert_allclose(found, widget.output(), atol=1e-12)


@given(
    st.lists(numbers, min_size=LENGTH, max_size=LENGTH),
    st.lists(numbers, min_size=1, max_size=5),
)
def test_any_signal_and_kernel_are_convolved(javascript, x, h):
    found = [javascript(MATH, "total", x, h, n, "full") for n in range(LENGTH + len(h) - 1)]
    np.testing.assert_allclose(found, np.convolve(x, h), atol=1e-12)


@pytest.mark.parametrize(
    ("own", "place", "border", "said"),
    [
        ([1, 0, 0.5, 0, 0.25], 8, "full", "Place 8: 1 · 0 + 0.5 · 1 + 0.25 · 0 = 0.5."),
        ([1, -1], 7, "full", "Place 7: 1 · 0 + (−1) · 1 = −1."),
        ([1, 0, 0.5, 0, 0.25], 0, "circular", "0.5 · 1 + 0.25 · 0 = 0.5. What ran over the left"),
        ([0.25, 0.5, 0.25], 7, "circular", "Place 7: 0.25 · 0 + 0.5 · 1 + 0.25 · 0 = 0.5."),
    ],
)
def test_the_result_line_writes_the_sum_out(javascript, own, place, border, said):
    assert said in javascript(MATH, "describe", SIGNALS["clap"], own, place, border)


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"place": 12}, "place must be 0 to 11"),
        ({"place": -1}, "place must be 0 to 11"),
        ({"border": "valid"}, "border"),
        ({"kernel": "box"}, "kernel"),
        ({"signal": "drum"}, "signal"),
    ],
)
def test_values_out_of_range_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        SlidingKernel(**state)


def test_the_still_picture_shows_the_sums_so_far():
    widget = SlidingKernel(border="circular", place=3)
    top, products, sums = widget.picture().axes
    np.testing.assert_allclose(sums.lines[0].get_ydata(), widget.output()[:4], atol=1e-12)
    np.testing.assert_allclose(products.lines[0].get_ydata().sum(), widget.output()[3], atol=1e-12)
    assert sorted(top.lines[1].get_xdata() - 0.25) == [0, 1, 2, 3, 7]
    assert png(SlidingKernel().picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_the_kernel_is_moved_by_keys_and_mouse(widget_page, width):
    page = widget_page(SlidingKernel(), width=width, has_touch=True)
    result, grip = page.locator(".result"), page.locator(".grip")
    slider = page.get_by_role("slider", name="Place of the kernel")
    assert "Place 8: 1 · 0 + 0.5 · 1" in result.inner_text()
    grip.press("ArrowRight")
    slider.press("ArrowRight")
    settle(page)
    assert page.evaluate("model.get('place')") == 10
    slider.press("End")
    settle(page)
    assert page.evaluate("model.get('place')") == 11
    page.get_by_label("circular").tap()
    settle(page)
    assert "Place 7" in result.inner_text()
    assert slider.get_attribute("max") == "7"
    slider.press("Home")
    settle(page)
    assert "Place 0" in result.inner_text()
    assert "comes in at the right" in result.inner_text()
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    page.mouse.move(box["x"] + 16, box["y"] + 16)
    page.mouse.down()
    page.mouse.move(box["x"] + 900, box["y"], steps=4)
    page.mouse.up()
    settle(page)
    assert page.evaluate("model.get('place')") == 7
    page.get_by_label("same").tap()
    settle(page)
    assert (slider.get_attribute("min"), slider.get_attribute("max")) == ("2", "9")
    page.get_by_label("Flip the kernel").tap()
    settle(page)
    assert "Place 7: 0.25 · 0 + 0.5 · 0 + 1 · 0 = 0." in result.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_it_slides_to_the_last_place(widget_page):
    page = widget_page(SlidingKernel(place=10))
    page.get_by_role("button", name="Slide").click()
    page.wait_for_function("model.get('place') === 11")
    page.get_by_role("button", name="▶ Slide").click()
    page.wait_for_function("model.get('place') === 0")
    page.get_by_label("a blur").click()  # what is chosen stops it
    page.get_by_role("button", name="▶ Slide").wait_for()
