"""The widgets: bundling, kit, state, picture, and their JavaScript against the library."""

from __future__ import annotations

import gzip
import importlib.util
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import example, given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from widget_page import complaints, settle

from primer import palette, widgets
from primer.positions import apply_rope, rope_frequencies, rope_matrix, rope_permutation
from primer.widgets import RopeRotation, base
from primer.widgets.base import bundle

KIT = base.KIT.read_text("utf-8")


# ---------------------------------------------------------------- the harness itself


def write_module(folder: Path, source: str) -> Path:
    """Write an ES module for the harness to call."""
    path = folder / "module.mjs"
    path.write_text(source, "utf-8")
    return path


def test_javascript_takes_arrays_and_returns_typed_arrays(javascript, tmp_path):
    module = write_module(
        tmp_path, "export const twice = (x) => Float64Array.from(x, (v) => 2 * v);"
    )
    assert javascript(module, "twice", np.array([1.5, -2.0])) == [3.0, -4.0]


def test_javascript_refuses_what_json_cannot_carry(javascript, tmp_path):
    module = write_module(tmp_path, "export const inverse = (x) => ({ inverse: 1 / x });")
    with pytest.raises(ValueError, match="not JSON compliant"):
        javascript(module, "inverse", math.nan)
    with pytest.raises(RuntimeError, match="inverse is Infinity"):
        javascript(module, "inverse", 0)


def test_javascript_reports_errors_and_goes_on(javascript, tmp_path):
    module = write_module(
        tmp_path, "export const same = (x) => { if (!x) throw Error('no x'); return x; };"
    )
    with pytest.raises(RuntimeError, match="same failed: Error: no x"):
        javascript(module, "same", 0)
    with pytest.raises(RuntimeError, match="exports no function other"):
        javascript(module, "other")
    assert javascript(module, "same", "ü") == "ü"


# ---------------------------------------------------------------- bundling


def test_bundle_behaves_like_the_module_and_imports_nothing(javascript, tmp_path):
    module = (
        'import { format as write, ticks } from "./kit.js";\n'
        "// A name the kit has too.\n"
        "const format = 3; // and another comment\n"
        "export const text = () => ['; // no comment'].join();\n"
        "export const three = () => write(format, 1);\n"
        "export const few = () => ticks(0, 10, 5);\n"
    )
    bundled = bundle(module, {"kit": KIT})
    assert "import" not in bundled
    assert "A name the kit has too" not in bundled
    assert "another comment" not in bundled
    path = write_module(tmp_path, bundled)
    assert javascript(path, "text") == "; // no comment"
    assert javascript(path, "three") == "3.0"
    assert javascript(path, "few") == [0, 2, 4, 6, 8, 10]


def test_bundle_inlines_each_module_once_before_those_that_need_it(javascript, tmp_path):
    siblings = {
        "count": "let made = 0;\nexport const make = () => ++made;\nexport const first = make();\n",
        "left": 'import { make } from "./count.js";\nconst own = 10;\n'
        "export function left() { return own + make(); }\n",
        "right": 'import {\n  first,\n  make as next,\n} from "./count.js";\nconst own = 20;\n'
        "export class Right { value = own + first + next(); }\n",
        "unused": "throw new Error('nobody asked');\n",
    }
    module = (
        'import { left } from "./left.js";\nimport { Right } from "./right.js";\nconst own = 30;\n'
        "export const all = () => [left(), new Right().value, own];\n"
    )
    bundled = bundle(module, siblings)
    assert bundled.count("let made") == 1
    assert javascript(write_module(tmp_path, bundled), "all") == [12, 24, 30]


@pytest.mark.parametrize(
    ("module", "complaint"),
    [
        ('import "./kit.js";', "import by .* only, not by"),
        ('import kit from "./kit.js";', "only, not by `import kit from"),
        ('import * as kit from "./kit.js";', "only, not by"),
        ('import { format } from "../kit.js";', "only, not by"),
        ('import { x } from "https://example.org/x.js";', "only, not by"),
        ('import { format } from "./kit.js"; import x from "y";', "only, not by"),
        ('import { format } from "./kit.js";\nimport x from "y";', "not by `import x"),
        ('const kit = await import("./kit.js");', "only, not by"),
        ('import { format, fromat } from "./kit.js";', r"kit.js exports .* not \['fromat'\]"),
        ('import { format } from "./kitt.js";', r"no kitt.js to import, but .*'kit'"),
        ('import { here } from "./here.js";', "import each other: here → there → here"),
        ('import { here } from "./there.js";', "import each other: there → here → there"),
        ('import { a } from "./defaults.js";', "cannot have `export default 2;`"),
        ('import { a } from "./lists.js";', "cannot have `export { b };`"),
    ],
)
def test_bundle_refuses_what_it_cannot_join(module, complaint):
    siblings = {
        "kit": KIT,
        "here": 'import { there } from "./there.js";\nexport const here = 1;\n',
        "there": 'import { here } from "./here.js";\nexport const there = 1;\n',
        "defaults": "export const a = 1;\nexport default 2;\n",
        "lists": "export const a = 1;\nconst b = 2;\nexport { b };\n",
    }
    with pytest.raises(ValueError, match=complaint):
        bundle(module, siblings)


# ---------------------------------------------------------------- the kit's numbers


@given(x=st.floats(-1e6, 1e6), digits=st.integers(0, 8))
def test_format_is_python_fixed_point_with_a_minus_sign(javascript, x, digits):
    text = javascript("kit.js", "format", x, digits)
    assert not (text.startswith("−") and float(text[1:]) == 0)
    assert float(text.replace("−", "-")) == pytest.approx(x, abs=0.51 * 10**-digits)
    assert len(text.partition(".")[2]) == digits


@given(low=st.floats(-1e4, 1e4), width=st.floats(1e-3, 1e4), count=st.integers(2, 12))
@example(low=1, width=4005, count=2)
def test_ticks_are_round_even_and_inside(javascript, low, width, count):
    found = np.array(javascript("kit.js", "ticks", low, low + width, count))
    assert 1 <= len(found) <= count + 1
    assert np.all(found >= low - 1e-6 * width)
    assert np.all(found <= low + width + 1e-6 * width)
    if len(found) > 1:
        step = np.diff(found)
        np.testing.assert_allclose(step, step[0], rtol=1e-6, atol=1e-9 * abs(low))
        leading = step[0] / 10 ** np.floor(np.log10(step[0]) + 1e-6)
        assert np.isclose(leading, [1, 2, 5], rtol=1e-5).any()


def test_colormap_is_viridis(javascript):
    from matplotlib import colormaps

    for t in np.linspace(0, 1, 21):
        got = np.array(javascript("kit.js", "colormap", t)) / 255
        np.testing.assert_allclose(got, to_rgb(colormaps["viridis"](t)), atol=0.06)


def test_path_lifts_the_pen_at_a_gap(javascript):
    points = [[0, 1], [2, 3], [4, "gap"], [5, 6], [7, 8]]
    assert javascript("kit.js", "path", points) == "M0.00 1.00L2.00 3.00M5.00 6.00L7.00 8.00"


# ---------------------------------------------------------------- the base class


@pytest.fixture
def counter(tmp_path):
    """Return a small widget class whose Python file, module and styles stand in a folder."""
    (tmp_path / "counter.js").write_text(
        'import { line } from "./line.js";\nexport default { render() { line(); } };\n', "utf-8"
    )
    (tmp_path / "line.js").write_text(
        'import { html } from "./kit.js";\nexport const line = () => html("p");\n', "utf-8"
    )
    (tmp_path / "counter.css").write_text(".counter { color: var(--primer-blue); }\n", "utf-8")
    source = tmp_path / "counter.py"
    source.write_text(
        "import traitlets\n"
        "from matplotlib.figure import Figure\n"
        "from primer.widgets.base import Widget\n"
        "class Counter(Widget):\n"
        "    description = 'A number.'\n"
        "    number = traitlets.Int(3, min=0).tag(sync=True)\n"
        "    data = traitlets.List([1, 2]).tag(sync=True)\n"
        "    def picture(self):\n"
        "        figure = Figure()\n"
        "        figure.text(0.5, 0.5, str(self.number))\n"
        "        return figure\n",
        "utf-8",
    )
    spec = importlib.util.spec_from_file_location("counter", source)
    module = importlib.util.module_from_spec(spec)
    sys.modules["counter"] = module
    spec.loader.exec_module(module)
    yield module.Counter
    del sys.modules["counter"]


def test_widget_bundles_module_palette_and_styles(counter):
    widget = counter()
    assert "import" not in widget._esm
    assert "export default { render() { line(" in widget._esm
    assert 'const line = () => html("p");' in widget._esm
    assert ".primer-widget { --primer-paper: #ffffff" in widget._css
    assert "body[data-jp-theme-light=false]" in widget._css
    assert widget._css.endswith(".counter { color: var(--primer-blue); }\n")


def test_widget_repr_is_short_and_names_no_data(counter):
    assert repr(counter(number=7)) == "Counter(number=7)"


def test_widget_refuses_what_it_does_not_know(counter):
    with pytest.raises(traitlets.TraitError, match="Counter has no nubmer; it has number, data"):
        counter(nubmer=3)
    with pytest.raises(traitlets.TraitError, match="should not be less than 0"):
        counter(number=-1)
    with pytest.raises(traitlets.TraitError, match="expected an int"):
        counter().number = "many"


def test_widget_offers_view_picture_and_words(counter):
    data, metadata = counter()._repr_mimebundle_()
    assert set(data) == {
        "text/plain",
        "application/vnd.jupyter.widget-view+json",
        "image/png",
    }
    assert data["text/plain"] == "Counter(number=3)"
    assert data["image/png"].startswith("iVBOR")
    assert metadata["image/png"] == {"alt": "A number."}


@pytest.mark.parametrize("name", widgets.__all__)
def test_every_widgets_module_is_small_with_all_it_imports(name):
    bundled = getattr(widgets, name)()._esm
    assert bundled.count("const $kit = ") == 1
    assert len(gzip.compress(bundled.encode())) < 15_000


# ---------------------------------------------------------------- the kit in a browser

PANEL = """
import { checkbox, color, draggable, heatMap, html, mount, play, radio, update } from "./kit.js";

function render({ model, el }) {
  const map = html("canvas");
  const spot = html("div", { style: "width: 100px; height: 50px" }, "<b>drag me</b>");
  const change = (number) => update(model, { number: Number(number) });
  const odd = checkbox({ label: "odd", value: false, change });
  const pick = radio({ label: "pick", options: [[0, "none"], [7, "seven"]], value: 0, change });
  const frames = [];
  const player = play({ frame(seconds) {
    frames.push(seconds);
    el.dataset.frames = JSON.stringify(frames);
  } });
  draggable(spot, {
    move: (x, y) => { el.dataset.at = `${x.toFixed(2)} ${y.toFixed(2)}`; },
    step: (dx, dy) => { el.dataset.step = `${dx} ${dy}`; },
  });
  el.append(map, spot, odd.row, pick.row, player.button);
  return mount({ model, el, traits: ["number"], draw() {
    el.dataset.draws = 1 + Number(el.dataset.draws ?? 0);
    el.dataset.blue = color(el, "blue");
    pick.set(model.get("number"));
    heatMap(map, 3, 2, (column, row) => column + 10 * row, 0, 17);
  } });
}
export default { render };
"""


@pytest.fixture
def panel(counter):
    """Return a widget that shows one of everything in the kit."""

    class Panel(counter):
        """The counter's traits with another module."""

        _esm = bundle(PANEL, {"kit": KIT})

    return Panel(number=0)


def frame_passed(page) -> dict[str, str]:
    """Return the panel's data after the next frame."""
    settle(page)
    return page.evaluate("({...document.getElementById('widget').dataset})")


@pytest.mark.browser
def test_heat_map_puts_row_zero_at_the_bottom(widget_page, panel, javascript):
    page = widget_page(panel)
    pixels = page.evaluate(
        "[...document.querySelector('canvas').getContext('2d').getImageData(0, 0, 3, 2).data]"
    )
    got = np.reshape(pixels, (2, 3, 4))[..., :3]
    values = [[10, 11, 12], [0, 1, 2]]
    want = [[javascript("kit.js", "colormap", v / 17) for v in row] for row in values]
    np.testing.assert_array_equal(got, want)


@pytest.mark.browser
def test_kit_controls_set_the_trait_and_redraw_once_a_frame(widget_page, panel):
    page = widget_page(panel)
    before = int(frame_passed(page)["draws"])
    page.get_by_label("odd").check()
    assert page.evaluate("model.get('number')") == 1
    page.get_by_label("seven").check()
    assert page.evaluate("model.get('number')") == 7
    frame_passed(page)
    assert page.get_by_label("seven").is_checked()
    before = int(frame_passed(page)["draws"])
    page.evaluate("for (let i = 0; i < 50; i++) model.set('number', i)")
    assert int(frame_passed(page)["draws"]) == before + 1


@pytest.mark.browser
def test_kit_redraws_when_the_theme_changes(widget_page, panel):
    page = widget_page(panel)
    assert frame_passed(page)["blue"] == palette.LIGHT["blue"]
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert frame_passed(page)["blue"] == palette.DARK["blue"]
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    for setting, name in (("jpThemeLight = 'false'", "DARK"), ("jpThemeLight = 'true'", "LIGHT")):
        page.evaluate(f"document.body.dataset.{setting}")
        assert frame_passed(page)["blue"] == getattr(palette, name)["blue"]
    page.evaluate("document.body.classList.add('vscode-dark')")
    assert frame_passed(page)["blue"] == palette.DARK["blue"]


@pytest.mark.browser
def test_draggable_reports_fractions_and_keys_and_takes_text_as_text(widget_page, panel):
    page = widget_page(panel)
    spot = page.get_by_text("<b>drag me</b>")
    spot.click(position={"x": 75, "y": 25})
    assert frame_passed(page)["at"] == "0.75 0.50"
    spot.press("ArrowLeft")
    assert frame_passed(page)["step"] == "-1 0"
    spot.press("PageUp")
    assert frame_passed(page)["step"] == "0 10"


@pytest.mark.browser
@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_play_respects_reduced_motion(widget_page, panel, motion):
    page = widget_page(panel, reduced_motion=motion)
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("JSON.parse(widget.dataset.frames ?? '[]').length >= 3")
    page.get_by_role("button", name="Pause").click()
    frames = json.loads(frame_passed(page)["frames"])
    assert frames.pop() == 0  # it has stopped
    assert frames.pop(0) == 0
    assert (min(frames) == 0.5) == (motion == "reduce")


# ---------------------------------------------------------------- RoPE: JavaScript against primer

LAYOUTS = ["interleaved", "half"]
bases = st.floats(2, 6).map(lambda exponent: 10.0**exponent)
positions = st.integers(0, 5000)


@st.composite
def two_vectors(draw):
    """Draw a query and a key of one even length."""
    size = 2 * draw(st.integers(1, 16))
    vector = st.lists(st.floats(-10, 10), min_size=size, max_size=size)
    return draw(vector), draw(vector)


def rope_score(query, key, m, n, base, layout):
    """Compute the score with the library."""
    q = apply_rope(torch.tensor(query, dtype=torch.float64), m, base, layout)
    k = apply_rope(torch.tensor(key, dtype=torch.float64), n, base, layout)
    return float(q @ k)


@given(pairs=st.integers(1, 64), base=bases)
def test_rope_frequencies_agree(javascript, pairs, base):
    got = javascript("rotation.js", "ropeFrequencies", 2 * pairs, base)
    np.testing.assert_allclose(got, rope_frequencies(2 * pairs, base), rtol=0, atol=1e-6)


@given(pairs=st.integers(1, 64))
def test_rope_permutation_agrees(javascript, pairs):
    got = javascript("rotation.js", "ropePermutation", 2 * pairs)
    assert got == rope_permutation(2 * pairs).tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
@given(vectors=two_vectors(), position=positions, base=bases)
def test_rotated_vectors_agree(javascript, layout, vectors, position, base):
    got = javascript("rotation.js", "applyRope", vectors[0], position, base, layout)
    want = apply_rope(torch.tensor(vectors[0], dtype=torch.float64), position, base, layout)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6)


@pytest.mark.parametrize("layout", LAYOUTS)
@given(vectors=two_vectors(), m=positions, n=positions, base=bases)
def test_rope_scores_agree(javascript, layout, vectors, m, n, base):
    shares = javascript("rotation.js", "pairScores", *vectors, m, n, base, layout)
    assert len(shares) == len(vectors[0]) // 2
    assert sum(shares) == pytest.approx(rope_score(*vectors, m, n, base, layout), abs=1e-6)


@pytest.mark.parametrize("layout", LAYOUTS)
@given(vectors=two_vectors(), base=bases, offsets=st.lists(st.integers(-64, 64), min_size=1))
def test_score_curve_agrees(javascript, layout, vectors, base, offsets):
    """The curve is q R(n − m) kᵀ, which the library computes with the whole matrix."""
    query, key = (np.array(v) for v in vectors)
    got = javascript("rotation.js", "scoreCurve", query, key, offsets, base, layout)
    want = [query @ rope_matrix(r, query.size, base, layout).numpy() @ key for r in offsets]
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6)
    shares = [
        javascript("rotation.js", "pairCurve", query, key, pair, offsets, base, layout)
        for pair in range(query.size // 2)
    ]
    np.testing.assert_allclose(np.sum(shares, axis=0), want, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("frequencies", "expected"), [([1.0], 44), ([1.0, 0.562], 44), ([1.0, 0.08], None)]
)
def test_the_mark_finds_the_distance_that_looks_like_none(javascript, frequencies, expected):
    distances = np.arange(-64, 65)
    scores = np.cos(distances[:, None] * np.array(frequencies)).sum(axis=1)
    at = javascript("rotation.js", "lookalike", scores.tolist(), 0.95)
    assert (distances[at] if at >= 0 else None) == expected


# ---------------------------------------------------------------- RoPE: traits and picture


@pytest.mark.parametrize("dim", [8, 16])
def test_rope_defaults_end_on_their_circles_and_agree_best_at_equal_positions(dim):
    widget = RopeRotation()
    pairs = np.reshape([widget.query, widget.key], (2, 8, 2))
    np.testing.assert_allclose(np.linalg.norm(pairs, axis=-1), 1, atol=1e-12)
    distances = range(-64, 65)
    scores = [
        rope_score(widget.query[:dim], widget.key[:dim], 64, 64 + r, 1e4, "interleaved")
        for r in distances
    ]
    assert distances[int(np.argmax(scores))] == 0


def test_rope_repr_names_the_controls_only():
    assert repr(RopeRotation()) == "RopeRotation(m=3, n=8, base=10000.0, dim=8, pair=0)"


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"m": -1}, "should not be less than 0"),
        ({"n": 65}, "should not be greater than 64"),
        ({"m": 1.5}, "expected an int"),
        ({"base": 0.0}, "base must be from 10² to 10⁶, got 0"),
        ({"base": math.nan}, "base must be from 10² to 10⁶, got nan"),
        ({"dim": 7}, "dim must be even and at most 16, got 7"),
        ({"dim": 8, "key": [1, 2, 3, 4]}, "dim must be even and at most 4, got 8"),
        ({"pair": 4}, "the pairs 0 to 3, got pair 4"),
        ({"query": [1.0, 2.0, 3.0]}, r"query must hold an even number .* shape \(3,\)"),
        ({"query": [1.0, math.inf]}, "query must be finite"),
        ({"key": "ab"}, "key must be a list of numbers"),
    ],
)
def test_rope_refuses_bad_state(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        RopeRotation(**state)


def test_rope_takes_arrays_and_fits_dimension_and_pair_to_them():
    widget = RopeRotation(pair=3)
    widget.query = np.arange(4)
    assert (widget.query, widget.dim, widget.pair) == ([0.0, 1.0, 2.0, 3.0], 4, 1)


@pytest.mark.parametrize(
    "state", [{}, {"dim": 2}, {"dim": 16, "pair": 7}, {"query": [0] * 4, "key": [0] * 4}]
)
def test_rope_picture_draws_the_state(state):
    widget = RopeRotation(m=5, n=9, **state)
    figure = widget.picture()
    texts = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    assert "Query turned to m = 5 (blue), key turned to n = 9 (orange)" in texts
    assert f"The score depends on n − m = 4 only: it is {widget.score():.3f}" in "".join(texts)
    assert sum(text.startswith("pair ") for text in texts) == widget.dim // 2


# ---------------------------------------------------------------- RoPE: in a browser


def score(page) -> float:
    """Read the displayed score."""
    return float(page.locator(".number").inner_text().replace("−", "-"))


def result(page) -> str:
    """Read the line that screen readers announce, after the next frame."""
    settle(page)
    return page.locator(".result").inner_text()


@pytest.mark.browser
def test_rope_shows_what_the_library_computes(widget_page):
    widget = RopeRotation(m=20, n=7, dim=12, base=500.0)
    page = widget_page(widget)
    want = widget.score()
    assert score(page) == pytest.approx(want, abs=6e-4)
    assert result(page) == f"m = 20, n = 7, distance −13, score {want:.3f}".replace("-", "−")
    assert page.locator("tfoot td").text_content() == page.locator(".number").inner_text()
    assert page.locator("tbody tr").count() == page.locator(".pair").count() == 6


@pytest.mark.browser
def test_rope_answers_to_the_keyboard(widget_page):
    page = widget_page(RopeRotation())
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert result(page).startswith("m = 4, n = 8, distance 4,")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    assert result(page).startswith("m = 4, n = 7, distance 3,")
    for _ in range(6):  # shift, base, dimension, play, what moves, the pairs
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    result(page)
    assert page.evaluate("model.get('pair')") == 1
    assert page.locator("tbody tr.chosen th").text_content() == "1"
    focusable = page.locator("input, button, select")
    marked = page.locator("[data-lm-suppress-shortcuts=true]")
    assert focusable.count() == marked.count() == 11


@pytest.mark.browser
def test_shifting_both_leaves_the_score(widget_page):
    page = widget_page(RopeRotation(m=3, n=8))
    before = page.locator(".number").inner_text()
    page.get_by_label("Shift both").focus()
    page.keyboard.press("PageUp")
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    text = result(page)
    moved = page.evaluate("model.get('m')") - 3
    assert moved >= 20
    assert text.startswith(f"m = {3 + moved}, n = {8 + moved}, distance 5,")
    assert page.locator(".number").inner_text() == before
    kept = f"Both shifted by +{moved}: difference since the shift 0.000"
    assert kept in page.locator(".readout").inner_text()
    page.get_by_label("Key position n").press("ArrowRight")
    assert "distance 6" in result(page)
    assert page.locator(".number").inner_text() != before
    assert "difference since" not in page.locator(".readout").inner_text()


@pytest.mark.browser
def test_rope_answers_to_the_mouse(widget_page):
    page = widget_page(RopeRotation())
    page.locator(".pair").nth(2).click()
    result(page)
    assert page.evaluate("model.get('pair')") == 2
    page.get_by_label("Query position m").click()
    assert 30 <= page.evaluate("model.get('m')") <= 34
    box = page.locator(".curve").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 100, steps=4)
    page.mouse.up()
    assert page.evaluate("model.get('n') - model.get('m')") in range(8, 17)


@pytest.mark.browser
def test_rope_answers_to_touch_on_a_phone(widget_page):
    page = widget_page(RopeRotation(), width=390, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_label("Key position n").tap()
    result(page)
    assert 30 <= page.evaluate("model.get('n')") <= 34
    page.locator(".pair").nth(1).tap()
    assert page.evaluate("model.get('pair')") == 1


@pytest.mark.browser
@pytest.mark.parametrize("mover", ["both", "key"])
def test_rope_plays_and_pauses(widget_page, mover):
    page = widget_page(RopeRotation())
    page.get_by_label("moves").select_option(mover)
    play = page.get_by_role("button", name="Play")
    before = page.locator(".number").inner_text()
    play.click()
    page.wait_for_function("model.get('n') >= 9")
    assert page.locator(".result").get_attribute("aria-live") == "off"
    page.get_by_role("button", name="Pause").click()
    at, to = page.evaluate("[model.get('m'), model.get('n')]")
    assert at == (to - 5 if mover == "both" else 3)
    assert result(page).startswith(f"m = {at}, n = {to}, ")
    assert (page.locator(".number").inner_text() == before) == (mover == "both")


@pytest.mark.browser
def test_rope_follows_changes_from_python_and_lets_go(widget_page):
    page = widget_page(RopeRotation(pair=3))
    page.evaluate("model.set('query', [1, 0]); model.set('dim', 2); model.set('pair', 0)")
    assert result(page).startswith("m = 3, n = 8")
    assert page.locator(".pair").count() == 1
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_rope_scores_nothing_when_a_vector_is_zero(widget_page):
    page = widget_page(RopeRotation(query=[0] * 8))
    assert score(page) == 0
    assert "NaN" not in page.content()


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_rope_is_accessible(widget_page, theme, width):
    page = widget_page(RopeRotation(dim=16), width=width, theme=theme)
    assert complaints(page) == []
