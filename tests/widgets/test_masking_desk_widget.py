"""The masking desk: its JavaScript against the library, its state, its life in a page."""

from __future__ import annotations

import gzip
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import expect
from scipy.stats import kstest, poisson
from thorough import WIDTHS
from widget_page import complaints, settle

from primer import pretraining as pre
from primer.notebook.figures import png
from primer.transformers import load_pretrained
from primer.widgets import MaskingDesk
from primer.widgets.masking_desk import (
    CHANCES,
    MASK,
    MEAN_SPAN,
    OBJECTIVES,
    OTHERS,
    START,
    TOKENS,
    _masked,
)
from primer.widgets.shared.mulberry import mulberry
from primer.widgets.shared.quantized import book_model, book_twin, pack_masked, unpack_masked

MODULE = "masking_desk.js"
HARNESS = Path(__file__).with_name("masked_twin.mjs")
N = len(TOKENS)
GIVEN = MaskingDesk.constants
seeds = st.integers(0, 999)
rates = st.one_of(
    st.floats(0.05, 0.6), st.sampled_from([0.125, 0.375])
)  # halves are rounded to even


def state(widget: MaskingDesk) -> dict[str, object]:
    """Return what the page knows of the widget."""
    return {name: getattr(widget, name) for name in ("objective", "rate", "length", "seed")}


@pytest.fixture(scope="session")
def twin_file(tmp_path_factory):
    """Write the packed twin for Node to read."""
    file = tmp_path_factory.mktemp("model") / "twin.bin"
    file.write_bytes(book_twin())
    return str(file)


@given(seed=st.integers(0, 2**32 - 1))
def test_random_numbers_are_the_pages(javascript, seed):
    inputs, counted = _masked(mulberry(seed), 0.5)
    state = {"objective": "masked", "rate": 0.5, "length": 1, "seed": seed}
    got = javascript(MODULE, "prepare", state, GIVEN)
    assert (got["inputs"], got["counted"]) == (inputs, counted)


@given(
    objective=st.sampled_from(list(OBJECTIVES)), rate=rates, length=st.integers(1, 11), seed=seeds
)
@settings(max_examples=150, deadline=None)
def test_the_page_prepares_the_line_as_python(javascript, objective, rate, length, seed):
    widget = MaskingDesk(objective=objective, rate=rate, length=length, seed=seed)
    rows = widget.rows()
    got = javascript(MODULE, "prepare", state(widget), GIVEN)
    assert got["inputs"] == rows.inputs
    assert got["targets"] == rows.targets
    assert got["counted"] == rows.counted
    assert javascript(MODULE, "allowed", got) == rows.allowed.tolist()


def test_a_place_says_how_far_it_sees(javascript):
    assert javascript(MODULE, "reach", [True, False, False]) == "1–1"
    assert javascript(MODULE, "reach", [True, True, True]) == "1–3"


@pytest.mark.parametrize("seed", [13, 17, 27, 126, 155])
@pytest.mark.parametrize("rate", [0.5, 0.6])
def test_a_crowded_line_is_the_pages_too(javascript, seed, rate):
    """Where no place for a span is left, single words go, the last one among them."""
    widget = MaskingDesk(objective="spans", rate=rate, seed=seed)
    rows = widget.rows()
    got = javascript(MODULE, "prepare", state(widget), GIVEN)
    assert (got["inputs"], got["counted"]) == (rows.inputs, rows.counted)


@pytest.mark.parametrize("objective", ["spans", "cut", "infill"])
@pytest.mark.parametrize("seed", [0, 1])
def test_of_the_shortest_line_something_is_hidden(javascript, objective, seed):
    """A twentieth of four words is nearer to none than to one."""
    chosen = {"objective": objective, "rate": 0.05, "length": 1, "seed": seed}
    given = GIVEN | {"tokens": TOKENS[:4], "others": OTHERS[:1]}
    rows = javascript(MODULE, "prepare", chosen, given)
    if objective == "spans":
        assert sum(rows["counted"]) == 1
    else:
        read = rows["inputs"][: rows["inputs"].index(START)]
        assert sum(word in TOKENS[:4] for word in read) == 3


def test_random_numbers_are_uniform_and_differ_by_seed():
    draws = [list(itertools.islice(mulberry(seed), 2000)) for seed in range(3)]
    assert all(kstest(row, "uniform").pvalue > 1e-3 for row in draws)
    assert not set(draws[0]) & set(draws[1])
    with pytest.raises(ValueError, match="seed"):
        next(mulberry(-1))


@given(rate=rates, seed=seeds)
def test_what_is_cut_out_can_be_put_back(rate, seed):
    rows = MaskingDesk(objective="cut", rate=rate, seed=seed).rows()
    begin = rows.inputs.index(START)
    ids = {word: 100 + i for i, word in enumerate(f"<{i}>" for i in range(N))}
    ids |= {word: i for i, word in enumerate(TOKENS)}  # the second "be" is the first one here
    read, written = (
        torch.tensor([ids[word] for word in row])
        for row in (rows.inputs[:begin], rows.targets[begin:])
    )
    expected = [ids[word] for word in TOKENS]
    assert pre.restore(read, written, first_sentinel=100).tolist() == expected
    sizes = pre.span_sizes(N, rate, MEAN_SPAN)
    assert (len(read), len(written)) == (sizes.encoder, sizes.decoder)
    assert rows.inputs[begin + 1 :] == rows.targets[begin:-1]  # it reads what it has written


@given(rate=rates, seed=seeds)
def test_gaps_keep_the_order_and_hide_as_much_as_the_library(rate, seed):
    rows = MaskingDesk(objective="infill", rate=rate, seed=seed).rows()
    begin = rows.inputs.index(START)
    kept = [word for word in rows.inputs[:begin] if word != MASK]
    rest = iter(TOKENS)
    assert all(word in rest for word in kept)
    theirs = pre.infill(
        torch.arange(N), torch.Generator().manual_seed(seed), mask_id=99, rate=rate, mean_span=2
    )
    assert len(kept) == int((theirs.inputs < 99).sum())
    assert rows.targets[begin:] == TOKENS


@given(rate=rates, seed=seeds)
def test_spans_hide_as_much_as_the_library(rate, seed):
    rows = MaskingDesk(objective="spans", rate=rate, seed=seed).rows()
    theirs = pre.mask_spans(
        torch.arange(N),
        torch.Generator().manual_seed(seed),
        mask_id=99,
        vocab_size=N,
        rate=rate,
        longest=4,
    )
    assert sum(rows.counted) == int(theirs.counted.sum())
    for read, word, counts in zip(rows.inputs, TOKENS, rows.counted, strict=True):
        assert read in ([word, MASK, *OTHERS] if counts else [word])


def test_masks_have_the_shares_of_bert():
    drawn = [MaskingDesk(rate=0.3, seed=seed).rows() for seed in range(1000)]
    counted = np.array([rows.counted for rows in drawn])
    read = np.array([rows.inputs for rows in drawn])
    assert counted.mean() == pytest.approx(0.3, abs=4 * math.sqrt(0.21 / counted.size))
    shares = [(read == MASK)[counted], np.isin(read, OTHERS)[counted], (read == TOKENS)[counted]]
    for share, expected in zip(shares, pre.BERT_SPLIT, strict=True):
        assert share.mean() == pytest.approx(expected, abs=0.03)
    assert (read == TOKENS)[~counted].all()


def test_what_the_chapter_says_of_the_opening_holds():
    rows = MaskingDesk().rows()
    seen = [
        (read, said)
        for read, said, counts in zip(*rows[:3], strict=True)
        if counts and read != MASK
    ]
    assert sorted(read == said for read, said in seen) == [False, True]
    first, second = (MaskingDesk(objective=name).rows() for name in ("next", "prefix"))
    assert (first.inputs, first.targets) == (second.inputs, second.targets)
    assert first.counted != second.counted
    assert not torch.equal(first.allowed, second.allowed)


@pytest.mark.parametrize("length", [1, 4, 14, 64])
def test_the_page_computes_the_twins_logits(javascript, twin_file, length):
    model, encoding = unpack_masked(book_twin())
    draw = torch.Generator().manual_seed(length)
    ids = torch.randint(encoding.vocab_size, (1, length), generator=draw)
    with torch.no_grad():
        expected = model.double().logits(ids).flatten().numpy()
    got = javascript(HARNESS, "logits", twin_file, ids[0].tolist())
    np.testing.assert_allclose(got, expected, atol=2e-5)
    # it sees both sides: another last token changes what is said of the first
    if length > 1:
        ids[0, -1] = (ids[0, -1] + 1) % encoding.vocab_size
        other = javascript(HARNESS, "logits", twin_file, ids[0].tolist())
        assert np.abs(np.subtract(other, got))[: encoding.vocab_size].max() > 1e-3


def test_the_packed_twin_is_the_committed_one():
    packed, encoding = unpack_masked(book_twin())
    twin, tokens = pre.load_twin()
    assert encoding.tokens == tokens.tokens
    for name, weight in twin.state_dict().items():
        torch.testing.assert_close(packed.state_dict()[name], weight, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("objective", ["masked", "spans"])
@pytest.mark.parametrize("seed", range(6))
def test_the_page_fills_the_blanks_as_python(javascript, twin_file, objective, seed):
    widget = MaskingDesk(objective=objective, rate=0.4, seed=seed)
    got = javascript(HARNESS, "answers", twin_file, state(widget), GIVEN)
    expected = widget.answers()
    assert [one is None for one in got["places"]] == [one is None for one in expected]
    for one, answer in zip(got["places"], expected, strict=True):
        if answer is not None:
            assert one["said"] == answer.said
            assert one["sure"] == pytest.approx(answer.sure, abs=1e-6)
            assert one["right"] == pytest.approx(answer.right, abs=1e-6)
    solved = sum(one["correct"] for one in got["places"] if one)
    count = sum(answer is not None for answer in expected)
    assert f"The twin says {solved} of {count} right; its loss is" in got["said"]
    assert got["waiting"].endswith("The twin is reading.")


def test_the_loss_is_the_surprise_of_the_right_tokens(javascript, twin_file):
    """At a rate where one place counts, the loss is minus the logarithm of its chance."""
    for seed in range(40):
        widget = MaskingDesk(rate=0.05, seed=seed)
        places = [place for place, counts in enumerate(widget.rows().counted) if counts]
        if len(places) == 1 and places[0] < N - 1:
            got = javascript(HARNESS, "answers", twin_file, state(widget), GIVEN)
            chance = widget.answers()[places[0]].right
            assert got["loss"] == pytest.approx(-math.log(chance), abs=1e-4)
            return
    pytest.fail("no draw counts one place")


def test_every_word_but_the_last_is_one_token_of_the_twin():
    _, encoding = unpack_masked(book_twin())
    last = f" {TOKENS[-1]}"
    spaced = [f" {word}" for word in (*TOKENS[1:], *OTHERS) if word not in ",.:"]
    lengths = {word: len(encoding.encode(word)) for word in (TOKENS[0], ",", ":", ".", *spaced)}
    assert lengths.pop(last) == 3
    assert set(lengths.values()) == {1}


def test_the_twin_has_nothing_to_say_of_what_it_has_not_learned():
    assert MaskingDesk(objective="cut").answers() == [None] * len(
        MaskingDesk(objective="cut").rows().inputs
    )


def test_a_masked_model_reads_a_text_at_once(javascript, twin_file):
    with pytest.raises(RuntimeError, match="reads a text at once"):
        javascript(HARNESS, "after", twin_file, [1, 2])


def test_another_model_is_no_twin():
    for bad in (b"", book_twin()[:5000], book_model()):
        with pytest.raises(traitlets.TraitError, match="twin"):
            MaskingDesk(twin=bad)
    with pytest.raises(ValueError, match="the encoding makes 1024"):
        pack_masked(pre.load_twin()[0], load_pretrained("plays")[1])


def test_the_twin_is_small_enough_for_a_page():
    assert len(gzip.compress(book_twin(), 6)) < 0.8e6


def test_lengths_of_gaps_are_poissons():
    np.testing.assert_allclose(CHANCES["infill"], poisson(2).pmf(range(13)), atol=1e-12)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_loss_is_asked_where_something_is_to_be_said(objective):
    rows = MaskingDesk(objective=objective).rows()
    assert all(said for said, counts in zip(rows.targets, rows.counted, strict=True) if counts)
    assert rows.allowed.shape == (len(rows.inputs),) * 2
    MaskingDesk(objective=objective).picture().draw_without_rendering()


def test_there_is_a_picture_in_pixels():
    assert png(MaskingDesk().picture()).startswith(b"\x89PNG")


def test_what_is_said(javascript):
    def line(**chosen):
        widget = MaskingDesk(**chosen)
        rows = javascript(MODULE, "prepare", state(widget), GIVEN)
        return javascript(MODULE, "describe", state(widget), rows, None)

    assert line(objective="next").startswith("11 of 11 places count in the loss; each sees itself")
    assert line(objective="prefix", length=4).startswith("8 of 11 places count")
    assert "the decoder writes 12; 12 of" in line(objective="infill")
    assert line(objective="prefix", length=4).endswith(
        "the first 4 see each other and cost nothing."
    )
    for objective, seed in (("masked", 0), ("masked", 3), ("spans", 5)):
        chosen = {"objective": objective, "rate": 0.6, "seed": seed}
        rows = MaskingDesk(**chosen).rows()
        seen = [(read, said) for read, said, counts in zip(*rows[:3], strict=True) if counts]
        masks = sum(read == MASK for read, _ in seen)
        same = sum(read == said for read, said in seen)
        faces = f"masks {masks}, random {len(seen) - masks - same}, unchanged {same}."
        assert line(**chosen) == (
            f"Draw {seed + 1}, rate 60%: {len(seen)} of 12 places count in the loss: {faces} "
            "The twin is reading."
        )
    empty = next(s for s in range(99) if not sum(MaskingDesk(rate=0.05, seed=s).rows().counted))
    assert "there is no loss" in line(rate=0.05, seed=empty)


@pytest.mark.parametrize(
    "bad",
    [
        {"objective": "causal"},
        {"rate": 0.0},
        {"rate": math.nan},
        {"length": 12},
        {"length": 0},
        {"seed": -1},
        {"seed": 1000},
    ],
)
def test_bad_state_is_refused(bad):
    with pytest.raises(traitlets.TraitError):
        MaskingDesk(**bad)


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_objectives_rates_and_draws(widget_page, width):
    page = widget_page(MaskingDesk(), width=width)
    result = page.locator(".result")
    assert result.inner_text().startswith("Draw 1, rate 30%")
    page.get_by_role("button", name="Draw again").press("Enter")
    settle(page)
    assert result.inner_text().startswith("Draw 2, rate 30%")
    page.get_by_label("Rate").press("End")
    page.get_by_role("combobox", name="Objective").select_option("infill")
    settle(page)
    assert "rate 60%: the encoder reads" in result.inner_text()
    rate, prefix = page.get_by_label("Rate"), page.get_by_label("Prefix")
    assert (rate.is_visible(), prefix.is_visible()) == (True, False)
    page.get_by_text("The rows in a table").click()
    rows = MaskingDesk(objective="infill", rate=0.6, seed=1).rows()
    expect(page.get_by_role("row")).to_have_count(1 + len(rows.inputs))
    assert page.locator(".spot .read").all_inner_texts() == rows.inputs
    page.get_by_role("combobox", name="Objective").select_option("prefix")
    settle(page)
    assert page.get_by_role("button", name="Draw again").count() == 0
    assert (rate.is_visible(), prefix.is_visible()) == (False, True)
    prefix.press("End")
    settle(page)
    assert result.inner_text().startswith("1 of 11 places count")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_the_twin_fills_the_blanks_in_the_page(widget_page):
    page = widget_page(MaskingDesk())
    page.wait_for_function(
        "document.querySelector('.result').textContent.includes('The twin says')"
    )
    answers = [answer for answer in MaskingDesk().answers() if answer]
    expected = [f"{answer.said} {100 * answer.sure:.0f}%" for answer in answers]
    assert page.locator(".spot.counts .twin").all_inner_texts() == expected
    assert page.locator(".twin").count() == len(answers)
    page.get_by_role("combobox", name="Objective").select_option("cut")
    settle(page)
    assert page.locator(".twin").count() == 0
    assert "was not trained" in page.locator(".masking-desk").inner_text()


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("objective", ["masked", "cut"])
def test_everybody_can_read_it(widget_page, theme, objective):
    page = widget_page(MaskingDesk(objective=objective), width=390, theme=theme)
    assert complaints(page) == []
    page.get_by_text("The rows in a table").click()
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
