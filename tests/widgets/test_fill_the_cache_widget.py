"""A cache that fills: JavaScript against the library, the state, its life in a page."""

from __future__ import annotations

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from widget_page import settle

from primer.inference import held_positions, step_cost
from primer.notebook.figures import png
from primer.transformers import LLAMA_2_7B, cache_bytes
from primer.widgets.fill_the_cache import KEPT, LAYERS, PATTERNS, WINDOW, FillTheCache

FILE = "fill_the_cache.js"
states = st.fixed_dictionaries(
    {
        "shared": st.sampled_from(sorted(KEPT)),
        "every": st.sampled_from(sorted(PATTERNS)),
        "bits": st.sampled_from([16, 8, 4]),
        "prompt": st.integers(16, 3840),
        "written": st.integers(0, 256),
        "texts": st.integers(1, 256),
    }
)


@given(st.integers(0, 5000), st.integers(1, 40), st.integers(1, 2000), st.integers(1, 7))
def test_positions_are_the_librarys_and_those_of_a_window_that_slides(
    javascript, n, layers, window, every
):
    got = javascript(FILE, "heldPositions", n, layers, window, every)
    assert got == held_positions(n, layers, window, every)
    kept = [n - javascript(FILE, "firstHeld", layer, n, window, every) for layer in (1, every)]
    assert kept == [n if every == 1 else min(n, window), n]


@given(states)
def test_what_a_step_costs_is_the_librarys(javascript, state):
    widget = FillTheCache(**state)
    got = javascript(FILE, "costOf", state, FillTheCache.constants)
    want = widget.cost()
    assert [got[name] for name in want._fields] == pytest.approx(list(want), rel=1e-12)
    assert got["positions"] == widget.positions()


def test_all_heads_in_sixteen_bits_are_what_the_model_holds():
    for prompt, written in ((1000, 0), (3840, 256)):
        widget = FillTheCache(prompt=prompt, written=written)
        assert widget.cost().cache == cache_bytes(LLAMA_2_7B, prompt + written)
    assert step_cost(7, 0, 1.0, 1) == (14, 0.0, 14)


def test_the_lines_say_what_is_held_and_what_waits(javascript):
    state = {"shared": "groups", "every": 2, "bits": 8, "prompt": 2000, "written": 0, "texts": 8}
    constants = FillTheCache.constants
    cost = javascript(FILE, "costOf", state, constants)
    assert javascript(FILE, "formula", state, constants, cost) == (
        "A token in a layer: 2 · 1,024 numbers · 8 bits = 2,048 bytes. Held: × 48,384 such tokens "
        "× 8 texts = 792,723,456 bytes."
    )
    assert javascript(FILE, "describe", state, constants, cost) == (
        "Prefill: 16,000 rows share each weight that is fetched, so the memory waits for "
        "arithmetic. Decode: a step fetches 13.48 GB of weights and 0.79 GB of caches in 7.1 ms "
        "and computes for 0.37 ms: the arithmetic waits for memory. 1,121 tokens a second."
    )
    many = state | {"shared": "all", "bits": 16, "texts": 256}
    cost = javascript(FILE, "costOf", many, constants)
    assert "does not fit into 80 GB" in javascript(FILE, "describe", many, constants, cost)
    short = state | {"shared": "latent", "prompt": 16, "texts": 8}
    cost = javascript(FILE, "costOf", short, constants)
    line = javascript(FILE, "describe", short, constants, cost)
    assert "128 rows share each weight that is fetched, so the arithmetic waits for mem" in line
    tiny = short | {"shared": "one", "bits": 4, "texts": 1}
    cost = javascript(FILE, "costOf", tiny, constants)
    assert "and under 0.01 GB of caches" in javascript(FILE, "describe", tiny, constants, cost)


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"prompt": 4000}, "prompt must be 16 to 3,840"),
        ({"texts": 0}, "texts must be 1 to 256"),
        ({"bits": 3}, "bits"),
        ({"shared": "none"}, "shared"),
        ({"every": 3}, "every"),
    ],
)
def test_values_out_of_range_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        FillTheCache(**state)


def test_the_ink_of_the_still_picture_is_in_proportion_to_the_bytes():
    ink = {}
    for shared in ("all", "groups", "latent"):
        widget = FillTheCache(shared=shared, prompt=2000, every=2)
        paths = [p for c in widget.picture().axes[0].collections for p in c.get_paths()]
        ink[shared] = sum(np.prod(np.ptp(path.vertices, axis=0)) for path in paths)
        ink[shared] /= widget.cost().cache
    assert ink["groups"] == pytest.approx(ink["all"])
    assert ink["latent"] == pytest.approx(ink["all"])
    assert WINDOW < 2000
    assert LAYERS == 32


def test_it_has_a_picture():
    assert png(FillTheCache().picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fills_by_hand_and_by_itself(widget_page, width):
    page = widget_page(FillTheCache(), width=width)
    result = page.locator(".result")
    assert "0.56 GB of caches" in result.inner_text()
    page.get_by_label("Keys and values").select_option("latent")
    page.get_by_label("Layers").select_option("6")
    page.get_by_label("4", exact=True).check()
    page.get_by_role("slider", name="Prompt").press("End")
    page.get_by_role("slider", name="Texts at once").press("End")
    settle(page)
    assert page.evaluate("[model.get('prompt'), model.get('texts'), model.get('every')]") == [
        3840,
        256,
        6,
    ]
    assert "288 bytes" in page.locator("p.formula").inner_text()
    page.get_by_role("slider", name="Written").press("End")
    page.get_by_role("button", name="Write").click()
    page.wait_for_function("model.get('written') > 2 && model.get('written') < 256")
    page.get_by_role("button", name="Pause").click()
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0
