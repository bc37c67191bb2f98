"""The widgets: bundling, kit, state, picture, and their JavaScript against the library."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from primer.widgets import base
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
        "const format = 3;\n"
        "export const three = () => write(format, 1);\n"
        "export const few = () => ticks(0, 10, 5);\n"
    )
    bundled = bundle(module, KIT)
    assert "import" not in bundled
    assert "A name the kit has too" not in bundled
    path = write_module(tmp_path, bundled)
    assert javascript(path, "three") == "3.0"
    assert javascript(path, "few") == [0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize(
    ("module", "complaint"),
    [
        ("export default 1;\n", "exactly one import"),
        ('import { format } from "./kit.js";\nimport x from "y";\n', "exactly one import"),
        ('import * as kit from "./kit.js";\n', "exactly one import"),
        ('import { format, fromat } from "./kit.js";\n', r"not \['fromat'\]"),
    ],
)
def test_bundle_refuses_other_imports(module, complaint):
    with pytest.raises(ValueError, match=complaint):
        bundle(module, KIT)


# ---------------------------------------------------------------- the kit's numbers


@given(x=st.floats(-1e6, 1e6), digits=st.integers(0, 8))
def test_format_is_python_fixed_point_with_a_minus_sign(javascript, x, digits):
    text = javascript("kit.js", "format", x, digits)
    assert not (text.startswith("−") and float(text[1:]) == 0)
    assert float(text.replace("−", "-")) == pytest.approx(x, abs=0.51 * 10**-digits)
    assert len(text.partition(".")[2]) == digits


@given(low=st.floats(-1e4, 1e4), width=st.floats(1e-3, 1e4), count=st.integers(2, 12))
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
        'import { html } from "./kit.js";\nexport default { render() { html("p"); } };\n', "utf-8"
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
    assert "export default { render() { html(" in widget._esm
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
