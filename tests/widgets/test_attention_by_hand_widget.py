"""Attention by hand: its JavaScript against the library, its state, its life in a browser."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import center, drag_by_finger, settle

from primer.attention import scaled_dot_product_attention
from primer.notebook.figures import png
from primer.widgets import AttentionByHand
from primer.widgets.attention_by_hand import FRAMES, NEAR, three_words, worked_example

MODULE = "attention_by_hand.js"
seeds = st.integers(0, 2**32 - 1)
temperatures = st.floats(0.1, 100)


def plane(seed, kind, *shape):
    """Draw points from a plane."""
    low, high = np.array(FRAMES[kind]).T
    return np.random.default_rng(seed).uniform(low, high, (*shape, 2))


# --- the mathematics, against primer --------------------------------------------------------------


@given(seeds, st.booleans(), temperatures)
def test_attention_is_the_librarys(javascript, seed, scale, temperature):
    query, key, value = plane(seed, "key"), plane(seed + 1, "key", 3), plane(seed + 2, "value", 3)
    by = javascript(MODULE, "divisor", 2, scale, temperature)
    got = javascript(MODULE, "attend", query, key, value, by)
    q, k, v = (torch.from_numpy(x) for x in (query[None], key, value))
    output, weights = scaled_dot_product_attention(q, k, v, scale=1 / by)
    np.testing.assert_allclose(got["weights"], weights[0], atol=1e-6)
    np.testing.assert_allclose(got["context"], output[0], atol=1e-6)
    np.testing.assert_allclose(got["logits"], (q @ k.T)[0] / by, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(np.sum(got["shares"], axis=0), output[0], atol=1e-6)
    widget = AttentionByHand(
        query=query, key=key, value=value, scale=scale, temperature=temperature
    )
    for ours, theirs in zip(widget.attention(), (output[0], weights[0]), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


@given(seeds, temperatures)
def test_effective_keys_are_the_exponential_of_the_entropy(javascript, seed, temperature):
    weights = torch.softmax(torch.from_numpy(plane(seed, "key", 3)[:, 0]) / temperature, 0)
    entropy = torch.distributions.Categorical(weights).entropy()
    got = javascript(MODULE, "effectiveKeys", weights.tolist())
    assert got == pytest.approx(float(entropy.exp()), abs=1e-6)


def test_the_worked_example_is_the_notes(javascript):
    example = worked_example()
    assert example["query"] == [5, 6]
    assert example["key"] == [[1, 4], [3, 10], [5, 16]]
    assert example["value"] == [[2.5, 0.5], [5.5, 0.5], [8.5, 0.5]]
    by = javascript(MODULE, "divisor", 2, True, 1)
    got = javascript(MODULE, "attend", example["query"], example["key"], example["value"], by)
    assert got["scores"] == [29, 75, 121]
    np.testing.assert_allclose(got["logits"], [20.5, 53.0, 85.6], atol=0.05)
    np.testing.assert_allclose(got["context"], [8.5, 0.5], atol=1e-12)


def test_it_opens_on_three_words_of_whom_each_is_heard():
    widget = AttentionByHand()
    output, weights = widget.attention()
    np.testing.assert_allclose(weights, [0.074, 0.620, 0.306], atol=5e-4)
    np.testing.assert_allclose(output, [1.157, 2.083], atol=1e-3)
    keys = np.array(widget.key) / np.linalg.norm(widget.key, axis=1, keepdims=True)
    assert (keys @ keys.T)[np.triu_indices(3, 1)].max() < 0.75  # they point in three directions
    assert three_words()["words"] == ["the", "king", "sleeps"]


@pytest.mark.parametrize(
    ("weight", "text"),
    [(0.25, "0.250"), (0.0005, "0.001"), (0.00049, "5·10⁻⁴"), (6.1e-29, "6·10⁻²⁹"), (0, "0")],
)
def test_small_weights_are_written_as_powers(javascript, weight, text):
    assert javascript("attention_maps.js", "writeWeight", weight) == text


@pytest.mark.parametrize(
    ("weight", "text"), [(0.25, "0.250"), (0.0005, "0.001"), (6.1e-29, "≈ 0"), (0, "0.000")]
)
def test_weights_that_are_hardly_any_are_called_nothing(javascript, weight, text):
    assert javascript(MODULE, "writeWeight", weight) == text


def test_the_result_line_says_who_is_read(javascript):
    def line(weights, *words):
        found = {"weights": weights, "context": [8.5, -0.5]}
        return javascript(MODULE, "describe", found, words)

    assert line([0.25, 0.5, 0.25]) == (
        "The query reads key 1 with weight 0.250, key 2 with 0.500, key 3 with 0.250: "
        "effectively 2.83 of 3 keys. The context vector is z = (8.50, −0.50)."
    )
    assert "reads “b” alone: effectively 1.03 of 3" in line([0.002, 0.996, 0.002], *"abc")
    assert "reads “a” with weight 0.003, “b” with 0.994," in line([0.003, 0.994, 0.003], *"abc")


@given(seeds, st.booleans(), st.booleans())
def test_the_planes_show_all_points_and_no_more_than_they_need(javascript, seed, near, far):
    low, high = np.array((NEAR if near else FRAMES)["key"]).T
    points = np.random.default_rng(seed).uniform(low, high, (4, 2))
    inside = bool((np.abs(points) <= 4).all())
    expected = (NEAR if inside and not far else FRAMES)["key"]
    assert javascript(MODULE, "domainOf", "key", points, far) == [list(ends) for ends in expected]


def test_points_on_the_edge_are_near(javascript):
    assert javascript(MODULE, "domainOf", "key", [[4, -4]], False) == [[-4, 4]] * 2
    assert javascript(MODULE, "domainOf", "value", [[4, -2]], False) == [[-2, 4]] * 2
    assert javascript(MODULE, "domainOf", "key", [[4.1, 0]], False) != [[-4, 4]] * 2


# --- the Python side ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"query": [1, 2, 3]}, r"query must have the shape \(2,\), got the shape \(3,\)"),
        ({"key": [[1, 2], [3, 4]]}, r"key must have the shape \(3, 2\)"),
        ({"key": [[1, 2], [3, 4], ["a", 5]]}, "key must be numbers"),
        ({"query": [14, 0]}, r"query must lie in \[-8, 13\] × \[-4, 17\]"),
        ({"value": [[0, 0], [0, 0], [0, float("nan")]]}, "value must lie in"),
        ({"temperature": 0.0}, "temperature must be 0.1 to 100, got 0.0"),
        ({"temperature": float("nan")}, "temperature must be"),
        ({"words": ["one"]}, "words must be 3 or none"),
        ({"keys": 1}, "AttentionByHand has no keys"),
    ],
)
def test_bad_state_is_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        AttentionByHand(**state)


def test_there_is_a_picture():
    assert png(AttentionByHand(temperature=20.0).picture()).startswith(b"\x89PNG")


# --- in a browser ---------------------------------------------------------------------------------


def get(page, name):
    """Return a trait as the browser holds it."""
    settle(page)
    return page.evaluate("(name) => model.get(name)", name)


@pytest.mark.browser
def test_it_shows_the_worked_example_in_numbers(widget_page):
    page = widget_page(AttentionByHand(**worked_example()))
    rows = [row.inner_text().split("\t") for row in page.locator("tbody tr").all()]
    assert [row[0].strip() for row in rows] == ["1", "2", "3"]
    assert [row[2] for row in rows] == ["5·1 + 6·4 = 29", "5·3 + 6·10 = 75", "5·5 + 6·16 = 121"]
    assert [row[3] for row in rows] == ["20.51", "53.03", "85.56"]
    assert rows[2][4].strip() == "1.000"
    assert "z = (8.50, 0.50)" in page.locator(".result").inner_text()
    shares = [page.locator(f"path.share.k{j}").get_attribute("visibility") for j in (1, 2, 3)]
    assert shares == ["hidden", "hidden", None]  # there is nothing to draw
    widths = page.locator("svg.panel path.arrow[stroke-width]").evaluate_all(
        "a => a.map((e) => [e.classList[1], +(+e.getAttribute('stroke-width')).toFixed(6)])"
    )
    assert widths[:4] == [["k3", 5.6], ["k2", 1.6], ["k1", 1.6], ["q", 3.0]]  # as it is heard
    assert sorted(widths[4:]) == [["k1", 1.6], ["k2", 1.6], ["k3", 1.6]]
    page.get_by_label("divide by √d").uncheck()
    settle(page)
    assert page.locator("tbody tr td:nth-child(4)").first.inner_text() == "29.00"


@pytest.mark.browser
def test_points_answer_to_the_keyboard_and_the_button_brings_the_example_back(widget_page):
    page = widget_page(AttentionByHand(**worked_example()))
    mark = page.get_by_role("button", name="Key 3,")
    mark.focus()
    for key in ("ArrowLeft", "PageDown", "ArrowUp"):
        mark.press(key)
    assert get(page, "key")[2] == pytest.approx([4.9, 15.1])
    settle(page)
    assert "Key 3, (4.9, 15.1)" in mark.get_attribute("aria-label")
    page.get_by_role("button", name="Value 1,").press("ArrowUp")
    assert get(page, "value")[0] == pytest.approx([2.5, 0.6])
    page.get_by_role("button", name="Query,").press("ArrowRight")
    assert get(page, "query") == pytest.approx([5.1, 6])
    page.get_by_label("Temperature τ").press("End")
    assert get(page, "temperature") == pytest.approx(100)
    settle(page)
    assert "reads key 1 with weight" in page.locator(".result").inner_text()
    page.get_by_role("button", name="Three words").press("Enter")
    settle(page)
    assert {name: get(page, name) for name in three_words()} == three_words()
    assert "“king” with 0.620" in page.locator(".result").inner_text()
    assert page.locator(".weights p").nth(1).inner_text().split() == ["king", "0.620"]
    page.get_by_role("button", name="Worked example").press("Enter")
    settle(page)
    assert {name: get(page, name) for name in worked_example()} == worked_example()
    assert "reads key 3 alone" in page.locator(".result").inner_text()


@pytest.mark.browser
def test_a_point_cannot_leave_its_plane(widget_page):
    page = widget_page(AttentionByHand(key=[[1, 4], [3, 10], [13, 17]]))
    mark = page.get_by_role("button", name="Key 3,")
    mark.press("PageUp")
    mark.press("ArrowRight")
    assert get(page, "key")[2] == [13, 17]


@pytest.mark.browser
@pytest.mark.parametrize("touch", [False, True])
def test_points_are_dragged_by_mouse_and_touch(widget_page, touch):
    page = widget_page(AttentionByHand(), width=390, has_touch=touch)
    mark = page.get_by_role("button", name="Query,")
    if touch:
        drag_by_finger(page, mark, [25, 50, 75])
    else:
        x, y = center(mark)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y + 60, steps=3)
        page.mouse.up()
    first, second = get(page, "query")
    assert first == pytest.approx(2, abs=0.2)
    assert second < 0
    assert second == round(second, 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


# Every name with its box, and every line that is drawn, as points: what strikes a name out.
STRUCK = """(svg) => {
  const names = [...svg.querySelectorAll("text.letter")].map((e) => [e.textContent, e.getBBox()]);
  const lines = [...svg.querySelectorAll(":scope > svg > path:not([visibility=hidden])")];
  const points = lines.flatMap((line) => {
    const length = line.getTotalLength();
    return Array.from({ length: 400 }, (_, i) => line.getPointAtLength((length * i) / 399));
  });
  const inside = ({ x, y, width, height }) =>
    points.some((p) => p.x > x && p.x < x + width && p.y > y + 2 && p.y < y + height - 2);
  const apart = (a, b) =>
    a.x >= b.x + b.width || b.x >= a.x + a.width || a.y >= b.y + b.height || b.y >= a.y + a.height;
  const crossed = ([, a]) => names.some(([, b]) => a !== b && !apart(a, b));
  return names.filter((one) => inside(one[1]) || crossed(one)).map(([text]) => text);
}"""


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_no_name_lies_on_an_arrow_or_another_name(widget_page, width):
    page = widget_page(AttentionByHand(), width=width)
    planes = page.locator("svg.panel").all()
    places = [
        {},
        {"query": [2, 0.4]},
        {"query": [-1, 2.8]},
        {"value": [[3, -1], [2.8, 0], [-1, 3]]},
    ]
    for place in places:
        page.evaluate("(all) => Object.entries(all).forEach(([n, v]) => model.set(n, v))", place)
        settle(page)
        assert [plane.evaluate(STRUCK) for plane in planes] == [[], []], place


@pytest.mark.browser
def test_names_stay_inside_their_plane(widget_page):
    page = widget_page(AttentionByHand())
    left, right = page.locator("svg.panel").all()
    beyond = """(svg) => {
      const inner = svg.querySelector(":scope > svg");
      const [x, y, w, h] = ["x", "y", "width", "height"].map((n) => Number(inner.getAttribute(n)));
      return [...svg.querySelectorAll("text.letter")]
        .filter((text) => {
          const box = text.getBBox();
          return box.x < x - 1 || box.y < y - 2 || box.x + box.width > x + w + 1;
        })
        .map((text) => text.textContent);
    }"""
    for corner in ([4, 4], [-4, 4], [-4, -4], [4, -4]):
        page.evaluate("(at) => model.set('query', at)", corner)
        page.evaluate(
            "(at) => model.set('value', [at, [0, 0], [1, 1]])", [max(x, -2) for x in corner]
        )
        settle(page)
        assert left.evaluate(beyond) == right.evaluate(beyond) == []


@pytest.mark.browser
def test_a_query_of_length_zero_has_no_line(widget_page):
    page = widget_page(AttentionByHand(words=[], far=False))
    left, right = page.locator("svg.panel").all()
    page.evaluate("model.set('query', [0, 0])")
    settle(page)
    for path in ("along", "drop.k1", "drop.k3"):
        assert left.locator(f"path.{path}").evaluate("(e) => e.getTotalLength()") == 0
    assert "0.333, key 2 with 0.333" in page.locator(".result").inner_text()
    page.set_viewport_size({"width": 540, "height": 900})
    settle(page)
    assert left.get_attribute("viewBox") == "0 0 420 440"  # below each other, but not too large
    assert [mark.get_attribute("aria-label")[:8] for mark in right.locator(".grip").all()] == [
        f"Value {j}," for j in (1, 2, 3)
    ]


@pytest.mark.browser
def test_it_leaves_nothing_behind(widget_page):
    page = widget_page(AttentionByHand())
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0
