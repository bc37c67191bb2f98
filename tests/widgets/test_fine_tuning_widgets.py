"""The widgets of fine-tuning: their JavaScript against the library, their state, their life."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load
from scipy.stats import entropy
from thorough import WIDTHS
from widget_page import complaints, settle

from primer import fine_tuning as ft
from primer.alignment.recorded import ALIGNED
from primer.datasets import split_plays
from primer.fine_tuning import stored
from primer.inference import probabilities
from primer.notebook.figures import png
from primer.transformers import load_pretrained
from primer.widgets import LoraDial, SixteenNumbers
from primer.widgets.lora_dial import DOCSTRING, NEW_TOKENS, PLAY, RANK
from primer.widgets.shared.changed_model import stored_changes
from primer.widgets.shared.mulberry import mulberry
from primer.widgets.shared.quantized import pack
from primer.widgets.sixteen_numbers import BLOCKS, CODES, PLACE, WEIGHTS

SIXTEEN = "sixteen_numbers.js"
VALUES = SixteenNumbers.constants["codes"]
codes = st.sampled_from(list(CODES))
blocks = st.sampled_from([0, 4, 5, 16])


def draw_weights(seed, n=40):
    """Draw weights, among them zeros and a block of nothing else, and halves between numbers."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(0, 0.1, n)
    weights[rng.random(n) < 0.1] = 0
    weights[: 8 * rng.integers(2)] = 0
    return weights


# --- sixteen numbers ------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1), code=codes, block=blocks)
def test_rounding_is_the_librarys(javascript, seed, code, block):
    weights = draw_weights(seed)
    stored = ft.quantize(torch.from_numpy(weights), CODES[code], block or None)
    got = javascript(SIXTEEN, "quantize", weights, VALUES[code], block)
    assert got["codes"] == stored.codes().tolist()
    np.testing.assert_allclose(got["constants"], stored.scales(), atol=1e-12)
    np.testing.assert_allclose(got["restored"], stored.dequantize(torch.float64), atol=1e-12)


@pytest.mark.parametrize("code", CODES)
def test_halfway_between_two_numbers_the_upper_one_is_taken(javascript, code):
    values = np.array(VALUES[code])
    halves = (values[1:] + values[:-1]) / 2
    got = [javascript(SIXTEEN, "nearest", half, VALUES[code]) for half in halves]
    assert got == list(range(1, len(values)))
    assert got == CODES[code].nearest(torch.from_numpy(halves)).tolist()


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("outlier", [0.0, 25.0])
def test_the_page_and_python_say_the_same_of_the_books_weights(javascript, block, outlier):
    widget = SixteenNumbers(code="int4", block=block, outlier=outlier)
    plain = np.frombuffer(widget.weights, "<f4").astype(float)
    weights = javascript(SIXTEEN, "withOutlier", plain, outlier, PLACE)
    np.testing.assert_allclose(weights, widget.shown(), atol=1e-12)
    got = javascript(SIXTEEN, "quantize", weights, VALUES["int4"], block)
    found = widget.rounded()
    np.testing.assert_allclose(got["restored"], found.weights, atol=1e-9)
    used = javascript(SIXTEEN, "usage", got["codes"], VALUES["int4"])
    np.testing.assert_allclose(used, found.used, atol=1e-9)
    assert javascript(SIXTEEN, "entropy", used) == pytest.approx(entropy(found.used, base=2))
    left_out = PLACE if outlier else -1
    errors = javascript(SIXTEEN, "errors", weights, got["restored"], block, left_out)
    assert errors["error"] == pytest.approx(found.error, abs=1e-9)
    np.testing.assert_allclose(errors["each"], found.block_errors, atol=1e-9)
    bits = javascript(SIXTEEN, "bitsOf", VALUES["int4"], block, WEIGHTS)
    assert bits == pytest.approx(widget.bits())


def test_bits_are_what_the_library_stores():
    for block in (16, 64, 256):
        widget = SixteenNumbers(block=block)
        stored = ft.quantize(widget.shown().float(), CODES["NF4"], block)
        assert widget.bits() == stored.bits_per_weight


def test_what_the_chapter_says_of_the_weights_holds():
    plain, spoiled = SixteenNumbers(), SixteenNumbers(outlier=30.0)
    before, after = plain.rounded(), spoiled.rounded()
    changed = np.flatnonzero(abs(after.block_errors - before.block_errors) > 1e-9)
    assert changed.tolist() == [PLACE // 64]  # an outlier spoils its own block
    alone, spread = (SixteenNumbers(block=0, outlier=size).rounded() for size in (0.0, 30.0))
    assert spread.error > 3 * alone.error
    assert before.used.max() > 3 * before.used.min()
    three, four = SixteenNumbers(code="NF3", block=16), SixteenNumbers(block=64)
    assert three.rounded().error > 1.5 * four.rounded().error
    assert [three.bits(), four.bits()] == [5, 4.5]
    tight = SixteenNumbers(block=16).rounded()
    assert entropy(tight.used, base=2) > entropy(before.used, base=2)


def test_the_result_line(javascript):
    used, state = [0.5, 0.0, 0.5], {"code": "int2", "block": 0, "outlier": 3.0}
    line = javascript(SIXTEEN, "describe", state, used, 0.25, 2.0)
    assert line == (
        "int2 in one block: 2 of 3 numbers are used, each by 50.0% to 50.0% of the weights: "
        "1.00 bits of entropy. The error of the other weights is 25.0% of their size; a weight "
        "costs 2.00 bits, constants included."
    )
    state |= {"block": 1024, "outlier": 0.0}
    line = javascript(SIXTEEN, "describe", state, used, 0.25, 2.0)
    assert line.startswith("int2 in blocks of 1,024:")
    assert "error of the weights" in line


def test_a_long_code_is_listed_by_its_most_used_numbers(javascript):
    values = [i / 20 for i in range(-20, 21)]
    used = [0.01 * (i % 7 + 1) for i in range(41)]
    listed = javascript(SIXTEEN, "rows", values, used)
    assert len(listed) == 16
    assert [share for _, share in listed].count("7.00%") == 5  # all of the most used
    assert len(javascript(SIXTEEN, "rows", [0, 1], [0.5, 0.5])) == 2


@pytest.mark.parametrize(
    "state",
    [
        {"code": "NF5"},
        {"block": 48},
        {"outlier": 41.0},
        {"outlier": math.nan},
        {"weights": b"few"},
        {"weights": bytes(4 * WEIGHTS)},
        {"weights": np.full(WEIGHTS, np.nan, "<f4").tobytes()},
        {"weights": np.append(np.arange(WEIGHTS - 1), np.inf).astype("<f4").tobytes()},
    ],
)
def test_bad_numbers_are_refused(state):
    with pytest.raises(traitlets.TraitError):
        SixteenNumbers(**state)


@pytest.mark.parametrize("code", CODES)
def test_sixteen_numbers_have_a_picture(code):
    SixteenNumbers(code=code, outlier=20.0, block=0).picture().draw_without_rendering()


def test_sixteen_numbers_have_a_picture_in_pixels():
    assert png(SixteenNumbers(outlier=20.0, block=0).picture()).startswith(b"\x89PNG")


# --- the LoRA dial --------------------------------------------------------------------------------

DIAL = Path(__file__).with_name("lora_dial.mjs")


@pytest.fixture(scope="session", params=["docstrings", "aligned"])
def dial_files(tmp_path_factory, request):
    """Write the model and a change for Node to read; say which change it is."""
    folder, widget = tmp_path_factory.mktemp("dial"), LoraDial()
    (folder / "checkpoint").write_bytes(widget.checkpoint)
    (folder / "change").write_bytes(widget.changes[request.param])
    return request.param, str(folder / "checkpoint"), str(folder / "change")


@pytest.mark.parametrize(("strength", "rank"), [(1.0, RANK), (-0.5, 3), (1.5, 0), (0.0, 5)])
@pytest.mark.parametrize("place", [(0, "attention.query"), (3, "feed_forward.down")])
def test_the_page_turns_the_matrices_as_the_library(javascript, dial_files, strength, rank, place):
    (change, *files), (layer, part) = dial_files, place
    got = javascript(DIAL, "matrix", *files, strength, rank, layer, part.split(".")[1])
    model = LoraDial(change=change).changed_model(strength, rank)
    expected = model.get_submodule(f"blocks.{layer}.{part}").weight.detach().flatten()
    np.testing.assert_allclose(got, expected, atol=1e-6)


@pytest.mark.parametrize(("strength", "rank"), [(1.0, RANK), (-0.5, 2), (1.5, 1)])
def test_the_page_is_as_surprised_as_the_library(javascript, dial_files, strength, rank):
    change, *files = dial_files
    widget = LoraDial(change=change, strength=strength, rank=rank)
    for passage, expected in zip((DOCSTRING, PLAY), widget.surprises(), strict=True):
        tokens = widget.encoding().encode(passage)
        got = javascript(DIAL, "nats", *files, strength, rank, tokens)
        np.testing.assert_allclose(got, expected, atol=2e-4)
        assert np.mean(got) == pytest.approx(float(expected.mean()), abs=2e-5)


@pytest.mark.parametrize("length", [4, 5, 6])
def test_every_token_but_the_first_surprises(javascript, dial_files, length):
    tokens = list(range(100, 100 + length))
    assert len(javascript(DIAL, "nats", *dial_files[1:], 1.0, RANK, tokens)) == length - 1


def test_the_page_counts_the_directions(javascript, dial_files):
    change, _, file = dial_files
    assert javascript(DIAL, "directions", file) == {"docstrings": 8, "aligned": 4}[change]


def test_the_page_breathes_after_every_matrix(javascript, dial_files):
    _, checkpoint, change = dial_files
    matrices = sum(name.endswith("unit") for name in load(Path(change).read_bytes()))
    assert javascript(DIAL, "breaths", checkpoint, change) == matrices > 10


def test_the_page_breathes_after_each_layer_that_four_tokens_have_passed(javascript, dial_files):
    layers = load_pretrained("plays")[0].config.n_layers
    for read, fours in ((8, 2), (9, 3)):
        tokens = list(range(100, 101 + read))  # the last one is only predicted
        assert javascript(DIAL, "pauses", dial_files[1], tokens) == fours * layers


def test_nobody_trained_on_the_passages():
    assert any(text.startswith(DOCSTRING) for text in ft.split_docstrings().test.values())
    assert PLAY in split_plays()[1]["The Tempest"]


def test_what_the_chapter_says_of_the_dial_holds():
    off, on = LoraDial(rank=0).losses(), LoraDial().losses()
    assert on[0] < off[0] - 2
    assert on[1] > off[1] + 0.3
    assert LoraDial(strength=0.0).losses() == pytest.approx(off, abs=1e-6)
    back = LoraDial(strength=-0.5).losses()
    assert back[0] > off[0]
    one = LoraDial(rank=1).losses()
    assert on[0] < one[0] < off[0]
    aligned = LoraDial(change="aligned").losses()
    assert aligned[0] > off[0] + 0.5  # nothing is predicted better by who was rewarded
    assert aligned[1] > off[1] + 0.2
    assert aligned == LoraDial(change="aligned", rank=4).losses()  # it has no more directions


def test_a_stored_change_is_the_trained_one_within_its_units():
    model = ft.add_lora(load_pretrained("plays-2")[0], 3, start="both random")
    factors = stored.unpack_lora(stored.pack_lora(model), model)
    for name, layer in ft.lora_layers(model).items():
        A, B = factors[name]
        assert (A.shape[1], B.shape[0]) == (3, 3)
        assert torch.dist(A @ B, layer.update()) < 0.03 * layer.update().norm()


@pytest.mark.parametrize("file", [stored.DOCSTRINGS, ALIGNED])
def test_the_first_directions_of_a_stored_change_are_its_strongest(file):
    for A, B in stored.unpack_lora(file.read_bytes(), load_pretrained("plays-2")[0]).values():
        size = A.norm(dim=0) * B.norm(dim=1)
        assert bool((size[:-1] >= 0.98 * size[1:]).all())


def test_a_change_of_another_model_is_refused():
    model = load_pretrained("plays-2")[0]
    change = {"blocks.0.attention.query": (torch.ones(4, 1), torch.ones(1, 128))}
    with pytest.raises(ValueError, match="belong to another model"):
        stored.turned(model, change, 1.0, 1)
    own = {"blocks.0.attention.query": (torch.ones(128, 1), torch.ones(1, 128))}
    with pytest.raises(ValueError, match="rank = 2 is more than the 1"):
        stored.turned(model, own, 1.0, 2)
    for damaged in (b"", b"nothing", stored.DOCSTRINGS.read_bytes()[:-1]):
        with pytest.raises(ValueError, match="no stored factors"):
            stored.unpack_lora(damaged, model)
    for file in (stored.DOCSTRINGS, ALIGNED):
        with pytest.raises(ValueError, match="trained beside another model"):
            stored.unpack_lora(file.read_bytes(), load_pretrained("plays-1")[0])
        with pytest.raises(ValueError, match="trained beside another model"):
            stored.unpack_lora(file.read_bytes(), torch.nn.Linear(2, 2))


def test_the_changes_are_small_together():
    assert sum(len(data) for data in stored_changes().values()) < 150_000


def test_the_line_under_the_dial(javascript):
    say = lambda strength, rank: javascript(  # noqa: E731
        "lora_dial.js", "describe", {"strength": strength, "rank": rank}, [3.0, 4.5], [7.0, 4.0]
    )
    assert say(1.0, 4) == (
        "Strength 1.00, rank 4: 3.00 nats per token on the docstring (−4.00), 4.50 on the speech "
        "(+0.50)."
    )
    same = javascript("lora_dial.js", "describe", {"strength": 1.0, "rank": 4}, [3, 4], [3, 4])
    assert same.count("(+0.00)") == 2  # what did not move has not fallen
    assert say(0.0, 4).startswith("Without the change: 3.00 nats per token on the docstring, 4.50")


@pytest.mark.parametrize(
    "state",
    [
        {"strength": 1.6},
        {"strength": math.nan},
        {"rank": 9},
        {"rank": -1},
        {"change": "nothing"},
        {"changes": {"docstrings": b"nothing"}},
        {"checkpoint": b"nothing"},
        {"checkpoint": pack(*load_pretrained("plays-1"))},
        {"text": "\ud800"},
    ],
)
def test_a_dial_refuses_what_it_cannot_show(state):
    with pytest.raises(traitlets.TraitError):
        LoraDial(**state)


def test_the_dial_has_a_picture():
    assert png(LoraDial(rank=2).picture()).startswith(b"\x89PNG")


# --- in a browser ---------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_an_outlier_takes_the_numbers_away(widget_page, width):
    page = widget_page(SixteenNumbers(), width=width)
    result = page.locator(".result")
    assert "16 of 16 numbers are used" in result.inner_text()
    page.get_by_role("combobox", name="Code").select_option("int4")
    page.get_by_label("Weights in a block").press("End")
    page.get_by_label("One outlier").press("End")
    settle(page)
    assert page.evaluate("model.get('block')") == 0
    assert "int4 in one block" in result.inner_text()
    assert "of 15 numbers are used" in result.inner_text()
    assert "other weights" in result.inner_text()
    page.get_by_text("The numbers in a table").click()
    settle(page)
    assert page.get_by_role("row").count() == 16
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_a_bar_for_each_block_and_one_with_the_outlier(widget_page):
    page = widget_page(SixteenNumbers(outlier=10.0))
    for block, code, gap, radius in (
        (16, "NF4", 0, 4),
        (64, "int8", 0.2, 1.5),
        (1024, "int3", 0.2, 4),
        (0, "NF4", None, 4),
    ):
        page.evaluate("([n, c]) => { model.set('block', n); model.set('code', c) }", [block, code])
        settle(page)
        count = WEIGHTS // (block or WEIGHTS)
        bars = []  # left, bottom, top and right of each
        for kind in ("bars", "spoiled"):
            drawn = page.locator(f"path.{kind}").get_attribute("d") or ""
            numbers = [float(part) for part in re.findall(r"[\d.]+", drawn)]
            bars += [(*bar[:4], kind) for bar in zip(*[iter(numbers)] * 5, strict=True)]
        bars.sort()
        assert len(bars) == count
        assert [b for b, bar in enumerate(bars) if bar[4] == "spoiled"] == [
            PLACE * count // WEIGHTS
        ]
        x, bottom, top, right = np.array([bar[:4] for bar in bars]).T
        width, height = right - x, bottom - top
        error = SixteenNumbers(outlier=10.0, block=block, code=code).rounded().block_errors
        np.testing.assert_allclose(height / max(height), error / max(error), rtol=1e-3, atol=1e-9)
        if gap is not None:  # a hundred bars and more stand without
            step = x[1] - x[0]
            assert step - width[0] == pytest.approx(gap * step, abs=1e-3)
        numbers = page.locator(".blocks .tick").all_text_contents()
        last = ["0", f"{count - 1}"] if count > 1 else ["0"]
        assert [text for text in numbers if "%" not in text] == last
        assert float(page.locator("circle.tops").first.get_attribute("r")) == radius


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("widget", [SixteenNumbers, LoraDial])
def test_everybody_can_read_them(widget_page, widget, theme):
    page = widget_page(widget(), width=390, theme=theme)
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_the_dial_is_turned(widget_page, width):
    page = widget_page(LoraDial(rank=2), width=width)
    result = page.locator(".result")
    done = "document.querySelector('.result').textContent.startsWith('{}')"
    page.wait_for_function(done.format("Strength 1.00, rank 2"))
    docstring, play = LoraDial(rank=2).losses()
    assert f"{docstring:.2f} nats per token on the docstring" in result.inner_text()
    assert f"{play:.2f} on the speech" in result.inner_text()
    page.get_by_label("Strength a").press("Home")
    page.wait_for_function(done.format("Strength −0.50, rank 2"))
    page.get_by_label("Rank r").press("Home")
    page.wait_for_function(done.format("Without the change"))
    page.wait_for_function("document.querySelector('.written').textContent.length > 60")
    page.get_by_role("button", name="Measure the whole curve").click()
    page.get_by_text("The measured points in a table").click()
    page.get_by_role("row").nth(1).wait_for()
    page.get_by_role("textbox", name="Continue").fill("")
    page.wait_for_function("document.querySelector('.written').textContent === ''")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
@pytest.mark.thorough
def test_the_whole_curve_is_measured(widget_page):
    page = widget_page(LoraDial(change="aligned", rank=1), clock=True)
    page.clock.run_for(400)
    page.get_by_role("button", name="Measure the whole curve").press("Enter")
    page.clock.run_for(800)
    page.get_by_text("The measured points in a table").click()
    rows = page.locator("tbody tr").evaluate_all("a => a.map((e) => e.innerText.split('\\t'))")
    strengths = [float(strength.replace("−", "-")) for strength, *_ in rows]
    assert strengths == [-0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 1.25, 1.5]
    widget = LoraDial(change="aligned", rank=1, strength=-0.25)
    assert rows[1] == ["−0.25", *(f"{loss:.2f}" for loss in widget.losses())]
    large = page.locator("circle.docstring-dot").evaluate_all(
        "a => a.map((e) => e.getAttribute('r') === '6')"
    )
    assert large == [strength == 1 for strength in strengths]  # here the dial stands
    page.get_by_label("Rank r").press("ArrowRight")
    page.clock.run_for(400)
    assert page.locator("tbody tr").count() == 2  # of another rank another curve


def continued(widget):
    """Continue the end of a dial's text with the draws that the page makes."""
    model = widget.changed_model(widget.strength, widget.rank)
    tokens = widget.encoding().encode(widget.text)[-(model.config.context_length - NEW_TOKENS) :]
    uniform, start, end = mulberry(1), len(tokens), widget.encoding().special_tokens["<|end|>"]
    while len(tokens) < start + NEW_TOKENS and tokens[-1] != end:
        with torch.no_grad():
            p = probabilities(model(torch.tensor([tokens]))[0, -1].double(), 0.7).numpy()
        tokens.append(int(np.searchsorted(np.cumsum(p), next(uniform), side="right")))
    return widget.encoding().decode(tokens[start:]).replace("<|end|>", " (the end)")


@pytest.mark.browser
def test_the_change_is_swapped_and_the_text_follows(widget_page):
    text = " ".join(str(n**3) for n in range(10, 75))  # longer than the model can read
    page = widget_page(LoraDial(text=text))
    result, written = page.locator(".result"), page.locator(".written span").last
    finished = "document.querySelector('[aria-busy]').getAttribute('aria-busy') === 'false'"
    page.wait_for_function(finished)
    assert written.text_content() == continued(LoraDial(text=text))
    assert page.locator(".written .beginning").text_content() == text
    # a token is as dark as it surprises, up to 10 nats; at 48 % it can still be read
    shades = page.locator(".reading span").evaluate_all(
        "a => a.map((e) => e.style.getPropertyValue('--surprise')).filter(Boolean)"
    )
    nats = np.concatenate(LoraDial(text=text).surprises())
    dark = [float(shade.removesuffix("%")) for shade in shades]
    np.testing.assert_allclose(dark, np.minimum(4.8 * nats, 48), atol=0.51)
    assert max(nats) > 10
    text = LoraDial.EXAMPLES[-1]
    page.get_by_role("textbox", name="Continue").fill(text)
    page.get_by_label("Trained on").focus()
    page.keyboard.press("ArrowDown")  # by keyboard alone
    page.wait_for_function(
        "document.querySelector('.result').textContent.startsWith('Strength 1.00, rank 4')"
    )
    assert page.evaluate("model.get('change')") == "aligned"
    widget = LoraDial(text=text, change="aligned")
    docstring, play = widget.losses()
    assert f"{docstring:.2f} nats per token on the docstring (+" in result.inner_text()
    assert f"{play:.2f} on the speech (+" in result.inner_text()
    page.wait_for_function(finished)
    assert written.text_content() == continued(widget)
    assert written.text_content().endswith("! (the end)")
    page.get_by_text("The measured points in a table").click()
    settle(page)
    assert page.get_by_role("row").count() == 3  # of this change alone, and without it
    for key, rank in (("Home", 0), ("End", 4)):  # it has no more directions
        page.get_by_label("Rank r").press(key)
        assert page.evaluate("model.get('rank')") == rank
