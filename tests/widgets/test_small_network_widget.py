"""A network that learns in the page: JavaScript against the library, and its life in a browser."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer import networks
from primer.networks import Variable
from primer.notebook.figures import png
from primer.widgets import SmallNetwork
from primer.widgets.small_network import DATA, KINKS, SCALES, normals, points

settings_of_a_net = {
    "data": st.sampled_from(sorted(DATA)),
    "depth": st.integers(1, 6),
    "width": st.integers(1, 8),
    "activation": st.sampled_from(sorted(KINKS)),
    "start": st.sampled_from(["he", "small", "alike", "zero"]),
    "rate": st.sampled_from([0.03, 0.3, 1.0]),
    "seed": st.integers(1, 4),
}


def trained(javascript, widget, steps):
    places, labels = points(widget.data)
    drawn, scale = normals(widget.seed), SCALES[widget.start]
    shape = [widget.depth, widget.width, widget.start, scale]
    rest = [places, labels, widget.activation, widget.rate, steps]
    return javascript("small_network.js", "train", drawn, *shape, *rest)


@given(**settings_of_a_net)
def test_the_first_steps_are_the_librarys(javascript, **state):
    widget = SmallNetwork(**state)
    try:
        with np.errstate(over="ignore"):
            expected = widget.progress(6)
    except ValueError:  # the numbers have left the machine's range
        reject()
    assume(max(expected.losses) < 1e6)  # beyond it the widget has stopped
    found = trained(javascript, widget, 6)
    np.testing.assert_allclose(found["losses"], expected.losses, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found["norms"], expected.norms, rtol=1e-6, atol=1e-6)
    for weights, layer in zip(found["weights"], expected.layers, strict=True):
        np.testing.assert_allclose(weights, layer.weights.ravel(), rtol=1e-6, atol=1e-6)


def test_the_first_step_is_the_tapes_and_torchs(javascript):
    widget = SmallNetwork(activation="tanh", depth=2, rate=0.5)
    X, y = map(np.array, points("circle"))
    layers = widget.initial()
    tape = [Variable(p) for layer in layers for p in layer]
    graph = [torch.tensor(p, requires_grad=True) for layer in layers for p in layer]

    def scores(x, parameters, bend):
        h = x
        for W, b in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
            h = bend(h @ W + b)
        return h @ parameters[-2] + parameters[-1]

    s = scores(X, tape, lambda z: z.tanh())
    both = s @ np.array([[0.0, 1.0]])  # softmax over (0, s) is the sigmoid of s
    networks.cross_entropy(both, y).backward()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(
        scores(torch.tensor(X), graph, torch.tanh).ravel(), torch.tensor(y, dtype=torch.float64)
    )
    loss.backward()
    found = trained(javascript, widget, 1)
    assert found["losses"][0] == pytest.approx(loss.item(), abs=1e-9)
    for k, weights in enumerate(found["weights"]):
        for parameter, gradient in (
            (tape[2 * k].value, tape[2 * k].gradient),
            (graph[2 * k].detach().numpy(), graph[2 * k].grad.numpy()),
        ):
            np.testing.assert_allclose(weights, (parameter - 0.5 * gradient).ravel(), atol=1e-9)


@pytest.mark.usefixtures("as_readers_run_it")  # a check of shapes at each step takes long
def test_what_the_chapter_says_of_it_holds(javascript):
    opening = SmallNetwork().progress(0)
    assert opening.norms[-1] / opening.norms[0] == pytest.approx(6294, rel=0.01)
    assert SmallNetwork().progress(500).losses[-1] == pytest.approx(np.log(2), abs=1e-3)
    assert SmallNetwork(activation="tanh").progress(500).losses[-1] < 0.01
    assert SmallNetwork(start="large").progress(500).losses[-1] < 0.02
    assert SmallNetwork(depth=1).progress(500).losses[-1] < 0.6
    for activation in ("relu", "tanh"):
        still = SmallNetwork(activation=activation, start="zero").progress(200)
        assert still.losses[-1] == pytest.approx(np.log(2))
        assert still.norms[:-1] == [0.0] * 5
    alike = SmallNetwork(activation="tanh", start="alike", depth=2).progress(200).layers
    for layer in alike[:-1]:
        assert np.ptp(layer.weights, axis=1).max() < 1e-12  # the units of a layer stay one
    assert trained(javascript, SmallNetwork(activation="relu", rate=10.0), 60)["dead"] > 0
    assert trained(javascript, SmallNetwork(activation="leaky", rate=10.0), 60)["dead"] == 0


def test_points_are_two_classes_inside_the_drawing():
    for name in DATA:
        places, labels = points(name)
        assert np.abs(places).max() < 1.2
        assert sum(labels) == 60


def test_the_result_line_says_what_is_seen(javascript):
    now = {"loss": 0.7071, "right": 60, "dead": 0, "norms": [1e-5, 0.1]}
    line = javascript("small_network.js", "describe", 0, 120, 30, now)
    assert line == (
        "Step 0: loss 0.707, 60 of 120 points right. "
        "Layer 1 has a gradient 10,000 times smaller than the last layer's."
    )
    now = {"loss": 0.001, "right": 120, "dead": 7, "norms": [0.0, 0.1]}
    line = javascript("small_network.js", "describe", 1200, 120, 30, now)
    assert line.startswith("Step 1,200: loss 0.0010, 120 of")
    assert line.endswith("No gradient reaches layer 1. 7 of 30 units are dead.")

    def said_of(first, last):
        now = {"loss": 0.01, "right": 1, "dead": 0, "norms": [first, last]}
        line = javascript("small_network.js", "describe", 1, 120, 30, now)
        return line.partition("points right.")[2].strip()

    layer = "Layer 1 has a gradient"
    assert said_of(0.3, 0.1) == f"{layer} 3.0 times larger than the last layer's."
    assert said_of(0.1, 1.2) == f"{layer} 12 times smaller than the last layer's."
    assert said_of(1e-7, 0.2) == f"{layer} 2·10⁶ times smaller than the last layer's."
    assert said_of(0.1, 0) == ""  # nothing to compare with
    assert said_of(1e-13, 0.1) == "No gradient reaches layer 1."


@pytest.mark.parametrize(
    "state",
    [
        {"depth": 0},
        {"width": 9},
        {"rate": float("nan")},
        {"rate": 11.0},
        {"data": "digits"},
        {"activation": "gelu"},
        {"start": "ones"},
        {"steps": -1},
        {"momentum": 0.9},
    ],
)
def test_bad_state_is_refused(state):
    with pytest.raises(traitlets.TraitError):
        SmallNetwork(**state)


@pytest.mark.parametrize(
    "widget", [SmallNetwork(), SmallNetwork(data="spiral", activation="relu", steps=30, rate=0.1)]
)
def test_there_is_a_picture(widget):
    assert png(widget.picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_it_answers_to_the_keyboard_and_to_a_finger(widget_page, width):
    page = widget_page(SmallNetwork(), width=width, has_touch=True)
    result = page.locator(".result")
    assert "Step 0: loss 0.707" in result.inner_text()
    canvas, axes = (
        page.locator(f".map {part}").first.bounding_box() for part in ("canvas", "path.axis")
    )
    assert canvas == pytest.approx(axes, abs=5)  # the colors fill the square of the axes
    page.get_by_role("button", name="One step").press("Enter")
    settle(page)
    assert result.inner_text().startswith("Step 1:")
    page.get_by_label("Weights at first").select_option("zero")
    settle(page)
    assert "Step 0: loss 0.693" in result.inner_text()
    assert "No gradient reaches layer 1" in result.inner_text()
    page.get_by_label("Hidden layers").press("Home")
    page.get_by_role("button", name="One step").tap()
    settle(page)
    assert page.locator(".bead").count() == 2
    page.get_by_role("button", name="Begin again").tap()
    settle(page)
    assert result.inner_text().startswith("Step 0:")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_it_trains_pauses_and_opens_trained(widget_page):
    page = widget_page(SmallNetwork(activation="tanh", depth=2, steps=20), clock=True)
    result = page.locator(".result")
    assert result.inner_text().startswith("Step 20:")
    page.get_by_role("button", name="Train").click()
    page.clock.run_for(500)
    page.get_by_role("button", name="Pause").click()
    settled = result.inner_text()
    assert int(settled.split(":")[0].split()[1]) > 60
    page.clock.run_for(500)
    assert result.inner_text() == settled
    page.get_by_label("Learning rate").press("ArrowRight")  # goes on from here
    page.clock.run_for(100)
    assert result.inner_text() == settled


@pytest.mark.browser
def test_a_long_training_is_drawn_whole(widget_page):
    page = widget_page(SmallNetwork(depth=1, width=1, steps=500), clock=True)
    numbers = page.locator(".loss .tick").all_text_contents
    ends = [numbers()[: numbers().index("0.001")][-1]]
    page.get_by_role("button", name="Train").click()
    page.clock.run_for(100)
    page.get_by_role("button", name="Pause").click()
    ends.append(numbers()[: numbers().index("0.001")][-1])
    drawn = page.locator("path.loss").get_attribute("d")
    assert 150 < len(re.findall("[ML]", drawn)) <= 252
    now = page.locator("circle.now")
    place = [float(now.get_attribute(name)) for name in ("cx", "cy")]
    assert [float(part) for part in re.findall(r"[\d.]+", drawn)[-2:]] == pytest.approx(
        place, abs=0.01
    )
    page.get_by_role("button", name="Begin again").click()
    ends.append(numbers()[: numbers().index("0.001")][-1])
    assert ends == ["500", "1000", "100"]


@pytest.mark.browser
def test_a_network_without_gradients_has_them_at_the_foot_of_the_drawing(widget_page):
    page = widget_page(SmallNetwork(start="zero", depth=3))
    axis = page.locator(".slopes .axis").get_attribute("d")
    foot = float(re.findall(r"V([\d.]+)", axis)[0])
    beads = page.locator("circle.bead").evaluate_all("all => all.map((e) => e.getAttribute('cy'))")
    assert [float(y) for y in beads[:3]] == [foot] * 3
    assert float(beads[3]) == foot
    assert not page.locator("path.crease").get_attribute("d")  # no unit has a line


@pytest.mark.browser
def test_a_loss_that_leaves_all_bounds_is_not_drawn(widget_page):
    page = widget_page(
        SmallNetwork(activation="none", start="large", depth=6, rate=10.0, steps=40), clock=True
    )
    text = page.locator(".result").inner_text()
    assert text.endswith("The next step throws the loss beyond a million.")
    assert int(re.match(r"Step (\d+)", text)[1]) < 40
    page.get_by_role("button", name="Train").click()
    page.clock.run_for(200)
    assert page.get_by_role("button", name="Train").count() == 1  # there is no way on
    assert page.locator(".result").inner_text() == text


@pytest.mark.browser
def test_a_slow_machine_takes_one_step_a_frame(widget_page):
    page = widget_page(SmallNetwork(depth=1, width=1), clock=True)
    page.evaluate("{ let time = 0; performance.now = () => (time += 10); }")
    page.get_by_role("button", name="Train").click()
    steps = []
    for _ in range(12):
        page.clock.run_for(16)
        said = page.locator(".result").inner_text()
        steps.append(int(re.match(r"Step (\d+)", said)[1]))
    assert max(np.diff(steps[2:])) == 1
    assert steps[-1] >= 10


@pytest.mark.browser
def test_who_leaves_while_it_trains_ends_the_training(widget_page):
    page = widget_page(SmallNetwork(), clock=True)
    page.get_by_role("button", name="Train").click()
    page.clock.run_for(300)
    page.evaluate("""() => {
      const frame = window.requestAnimationFrame;
      window.asked = 0;
      window.requestAnimationFrame = (call) => (window.asked++, frame(call));
    }""")
    page.clock.run_for(300)
    assert page.evaluate("asked") > 5
    page.evaluate("unmount(); asked = 0")
    page.clock.run_for(300)
    assert page.evaluate("asked") <= 1  # one that was on its way
