"""The widgets' kit: declared controls, bundles, numbers, and its life in a browser."""

from __future__ import annotations

import gzip
import importlib.util
import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import traitlets
from hypothesis import assume, example, given
from hypothesis import strategies as st
from matplotlib import colormaps
from matplotlib.colors import to_rgb
from widget_page import settle

from press.workshop.bundle import STATIC, WIDGETS, bundles, stale
from primer import palette, widgets
from primer.widgets import base
from primer.widgets.base import SHARED_ABOVE, Widget
from primer.widgets.controls import Choice, Name, Number, Switch, Whole

PYTHON = """
import traitlets
from matplotlib.figure import Figure
from primer.widgets.base import Widget
from primer.widgets.controls import *

class Counter(Widget):
    description = "A number."
    constants = {"most": 9}
    number = traitlets.Int(3, min=0).tag(sync=True)
    data = traitlets.List([1, 2]).tag(sync=True)

    def picture(self):
        figure = Figure()
        figure.text(0.5, 0.5, str(self.number))
        return figure
"""
SCRIPT = """
import { line } from "./line.js";
export default { render: ({ el }) => { el.append(line()); el.dataset.ready = "true"; } };
"""
LINE = 'import { html } from "../kit/kit.js";\nexport const line = () => html("p", {}, "A line");\n'


@pytest.fixture
def make_widget(tmp_path, monkeypatch) -> Iterator[Callable[..., type[Widget]]]:
    """Return a function that bundles and imports a widget from the text of its files."""
    folder = tmp_path / "widgets"
    folder.mkdir()
    shutil.copy(WIDGETS / "package.json", folder)
    for name in ("kit", "shared"):
        shutil.copytree(WIDGETS / name, folder / name)
    monkeypatch.setattr(base, "STATIC", folder / "static")

    def make(python: str = PYTHON, script: str = SCRIPT, style: str = "") -> type[Widget]:
        own = folder / "counter"
        own.mkdir(exist_ok=True)
        source = own / "__init__.py"
        source.write_text(python, "utf-8")
        (own / "counter.js").write_text(script, "utf-8")
        (own / "counter.css").write_text(style, "utf-8")
        (own / "line.js").write_text(LINE, "utf-8")
        (folder / "static").mkdir(exist_ok=True)
        for name, text in bundles(folder).items():
            (folder / "static" / name).write_text(text, "utf-8")
        spec = importlib.util.spec_from_file_location("counter", source)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["counter"] = module
        spec.loader.exec_module(module)
        found: type[Widget] = module.Counter
        return found

    yield make
    sys.modules.pop("counter", None)


# ---------------------------------------------------------------- declared controls

HILL = """
from primer.widgets.base import Widget
from primer.widgets.controls import *

class Counter(Widget):
    a = {}
    b = Switch(True, label="more")
    names = traitlets.Dict({{"x": 1}}).tag(sync=True)
"""


@pytest.mark.parametrize(
    ("trait", "complaint"),
    [
        (lambda: Number(1.0, low=0.0, high=2.0), "Hill.a has no label"),
        (lambda: Switch(True, label=" "), "Hill.a has no label"),
        (lambda: Number(1.0, low=2.0, high=2.0, label="a"), "Hill.a has an empty range, 2 to 2"),
        (lambda: Number(1.0, low=0.0, high=math.inf, label="a"), "has an empty range, 0 to inf"),
        (lambda: Number(1.0, low=math.nan, high=1.0, label="a"), "has an empty range"),
        (lambda: Number(3.0, low=0.0, high=2.0, label="a"), "begins at 3.0, outside"),
        (lambda: Whole(None, low=0, high=2, label="a"), "begins at None, outside"),
        (lambda: Number(1.0, low=0.0, high=2.0, step=0, label="a"), "has the step 0"),
        (lambda: Number(1.0, low=0.0, high=2.0, step=5, label="a"), "has the step 5"),
        (
            lambda: Number(1.0, low=0.0, high=2.0, scale="decades", label="a"),
            "runs by decades from 0: a logarithm needs low above 0",
        ),
        (lambda: Number(1.0, low=0.0, high=2.0, scale="log", label="a"), "has scale 'log'"),
        (lambda: Number(1.0, low=0.0, high=2.0, knee=0.0, label="a"), "has the knee 0"),
        (lambda: Number(1.0, low=0.0, high=2.0, form="wide", label="a"), "has form 'wide'"),
        (lambda: Choice("x", ["x"], label="a"), "offers 1 values: a choice needs two"),
        (lambda: Choice("x", {"x": "", "y": "y"}, label="a"), "a value without words"),
        (lambda: Choice("z", ["x", "y"], label="a"), "begins at 'z', which it does not offer"),
        (lambda: Choice("x", ["x", "y"], label="a", look="wheel"), "has look 'wheel'"),
        (lambda: Name("x", among="nowhere", label="a"), "from 'nowhere', but Hill has no such"),
        (lambda: Switch(True, label="a", when=("c", 1)), "depends on 'c', but Hill has no such"),
    ],
)
def test_a_bad_declaration_is_said_in_one_sentence(trait, complaint):
    with pytest.raises(ValueError, match=complaint) as caught:
        type("Hill", (Widget,), {"a": trait(), "b": Switch(True, label="more")})
    assert "\n" not in str(caught.value)


class Everything(Widget, abstract=True):
    """One control of each kind."""

    names = traitlets.Dict({"x": 1, "y": 2}).tag(sync=True)
    plain = Number(1.0, low=-2.0, high=2.0, label="plain")
    steep = Number(1.0, low=0.001, high=3.0, scale="decades", label="steep", hint="be gentle")
    whole = Whole(None, low=1, high=1000, scale="octaves", step=0.1, none="all", label="whole")
    name = Name("x", among="names", label="name")
    kind = Choice("b", {"a": "first", "b": "second"}, label="kind")


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"plain": 2.1}, "plain must be -2 to 2, got 2.1"),
        ({"plain": math.nan}, "plain must be -2 to 2, got nan"),
        ({"steep": 0.0}, "steep must be 0.001 to 3, got 0.0; be gentle"),
        ({"whole": 1001}, "whole must be 1 to 1,000, got 1001"),
        ({"whole": 1.5}, "expected an int"),
        ({"name": "z"}, "name must be one of .* got 'z'"),
        ({"kind": "c"}, "'c'"),
    ],
)
def test_a_value_out_of_its_declared_range_is_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        Everything(**state)


def test_the_page_gets_what_the_class_declares():
    spec = Everything(whole=3)._spec
    assert spec["traits"] == ["names", "plain", "steep", "whole", "name", "kind"]
    assert spec["controls"]["steep"]["high"] == 3.0
    assert spec["controls"]["kind"]["options"] == [["a", "first"], ["b", "second"]]
    json.dumps(spec, allow_nan=False)
    with pytest.raises(traitlets.TraitError, match="read-only"):
        Everything()._spec = {}


SLIDERS = [
    (getattr(widgets, name), trait, control)
    for name in widgets.__all__
    for trait, control in getattr(widgets, name).spec()["controls"].items()
    if control["kind"] == "number"
]


@pytest.mark.parametrize(
    ("kind", "trait", "control"), SLIDERS, ids=[f"{k.__name__}.{t}" for k, t, _ in SLIDERS]
)
def test_a_slider_reaches_both_ends_and_nothing_beyond(javascript, kind, trait, control):
    ends = javascript("kit/bind.js", "ends", control)
    count = round((ends["max"] - ends["min"]) / ends["step"])
    places = ends["min"] + ends["step"] * np.arange(count + 1)
    places = places if len(places) < 80 else np.concatenate([places[:30], places[-30:]])
    values = [javascript("kit/bind.js", "valueAt", control, place) for place in places.tolist()]
    assert {min(values), max(values)} == {control["low"], control["high"]}
    declared = getattr(kind, trait)
    for value in values:
        assert declared.validate(None, value) == value  # Python takes what the page can set


@given(
    low=st.floats(-1e3, 1e3),
    width=st.floats(0.1, 1e3),
    scale=st.sampled_from(["linear", "falling", "decades", "octaves", "shifted"]),
    at=st.floats(0, 1),
    knee=st.sampled_from([1, 0.1, 50]),
)
def test_a_value_stays_in_its_range_wherever_the_slider_stands(
    javascript, low, width, scale, at, knee
):
    assume(low > 1e-3 or scale in ("linear", "falling"))
    control = {"low": low, "high": low + width, "scale": scale, "step": 0.01, "whole": False}
    control["knee"] = knee
    ends = javascript("kit/bind.js", "ends", control)
    place = ends["min"] + at * (ends["max"] - ends["min"])
    value = javascript("kit/bind.js", "valueAt", control, place)
    assert low <= value <= low + width
    back = {
        "linear": lambda v: v,
        "falling": lambda v: -v,
        "decades": lambda v: 10**v,
        "octaves": lambda v: 2**v,
        "shifted": lambda v: knee * (10**v - 1),
    }[scale](place)
    assert value == pytest.approx(np.clip(back, low, low + width), rel=0.005, abs=1e-9)


# ---------------------------------------------------------------- bundles


def test_the_bundles_are_current():
    assert stale() == [], "run `make widgets` and commit what it writes"


def test_a_bundle_carries_its_modules_and_takes_the_kit_from_outside(make_widget):
    widget = make_widget(style=".counter { color: var(--primer-blue); }")()
    kit, own = widget._esm.split(SHARED_ABOVE)
    assert kit.startswith("var kit=(")
    assert "A line" in own
    assert "import" not in own
    assert len(own) < 200
    shared, style = widget._css.split(SHARED_ABOVE)
    assert ".primer-widget { --primer-paper: #ffffff" in shared
    assert "body[data-jp-theme-light=false]" in shared
    assert style.strip() == ".counter{color:var(--primer-blue)}"


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        (
            'import { nothing } from "./line.js";\nexport default nothing;',
            "counter.js:1: .*nothing",
        ),
        ('import { x } from "./missing.js";\nexport default x;', "counter.js:1: .*missing.js"),
        ("export default {", "counter.js:1: "),
    ],
)
def test_a_module_that_cannot_be_bundled_says_where(make_widget, script, complaint):
    with pytest.raises(ValueError, match=complaint):
        make_widget(script=script)


def test_a_folder_without_its_module_is_one_sentence(make_widget, tmp_path):
    make_widget()
    (tmp_path / "widgets" / "counter" / "counter.js").unlink()
    with pytest.raises(ValueError, match=r"^widgets/counter has no counter.js: write the module"):
        bundles(tmp_path / "widgets")


def test_a_widget_without_a_bundle_says_what_to_do(make_widget, tmp_path):
    make_widget()
    (tmp_path / "widgets" / "static" / "counter.js").unlink()
    with pytest.raises(ValueError, match=r"no bundle of counter.js: run `make widgets`"):
        exec(compile(PYTHON, "counter.py", "exec"), {"__name__": "counter"})


def test_widgets_share_one_kit():
    esms = [getattr(widgets, name)()._esm for name in widgets.__all__]
    assert len({esm.split(SHARED_ABOVE)[0] for esm in esms}) == 1
    assert len({esm.split(SHARED_ABOVE)[1] for esm in esms}) == len(esms)


@pytest.mark.parametrize("name", widgets.__all__)
def test_every_widgets_module_is_small_with_all_it_imports(name):
    assert len(gzip.compress(getattr(widgets, name)()._esm.encode())) <= 16 * 1024


READS = """
import sys
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
from primer.widgets import *
print(*(path for path in opened if path.endswith((".js", ".css"))), sep="\\n")
"""


def test_importing_the_widgets_reads_each_bundle_once_and_no_module():
    run = subprocess.run([sys.executable, "-c", READS], capture_output=True, text=True, check=True)
    read = run.stdout.split()
    own = [path for path in read if Path(path).is_relative_to(WIDGETS)]
    assert len(own) == len(set(own)) <= 2 * len(widgets.__all__) + 2
    assert {Path(path).parent for path in own} == {STATIC}


# ---------------------------------------------------------------- the kit's numbers


@given(x=st.floats(-1e6, 1e6), digits=st.integers(0, 8))
def test_format_is_python_fixed_point_with_a_minus_sign(javascript, x, digits):
    text = javascript("kit.js", "format", x, digits)
    assert not (text.startswith("−") and float(text[1:]) == 0)
    assert float(text.replace("−", "-")) == pytest.approx(x, abs=0.51 * 10**-digits)
    assert len(text.partition(".")[2]) == digits


@pytest.mark.parametrize(
    ("function", "given", "written"),
    [
        ("signed", [1.5, 2], "+1.50"),
        ("signed", [-0.2, 2], "−0.20"),
        ("signed", [0], "+0"),
        ("short", [5], "5"),
        ("short", [0.5], "0.5"),
        ("short", [-2.25], "−2.25"),
        ("short", [100], "100"),
        ("short", [0.126], "0.13"),
        ("significant", [0.5], "0.500"),
        ("significant", [-12.34], "−12.3"),
        ("significant", [99.97], "100"),
        ("significant", [99.6, 2], "100"),
        ("significant", [47_723.1], "47,700"),
        ("grouped", [12345.6], "12,346"),
        ("percent", [0.125], "12.5%"),
        ("percent", [0.13, 0], "13%"),
        ("scientific", [4.8e-9], "4.8·10⁻⁹"),
        ("scientific", [-1.25e10, 2], "−1.25·10¹⁰"),
        ("scientific", [0], "0"),
        ("counted", [1, "token"], "1 token"),
        ("counted", [1234, "token"], "1,234 tokens"),
        ("compact", [124_412_345], "124.4 M"),
        ("compact", [999], "999"),
        ("compact", [1000], "1.00 k"),
        ("compact", [9994], "9.99 k"),
        ("compact", [9996], "10.0 k"),
        ("compact", [250_000], "250.0 k"),
        ("compact", [999_499], "999.5 k"),
        ("compact", [999_700], "1.00 M"),
        ("compact", [0], "0"),
        ("compact", [2e15], "2000 T"),
        ("tuple", [[1, -2.5]], "(1.00, −2.50)"),
    ],
)
def test_numbers_are_written_as_people_write_them(javascript, function, given, written):
    own = {"compact": "large_numbers.js", "scientific": "scientific.js", "tuple": "tuple.js"}
    assert javascript(own.get(function, "kit/numbers.js"), function, *given) == written


@pytest.mark.parametrize(("length", "head"), [(100, 9), (18, 9), (4, 2)])
@pytest.mark.parametrize("turn", [0, 0.5, 2, -3])
def test_an_arrow_ends_in_a_head_of_two_strokes(javascript, length, head, turn):
    begin, along = np.array([3, -2]), np.array([math.cos(turn), math.sin(turn)])
    tip = begin + length * along
    drawn = javascript("kit/scales.js", "arrow", begin, tip)
    points = np.reshape([float(part) for part in re.findall(r"[-\d.]+", drawn)], (-1, 2))
    *shaft, left, top, right = points
    np.testing.assert_allclose([*shaft, top], [begin, tip, tip], atol=0.006)
    for side in (left, right):
        assert np.linalg.norm(side - tip) == pytest.approx(head, abs=0.02)
        back = (tip - side) @ along / head
        assert math.degrees(math.acos(back)) == pytest.approx(26, abs=1.5)
    across = np.array([-along[1], along[0]])
    assert (left - tip) @ across == pytest.approx(-(right - tip) @ across, abs=0.02)


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


@pytest.mark.parametrize("count", [1, 2, 7])
def test_between_has_equal_distances_and_both_ends(javascript, count):
    expected = np.linspace(-2, 5, count + 1)
    np.testing.assert_allclose(javascript("kit/numbers.js", "between", -2, 5, count), expected)


def test_what_a_fast_pointer_passed_over_is_painted(javascript):
    def painted(before, now, low=0, values=(0, 0, 0, 0, 0, 0)):
        return javascript("painted.js", "paintedOver", list(values), before, now, low)

    assert painted([1, 0.2], [3, 0.6]) == [0, 0.2, 0.4, 0.6, 0, 0]
    assert painted([3, 0.6], [1, 0.2]) == [0, 0.2, 0.4, 0.6, 0, 0]
    assert painted([0, 3], [0, 3]) == [1, 0, 0, 0, 0, 0]
    assert painted([5, -1], [5, -1]) == [0, 0, 0, 0, 0, 0]
    assert painted([4, -2], [5, 0.123], -1) == [0, 0, 0, 0, -1, 0.12]


@pytest.mark.parametrize(
    ("low", "high"), [(1, 0), (2, 2), (0, 0), (1, 1 + 1e-15), (-1.7e308, 1.7e308), (0, "nothing")]
)
def test_an_axis_without_length_has_no_ticks(javascript, low, high):
    assert javascript("kit.js", "ticks", low, high) == []


def test_colormap_is_viridis(javascript):
    for t in np.linspace(0, 1, 21):
        got = np.array(javascript("kit.js", "colormap", t)) / 255
        np.testing.assert_allclose(got, to_rgb(colormaps["viridis"](t)), atol=0.06)


@pytest.mark.parametrize("tenth", range(11))
def test_every_tenth_color_is_exact(javascript, tenth):
    exact = [round(255 * part) for part in to_rgb(colormaps["viridis"](tenth / 10))]
    assert javascript("kit/maps.js", "colormap", tenth / 10) == exact


def test_path_lifts_the_pen_at_a_gap(javascript):
    points = [[0, 1], [2, 3], [4, "gap"], [5, 6], [7, 8]]
    assert javascript("kit.js", "path", points) == "M0.00 1.00L2.00 3.00M5.00 6.00L7.00 8.00"


# ---------------------------------------------------------------- the base class


def test_widget_repr_is_short_and_names_no_data(make_widget):
    assert repr(make_widget()(number=7)) == "Counter(number=7)"


def test_widget_refuses_what_it_does_not_know(make_widget):
    with pytest.raises(traitlets.TraitError, match="Counter has no nubmer; it has number, data"):
        make_widget()(nubmer=3)
    with pytest.raises(traitlets.TraitError, match="should not be less than 0"):
        make_widget()(number=-1)
    with pytest.raises(traitlets.TraitError, match="expected an int"):
        make_widget()().number = "many"


def test_widget_offers_view_picture_and_words(make_widget):
    data, metadata = make_widget()()._repr_mimebundle_()
    assert set(data) == {
        "text/plain",
        "application/vnd.jupyter.widget-view+json",
        "image/png",
    }
    assert data["text/plain"] == "Counter(number=3)"
    assert data["image/png"].startswith("iVBOR")
    assert metadata["image/png"] == {"alt": "A number."}


# ---------------------------------------------------------------- the kit in a browser

PANEL = """
import { checkbox, color, draggable, heatMap, hover, html, mount } from "../kit/kit.js";
import { radio, update } from "../kit/kit.js";
import { play } from "../shared/play.js";

function render({ model, el }) {
  const map = html("canvas");
  const taller = html("canvas");
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
  hover(spot, (x, y) => { el.dataset.over = `${x.toFixed(2)} ${y.toFixed(2)}`; });
  el.append(map, spot, odd.row, pick.row, player.button);
  return mount({ model, el, traits: ["number"], draw() {
    el.dataset.draws = 1 + Number(el.dataset.draws ?? 0);
    el.dataset.blue = color(el, "blue");
    pick.set(model.get("number"));
    heatMap(map, [10, 11, 12, 0, NaN, 2], 3, [0, 17]);
    heatMap(taller, [1, 2, 3], 3, [0, 17]);
    heatMap(taller, [1, 2, 3, 4, 5, 6], 3, [0, 17]);
    el.dataset.taller = `${taller.width} ${taller.height}`;
  } });
}
export default { render };
"""


@pytest.fixture
def panel(make_widget):
    """Return a widget that shows one of everything in the kit."""
    return make_widget(script=PANEL)(number=0)


def frame_passed(page) -> dict[str, str]:
    """Return the panel's data after the next frame."""
    settle(page)
    return page.evaluate("({...document.getElementById('widget').dataset})")


@pytest.mark.browser
def test_heat_map_paints_from_the_top_and_leaves_nan_clear(widget_page, panel, javascript):
    page = widget_page(panel)
    pixels = page.evaluate(
        "[...document.querySelector('canvas').getContext('2d').getImageData(0, 0, 3, 2).data]"
    )
    got = np.reshape(pixels, (6, 4))
    assert got[4].tolist() == [0, 0, 0, 0]
    for at, value in ((0, 10), (1, 11), (2, 12), (3, 0), (5, 2)):
        np.testing.assert_array_equal(got[at, :3], javascript("kit.js", "colormap", value / 17))


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
def test_what_was_taken_away_is_drawn_no_more(widget_page, panel):
    page = widget_page(panel)
    page.evaluate("unmount()")
    before = frame_passed(page)["draws"]
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.set_viewport_size({"width": 700, "height": 900})
    page.evaluate("model.set('number', 5)")
    page.get_by_text("<b>drag me</b>").press("ArrowLeft")
    settle(page)
    assert frame_passed(page)["draws"] == before


@pytest.mark.browser
def test_only_a_mouse_without_a_button_down_hovers(widget_page, panel):
    page = widget_page(panel, has_touch=True)
    spot = page.get_by_text("<b>drag me</b>")
    spot.tap(position={"x": 30, "y": 30})
    assert "over" not in frame_passed(page)
    spot.hover(position={"x": 25, "y": 10})
    assert frame_passed(page)["over"] == "0.25 0.20"
    page.mouse.down()
    spot.hover(position={"x": 75, "y": 10})
    seen = frame_passed(page)
    assert (seen["over"], seen["at"]) == ("0.25 0.20", "0.75 0.20")
    page.mouse.up()
    spot.hover(position={"x": 50, "y": 10})
    seen = frame_passed(page)
    assert (seen["over"], seen["at"]) == ("0.50 0.20", "0.75 0.20")  # it was let go


@pytest.mark.browser
def test_a_page_that_slept_does_not_leap(widget_page, panel):
    page = widget_page(panel, clock=True, reduced_motion="no-preference")
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(100)
    page.clock.fast_forward(7000)
    page.clock.run_for(100)
    frames = json.loads(page.evaluate("widget.dataset.frames"))
    assert max(frames) == 0.5
    assert sorted(frames)[-2] < 0.1
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(100)
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(20)
    frames = json.loads(page.evaluate("widget.dataset.frames"))
    assert frames[-1] <= 0.02  # the pause does not count


@pytest.mark.browser
def test_a_map_grows_by_a_row(widget_page, panel):
    assert frame_passed(widget_page(panel))["taller"] == "3 2"


@pytest.mark.browser
def test_draggable_reports_fractions_and_keys_and_takes_text_as_text(widget_page, panel):
    page = widget_page(panel)
    spot = page.get_by_text("<b>drag me</b>")
    spot.click(position={"x": 75, "y": 25})
    assert frame_passed(page)["at"] == "0.75 0.50"
    steps = {"Left": "-1 0", "Right": "1 0", "Up": "0 1", "Down": "0 -1"}
    keys = {f"Arrow{to}": step for to, step in steps.items()}
    for key, step in (keys | {"PageUp": "0 10", "PageDown": "0 -10"}).items():
        spot.press(key)
        assert frame_passed(page)["step"] == step


@pytest.mark.browser
@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_play_respects_reduced_motion(widget_page, panel, motion):
    page = widget_page(panel, reduced_motion=motion, clock=True)
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(2000)
    page.get_by_role("button", name="Pause").click()
    frames = json.loads(page.evaluate("widget.dataset.frames"))
    assert frames.pop() == 0  # it has stopped
    assert frames.pop(0) == 0
    assert sum(frames) == pytest.approx(2, abs=0.6)
    assert len(frames) >= 3
    assert (min(frames) >= 0.5) == (motion == "reduce")


LAST_FRAME = """
import { mount } from "../kit/kit.js";
import { play } from "../shared/play.js";

function render({ model, el }) {
  let left = 3;
  el.append(play({ frame: () => --left > 0, end() { el.dataset.left = left; } }).button);
  return mount({ model, el, traits: ["number"], draw() {} });
}
export default { render };
"""


@pytest.mark.browser
def test_play_ends_with_the_last_frame(widget_page, make_widget):
    page = widget_page(make_widget(script=LAST_FRAME)(number=0), clock=True)
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(4000)
    assert page.evaluate("widget.dataset.left") == "0"
    assert page.get_by_role("button").inner_text() == "▶ Play"


# ---------------------------------------------------------------- declared controls in a browser

DECLARED = """
import traitlets
from primer.widgets.base import Widget
from primer.widgets.controls import *

class Counter(Widget):
    names = traitlets.Dict({"x": 1, "y": 2}).tag(sync=True)
    plain = Number(1.0, low=-2.0, high=2.0, unit=" m", label="plain", when=("more", True))
    steep = Number(1.0, low=0.001, high=3.0, scale="decades", digits=3, label="steep")
    count = Whole(None, low=1, high=1000, scale="octaves", step=0.1, none="all", label="count")
    size = Choice(8, (3, 8, 20), look="slider", label="size")
    name = Name("x", among="names", label="name")
    kind = Choice("b", {"a": "first", "b": "second"}, label="kind")
    more = Switch(True, label="more")
    part = Choice(0.5, (0.25, 0.5, 0.75), label="part", look="select")
"""
SHOWS = """
import { panel, widget } from "../kit/kit.js";
import { table } from "../shared/table.js";

export default widget("counter", ({ el, controls, write }) => {
  const drawing = panel({
    label: "A square", height: 200, margin: [10, 10, 40, 40],
    x: { domain: [-2, 2], label: "x" }, y: ({ steep }) => ({ domain: [0, steep], label: "y" }),
    layers: { line: "path", dot: { tag: "circle", many: true, r: 3 } }, over: { name: "text" },
    marks: [{ at: ({ plain }) => [plain, 0.5], label: ({ plain }) => `at ${plain}`,
      move: ([x]) => write({ plain: controls.plain.within(x) }), step: 0.25 }],
    draw({ line, dot, name }, { x, at, line: joined }, { plain, count }) {
      line(joined([[-2, 0], [plain, 0.5]]));
      dot(Array.from({ length: count ?? 0 }, (_, i) => i), (i) => ({ cx: x(i), cy: 100 }));
      name(plain > 1 ? null : "low", { x: 50, y: 50 });
    },
  });
  const numbers = table({ caption: "All", head: ["trait", "value"] });
  return {
    layout: [...Object.values(controls).map(({ row }) => row), drawing.element, numbers.element],
    texts: { size: (n) => `${n} of them` },
    draw(state) {
      el.dataset.draws = 1 + Number(el.dataset.draws ?? 0);
      drawing.draw(state);
      const rows = ["plain", "steep"].map((name) => [name, String(state[name])]);
      numbers.draw(state.more ? rows : rows.slice(0, 1), { chosen: 1, foot: ["sum", "3"] });
    },
  };
});
"""


@pytest.mark.browser
def test_the_widget_that_contributing_describes_works(make_widget, widget_page):
    text = (WIDGETS.parents[2] / "CONTRIBUTING.md").read_text("utf-8")
    section = text[text.index("## A new widget") :]
    python, script = (
        re.search(rf"```{kind}\n(.*?)```", section, re.S)[1] for kind in ("python", "js")
    )
    widget = make_widget(python.replace("class Hill", "class Counter"), script)
    page = widget_page(widget())
    page.get_by_label("Steepness a").press("End")
    settle(page)
    assert "stands at −10.00" in page.locator(".result").inner_text()
    assert widget()._repr_mimebundle_()[0]["image/png"]


ONCE = """
import { button, widget } from "../kit/kit.js";

export default widget("counter", ({ el, get, write, redraw }) => ({
  layout: [button("more", () => {
    write({ number: get("number") + 1 });
    redraw();
  })],
  draw() {
    el.dataset.draws = 1 + Number(el.dataset.draws ?? 0);
  },
}));
"""


@pytest.mark.browser
def test_what_is_drawn_at_once_is_not_drawn_again_in_the_next_frame(make_widget, widget_page):
    page = widget_page(make_widget(script=ONCE)())
    before = int(frame_passed(page)["draws"])
    page.evaluate("document.querySelector('button').click()")
    assert int(frame_passed(page)["draws"]) == before + 1


AT_ONCE = """
import { html, panel } from "../kit/kit.js";

function render({ el }) {
  const axis = { domain: [0, 1], label: "" };
  const drawing = panel({ label: "A square", height: 100, x: axis, y: axis, draw() {} });
  el.classList.add("primer-widget");
  el.append(html("div", { style: "width: 500px" }, drawing));
  drawing.draw({});
  Object.assign(el.dataset, { ready: "true", first: drawing.element.getAttribute("viewBox") });
}
export default { render };
"""


@pytest.mark.browser
def test_a_panel_fills_the_width_there_is_from_its_first_drawing_on(make_widget, widget_page):
    page = widget_page(make_widget(script=AT_ONCE)())
    assert page.evaluate("widget.dataset.first") == "0 0 500 100"


WORDS = """
import { panel, widget } from "../kit/kit.js";

export default widget("counter", () => {
  const y = ({ number }) => (
    { domain: [0, 2], ticks: [1], text: () => `the ${number}.`, label: "" });
  const drawing = panel({
    label: "A name", height: 100, x: { domain: [0, 1], label: "" }, y, draw() {},
  });
  return { layout: [drawing], draw: drawing.draw };
});
"""


@pytest.mark.browser
def test_an_axis_whose_numbers_stay_says_the_words_of_now(make_widget, widget_page):
    page = widget_page(make_widget(script=WORDS)(number=3))
    assert page.get_by_text("the 3.").is_visible()
    page.evaluate("model.set('number', 4)")
    settle(page)
    assert page.get_by_text("the 4.").is_visible()


MARKS = """
import { panel, widget } from "../kit/kit.js";

export default widget("counter", ({ el }) => {
  const note = (name) => (what) => { el.dataset[name] = what; };
  const drawing = panel({
    label: "Some marks", name: "some", height: (width) => width / 2, widest: 300,
    margin: [10, 20, 30, 40], x: { domain: [0, 10], label: "x" }, y: { domain: [0, 1], label: "y" },
    marks: [{
      count: ({ number }) => number,
      at: (_, i) => (i === 1 ? null : [i, 0.5]),
      label: (_, i) => `mark ${i}`,
      move: ([x, y], i) => note("moved")(`${i} ${x.toFixed(2)} ${y.toFixed(2)}`),
      step: [0.5, 0.25],
      take: note("taken"),
      press: { Delete: note("pressed") },
      live: ({ number }, i) => ({ "aria-valuenow": number + i }),
    }],
    draw() {},
  });
  return { layout: [drawing], draw: drawing.draw };
});
"""


@pytest.mark.browser
def test_marks_are_taken_moved_and_let_go(make_widget, widget_page):
    page = widget_page(make_widget(script=MARKS)())
    drawing, marks = page.locator("svg.some"), page.locator(".grip")
    told = "(name) => widget.dataset[name]"
    assert drawing.get_attribute("viewBox") == "0 0 300 150"
    assert drawing.bounding_box()["width"] == 300
    assert [marks.nth(i).is_visible() for i in range(3)] == [True, False, True]
    mark = page.get_by_role("button", name="mark 2")
    assert [mark.get_attribute(name) for name in ("cx", "cy")] == ["88", "65"]
    assert mark.get_attribute("aria-valuenow") == "5"
    keys = {"ArrowRight": "2 2.50 0.50", "ArrowUp": "2 2.00 0.75", "PageUp": "2 2.00 3.00"}
    for key, moved in keys.items():
        mark.press(key)
        assert page.evaluate(told, "moved") == moved
    assert page.evaluate(told, "taken") == "2"
    mark.press("Delete")
    assert page.evaluate(told, "pressed") == "2"
    box = mark.bounding_box()
    at = box["x"] + box["width"] / 2 + 10, box["y"] + box["height"] / 2 - 4
    page.mouse.move(*at)  # taken hold of beside its middle, it does not jump
    page.mouse.down()
    page.mouse.move(at[0] + 24, at[1] + 11)
    assert page.evaluate(told, "moved") == "2 3.00 0.40"
    page.mouse.up()
    page.mouse.move(at[0] + 48, at[1])
    assert page.evaluate(told, "moved") == "2 3.00 0.40"
    page.evaluate("model.set('number', 1)")
    settle(page)
    assert marks.count() == 1
    page.evaluate("model.set('number', 4)")
    settle(page)
    assert [mark.get_attribute("aria-label") for mark in marks.all()] == [
        *("mark 0", None, "mark 2", "mark 3")
    ]


# ---------------------------------------------------------------- long work

WORKSHOP = Path(__file__).with_name("workshop.mjs")


@pytest.mark.parametrize("drawing", [0.5, 2, 4, 20])
def test_work_leaves_the_page_alive_and_comes_to_an_end(javascript, drawing):
    shape = {"drawing": drawing, "piece": 0.4, "pieces": 60}
    frames = javascript(WORKSHOP, "frames", shape)
    assert sum(frame["worked"] for frame in frames) == 60
    # a frame draws, and no more
    assert [frame["took"] for frame in frames] == pytest.approx([drawing] * len(frames))
    assert all(frame["rest"] <= 5.4 for frame in frames)
    # however long the drawing takes, five milliseconds follow: twelve pieces
    assert all(frame["worked"] >= 12 for frame in frames[:-2])
    assert all(frame["drawn"] == 1 for frame in frames)
    last = frames[-1]
    assert (last["worked"], last["result"], last["busy"]) == (0, "done", False)


def test_a_question_that_changes_begins_anew(javascript):
    shape = {"drawing": 2, "piece": 0.4, "pieces": 60}
    frames = javascript(WORKSHOP, "frames", {**shape, "again": 3})
    assert [bool(frame["worked"]) for frame in frames[:6]] == [True] * 6
    assert sum(frame["worked"] for frame in frames[3:]) == 60


def test_who_wants_calm_sees_work_that_is_done(javascript):
    shape = {"drawing": 2, "piece": 0.4, "pieces": 60, "calm": True}
    frames = javascript(WORKSHOP, "frames", shape)
    assert [frame["drawn"] for frame in frames] == [0] * (len(frames) - 1) + [1]
    assert frames[-1]["result"] == "done"


@pytest.fixture
def declared(make_widget, widget_page):
    """Show a widget with one control of each kind; return the page and how to ask for a trait."""
    page = widget_page(make_widget(DECLARED, SHOWS)(), width=390, has_touch=True)
    return page, lambda name: page.evaluate("(name) => model.get(name)", name)


@pytest.mark.browser
def test_declared_controls_set_their_traits(declared):
    page, trait = declared
    page.get_by_label("plain").press("End")
    page.get_by_label("steep").press("End")
    page.get_by_label("count").press("Home")
    page.get_by_label("size").press("ArrowRight")
    page.get_by_label("name").select_option("y")
    page.get_by_label("first").check()
    page.get_by_label("part").select_option("0.75")
    assert trait("part") == 0.75
    assert [trait(n) for n in ("plain", "steep", "count", "size", "name", "kind")] == [
        *(2, 3, 1, 20),
        *("y", "a"),
    ]
    assert page.get_by_label("plain").get_attribute("aria-valuetext") == "2.00 m"
    page.get_by_label("count").press("End")
    assert trait("count") is None
    assert page.get_by_label("count").get_attribute("aria-valuetext") == "all"
    page.get_by_label("more").uncheck()
    settle(page)
    assert page.get_by_label("plain").is_disabled()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
def test_declared_controls_follow_their_traits(declared):
    page, _ = declared
    for name, value in {"plain": -1.5, "steep": 0.1, "count": 100, "size": 3, "kind": "a"}.items():
        page.evaluate("([name, value]) => model.set(name, value)", [name, value])
    settle(page)
    assert float(page.get_by_label("plain").input_value()) == -1.5
    assert float(page.get_by_label("steep").input_value()) == pytest.approx(-1, abs=0.006)
    assert page.get_by_label("size").input_value() == "0"
    assert page.get_by_label("first").is_checked()
    for name, words in {"plain": "−1.50 m", "steep": "0.100", "count": "100", "size": "3"}.items():
        row = page.locator(".control", has=page.get_by_label(name, exact=True))
        assert row.locator("output").inner_text() == words


@pytest.mark.browser
def test_a_panel_draws_in_data_and_its_marks_move(declared):
    page, trait = declared
    mark = page.get_by_role("button", name="at 1")
    mark.focus()
    mark.press("ArrowLeft")
    assert trait("plain") == 0.75
    settle(page)
    page.evaluate("""() => {
      const mark = document.querySelector("[aria-label='at 0.75']");
      const press = () => new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true });
      for (let i = 0; i < 2; i++) mark.dispatchEvent(press());
    }""")
    assert trait("plain") == 0.25  # two keys within one frame
    settle(page)
    mark = page.get_by_role("button", name="at 0.25")
    mark.press("ArrowRight")
    mark = page.get_by_role("button", name="at 0.5")
    mark.press("PageDown")  # where nothing goes up and down, along
    assert trait("plain") == 0.5
    mark = page.get_by_role("button", name="at 0.5")
    box = mark.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(2000, box["y"], steps=3)
    page.mouse.up()
    assert trait("plain") == 2  # within its declared range, though the pointer went on
    settle(page)
    assert page.locator("svg text", has_text="low").is_hidden()
    page.evaluate("model.set('count', 7)")
    settle(page)
    assert page.locator("circle.dot").count() == 7
    width = page.locator("svg[role=group]").bounding_box()["width"]
    d = page.locator("path.line").get_attribute("d")
    x0, _, x1, _ = (float(v) for v in d.replace("M", "").replace("L", " ").split())
    assert (x0, x1) == (40, pytest.approx(width - 10, abs=0.01))


@pytest.mark.browser
def test_a_table_writes_only_the_cells_that_changed(declared):
    page, _ = declared
    page.evaluate("""() => {
      window.written = [];
      new MutationObserver((list) => written.push(...list.map((m) => m.target.nodeName)))
        .observe(document.querySelector("tbody"), { childList: true, subtree: true });
    }""")
    page.evaluate("model.set('steep', 2)")
    settle(page)
    assert page.evaluate("written") == ["TD"]
    assert page.locator("tbody tr.chosen th").inner_text() == "steep"
    assert page.locator("tfoot").inner_text().split() == ["sum", "3"]
    page.evaluate("model.set('more', false)")
    settle(page)
    assert page.locator("tbody tr").count() == 1


@pytest.mark.browser
def test_the_width_of_a_page_is_followed(declared):
    page, _ = declared
    before = page.locator("svg[role=group]").get_attribute("viewBox")
    page.set_viewport_size({"width": 700, "height": 900})
    page.wait_for_function(
        "(b) => document.querySelector('svg[role=group]').getAttribute('viewBox') !== b", arg=before
    )
    assert page.locator("svg[role=group]").get_attribute("viewBox").split()[2] > before.split()[2]


def test_every_field_for_text_looks_like_the_others() -> None:
    """Letters of 16 px, since a telephone enlarges the page at a field with smaller ones."""
    folder = Path(widgets.__file__).parent
    fields = [
        path
        for path in sorted(folder.glob("*/*.js"))
        if path.parent.name not in {"kit", "shared", "static"}
        and re.search(r"textInput\(|html\(\"textarea\"", path.read_text("utf-8"))
    ]
    assert len(fields) > 5
    for path in fields:
        (rule,) = re.findall(
            rf"^\.{path.parent.name.replace('_', '-')} textarea \{{(.*)\}}$",
            path.with_suffix(".css").read_text("utf-8"),
            re.MULTILINE,
        )
        for part in ("1px solid var(--primer-muted)", "6px", "var(--primer-paper)", "16px"):
            assert part in rule, (path.name, part)


def sliders() -> list[Any]:
    """Return all sliders of all widgets, [name, control]."""
    kinds = ((name, getattr(widgets, name)) for name in widgets.__all__)
    return [
        pytest.param(getattr(kind, trait).control, id=f"{name}-{trait}")
        for name, kind in kinds
        for trait in kind.state_names()
        if isinstance(getattr(kind, trait), Number | Whole)
    ]


@pytest.mark.parametrize("control", sliders())
def test_the_last_step_of_a_slider_is_its_end(javascript, control):
    """A browser counts steps in decimals: a hair too little, and the last one is not reached."""
    ends = javascript("kit/bind.js", "ends", control)
    low, high, step = (Decimal(repr(ends[name])) for name in ("min", "max", "step"))
    last = javascript("kit/bind.js", "valueAt", control, float(low + (high - low) // step * step))
    assert last == pytest.approx(control["low" if control["scale"] == "falling" else "high"])
