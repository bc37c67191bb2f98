"""Layer by layer: JavaScript against Python and torch, the limit of wide layers, a browser."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer.notebook.figures import png
from primer.widgets.layer_by_layer import DEPTH, EXAMPLES, WIDTH, LayerByLayer, drawn

FILE = "layer_by_layer.js"
states = st.fixed_dictionaries(
    {
        "kink": st.sampled_from(["relu", "tanh", "none"]),
        "gain": st.floats(0.1, 10.0),
        "residual": st.booleans(),
        "seed": st.integers(1, 4),
    }
)


@settings(max_examples=8)
@given(states)
def test_what_goes_up_and_comes_back_is_pythons_and_torchs(javascript, state):
    widget = LayerByLayer(**state)
    run = widget.run()
    numbers = javascript(FILE, "draw", state["seed"], LayerByLayer.constants)
    np.testing.assert_allclose(
        numbers["inputs"], drawn(state["seed"])[:EXAMPLES].ravel(), atol=1e-12
    )
    kink = {"relu": torch.relu, "tanh": torch.tanh, "none": lambda z: z}[state["kink"]]
    h = torch.tensor(run.signals[0], requires_grad=True)
    kept = [h]
    for W in np.split(drawn(state["seed"])[2 * EXAMPLES :], DEPTH):
        z = kept[-1] @ torch.tensor(W) * (state["gain"] / WIDTH) ** 0.5
        h = kept[-1] + kink(z) / DEPTH**0.5 if state["residual"] else kink(z)
        h.retain_grad()
        kept.append(h)
    kept[-1].backward(torch.tensor(run.gradients[-1]))
    for ours, theirs, gradient in zip(run.signals, kept, run.gradients, strict=True):
        for mine, expected in (ours, theirs.detach().numpy()), (gradient, theirs.grad.numpy()):
            atol = 1e-9 * abs(expected).max()  # what is saturated and steep magnifies rounding
            np.testing.assert_allclose(mine, expected, rtol=1e-6, atol=atol)


@settings(max_examples=8)
@given(states)
def test_the_pages_spreads_are_pythons(javascript, state):
    widget = LayerByLayer(**state)
    found = javascript(FILE, "spreadsOf", state["seed"], state, LayerByLayer.constants)
    for name, expected in zip(("signals", "gradients"), widget.spreads(), strict=True):
        np.testing.assert_allclose(found[name], expected, rtol=1e-6)
    wide = javascript(FILE, "expected", state, DEPTH)
    for name, squares in zip(("signals", "gradients"), widget.expected(), strict=True):
        np.testing.assert_allclose(wide[name], np.sqrt(squares), rtol=1e-9)


@given(st.floats(0.1, 10.0))
def test_in_wide_layers_a_relu_keeps_half_and_no_kink_all(gain):
    powers = np.arange(DEPTH + 1)
    for kink, factor in (("relu", gain / 2), ("none", gain)):
        wide = LayerByLayer(kink=kink, gain=gain).expected()
        np.testing.assert_allclose(wide.signals, factor**powers, rtol=1e-6)
        np.testing.assert_allclose(wide.gradients, factor ** powers[::-1], rtol=1e-6)


def test_what_the_chapter_says_of_it_holds():
    at_one, at_two = (LayerByLayer(gain=g).spreads() for g in (1.0, 2.0))
    assert max(at_one[0][-1], at_one[1][0]) < 2e-3
    assert all(0.2 < value < 5 for part in at_two for value in part)
    saturated = LayerByLayer(kink="tanh", gain=4.0).spreads()
    assert saturated[0][-1] < 1
    assert saturated[1][0] > 10


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=50))
def test_a_histogram_counts_everything(javascript, numbers):
    shares = javascript(FILE, "histogram", numbers, 3, 31)
    edges = np.linspace(-3, 3, 32)
    expected = np.histogram(np.clip(numbers, -3, 3 - 1e-12), edges)[0] / len(numbers)
    assert sum(shares) == pytest.approx(1)
    assert np.abs(np.cumsum(shares) - np.cumsum(expected)).max() < 1.01 / len(numbers)


def test_the_result_line_says_what_is_left(javascript):
    state = {"gain": 2.0, "residual": False}
    assert javascript(FILE, "describe", state, [1, 0.42], [0.56, 1]) == (
        "Variance 2/n: twenty layers make the signal 0.42 times as large, and on the way back the "
        "gradient 0.56 times."
    )
    state = {"gain": 0.5, "residual": True}
    said = javascript(FILE, "describe", state, [1, 130], [4e-4, 1])
    assert said.startswith(
        "Variance 0.5/n, each layer divided by √20 and added: twenty layers make the signal 130 "
    )
    assert said.endswith("the gradient 4·10⁻⁴ times.")
    assert [javascript(FILE, "factor", x) for x in (0, 34.2, 2e7)] == ["0", "34", "2·10⁷"]


@pytest.mark.parametrize(
    "state", [{"gain": 0.05}, {"gain": float("nan")}, {"kink": "sigmoid"}, {"seed": 5}]
)
def test_bad_state_is_refused(state):
    with pytest.raises(traitlets.TraitError):
        LayerByLayer(**state)


@pytest.mark.parametrize("residual", [False, True])
def test_there_is_a_picture(residual):
    assert png(LayerByLayer(residual=residual).picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_it_answers_to_keys_and_a_finger(widget_page, width):
    page = widget_page(LayerByLayer(), width=width, has_touch=True)
    result = page.locator(".result")
    assert result.inner_text().startswith("Variance 1/n: twenty layers make the signal 4·10⁻⁴")
    page.get_by_role("button", name="He").tap()
    settle(page)
    assert "the signal 0.42 times" in result.inner_text()
    page.get_by_role("slider", name="variance").press("End")
    settle(page)
    assert page.evaluate("model.get('gain')") == 10
    page.get_by_label("each layer adds").tap()
    settle(page)
    assert "each layer divided by √20 and added" in result.inner_text()
    assert page.locator("path.limit[visibility=hidden]").count() == 1
    page.get_by_label("tanh").tap()
    page.get_by_role("slider", name="Seed").press("End")
    settle(page)
    assert page.evaluate("[model.get('kink'), model.get('seed')]") == ["tanh", 4]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0
