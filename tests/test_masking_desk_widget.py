"""The masking desk: its JavaScript against the library, its state, its life in a page."""

from __future__ import annotations

import gzip
import itertools
import math

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, poisson
from widget_page import complaints, settle

from primer import pretraining as pre
from primer.notebook.figures import png
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
from primer.widgets.mulberry import mulberry

MODULE = "masking_desk.js"
N = len(TOKENS)
GIVEN = MaskingDesk.constants
seeds = st.integers(0, 999)
rates = st.one_of(
    st.floats(0.05, 0.6), st.sampled_from([0.125, 0.375])
)  # halves are rounded to even


def state(widget: MaskingDesk) -> dict[str, object]:
    """Return what the page knows of the widget."""
    return {name: getattr(widget, name) for name in ("objective", "rate", "length", "seed")}


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
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


def test_lengths_of_gaps_are_poissons():
    np.testing.assert_allclose(CHANCES["infill"], poisson(2).pmf(range(13)), atol=1e-12)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_loss_is_asked_where_something_is_to_be_said(objective):
    rows = MaskingDesk(objective=objective).rows()
    assert all(said for said, counts in zip(rows.targets, rows.counted, strict=True) if counts)
    assert rows.allowed.shape == (len(rows.inputs),) * 2
    assert png(MaskingDesk(objective=objective).picture()).startswith(b"\x89PNG")


def test_what_is_said(javascript):
    def line(**chosen):
        widget = MaskingDesk(**chosen)
        rows = javascript(MODULE, "prepare", state(widget), GIVEN)
        return javascript(MODULE, "describe", state(widget), rows)

    assert line(objective="next").startswith("11 of 11 places count in the loss; each sees itself")
    assert line(objective="prefix", length=4).startswith("8 of 11 places count")
    assert "the decoder writes 12; 12 of" in line(objective="infill")
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


def test_the_module_is_light():
    assert len(gzip.compress(MaskingDesk()._esm.encode())) < 16 * 1024


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1400])
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
    page.get_by_text("The rows in a table").click()
    rows = MaskingDesk(objective="infill", rate=0.6, seed=1).rows()
    assert page.get_by_role("row").count() == 1 + len(rows.inputs)
    assert page.locator(".spot .read").all_inner_texts() == rows.inputs
    page.get_by_role("combobox", name="Objective").select_option("prefix")
    settle(page)
    assert page.get_by_role("button", name="Draw again").count() == 0
    page.get_by_label("Prefix").press("End")
    settle(page)
    assert result.inner_text().startswith("1 of 11 places count")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("objective", ["masked", "cut"])
def test_everybody_can_read_it(widget_page, theme, objective):
    page = widget_page(MaskingDesk(objective=objective), width=390, theme=theme)
    assert complaints(page) == []
    page.get_by_text("The rows in a table").click()
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
