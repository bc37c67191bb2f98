"""Decoding: its JavaScript against the library, its state, its life in a browser."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, expect
from thorough import COLUMNS
from widget_page import complaints, settle, show_widget

from press.site import serve
from primer.inference import (
    MarkovModel,
    beam_steps,
    distinct_ngrams,
    effective_choices,
    entropy,
    final_loop,
    greedy,
    probabilities,
)
from primer.notebook.figures import png
from primer.transformers import load_pretrained
from primer.widgets import Decoding
from primer.widgets.base import Widget
from primer.widgets.shared.changed_model import stored_changes
from primer.widgets.shared.quantized import pack
from sphinx_widget_host import HOST, move_large_buffers, share_sources

NEXT_TOKEN, GENERATION = "next_token.js", "generation.js"


seeds = st.integers(0, 2**32 - 1)
temperatures = st.floats(0.1, 5)
masses = st.one_of(st.just(1.0), st.floats(0.01, 0.999))


def draw_logits(seed, n=50):
    """Draw logits, some of them equal."""
    rng = np.random.default_rng(seed)
    return rng.choice([rng.normal(0, 3, n), rng.integers(-3, 3, n).astype(float)])


# --- the mathematics, against primer --------------------------------------------------------------


@given(seeds, temperatures, st.one_of(st.none(), st.integers(1, 50)), masses)
def test_the_distribution_is_the_librarys(javascript, seed, temperature, top_k, top_p):
    logits = draw_logits(seed)
    options = {"temperature": temperature, "topK": top_k, "topP": top_p}
    got = np.array(javascript(NEXT_TOKEN, "distribution", logits, options))
    expected = probabilities(torch.from_numpy(logits), temperature, top_k, top_p).numpy()
    np.testing.assert_allclose(got, expected, atol=1e-6)
    np.testing.assert_array_equal(got > 0, expected > 0)  # the same tokens are cut


def test_the_nucleus_is_no_larger_than_it_must_be(javascript):
    logits = np.log([0.25, 0.5, 0.25])
    options = {"temperature": 1, "topK": None, "topP": 0.5}
    expected = probabilities(torch.from_numpy(logits), top_p=0.5)
    assert expected.tolist() == pytest.approx([0, 1, 0])
    assert javascript(NEXT_TOKEN, "distribution", logits, options) == pytest.approx([0, 1, 0])


@given(seeds)
def test_entropy_choices_and_argmax_are_the_librarys(javascript, seed):
    logits = draw_logits(seed)
    tensor = torch.from_numpy(logits)
    p = tensor.softmax(-1).tolist()
    assert javascript(NEXT_TOKEN, "entropy", p) == pytest.approx(float(entropy(tensor)), abs=1e-6)
    choices = javascript(NEXT_TOKEN, "effectiveChoices", p)
    assert choices == pytest.approx(float(effective_choices(tensor)), abs=1e-6)
    assert javascript(NEXT_TOKEN, "greedy", logits) == int(greedy(tensor))
    got = javascript(NEXT_TOKEN, "logSoftmax", logits)
    np.testing.assert_allclose(got, tensor.log_softmax(-1), atol=1e-9)
    order = tensor.argsort(descending=True, stable=True)
    assert javascript(NEXT_TOKEN, "ranked", logits) == order.tolist()
    for n in (1, 12, len(logits) + 1):
        assert javascript(NEXT_TOKEN, "leading", logits, n) == order[:n].tolist()


@given(seeds, st.floats(0, 1, exclude_max=True))
def test_a_token_is_drawn_by_its_part_of_the_unit_interval(javascript, seed, uniform):
    logits = torch.from_numpy(draw_logits(seed))
    p = probabilities(logits, top_k=7).numpy()
    expected = np.searchsorted(np.cumsum(p), uniform, side="right")
    if min(abs(np.cumsum(p) - uniform)) > 1e-12:  # on an edge either side is right
        assert javascript(NEXT_TOKEN, "draw", p, uniform) == expected


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"temperature": 0}, "temperature is above 0, not 0"),
        ({"temperature": -1}, "temperature is above 0, not -1"),
        ({"topP": 0}, r"top-p lies in \(0, 1\], not at 0"),
        ({"topP": 1.1}, "top-p"),
        ({"topK": 0}, "top-k is 1 to 3, not 0"),
        ({"topK": 4}, "top-k is 1 to 3, not 4"),
    ],
)
def test_settings_out_of_range_are_refused(javascript, options, complaint):
    with pytest.raises(RuntimeError, match=complaint):
        javascript(NEXT_TOKEN, "distribution", [1.0, 2.0, 3.0], options)


def test_where_rounding_leaves_a_rest_of_the_unit_interval_the_last_token_takes_it(javascript):
    assert javascript(NEXT_TOKEN, "draw", [0.25, 0, 0.5, 0], 0.75) == 2
    assert javascript(NEXT_TOKEN, "draw", [0.25, 0, 0.5, 0], 0.25) == 2
    assert javascript(NEXT_TOKEN, "draw", [0.25, 0.5, 0.25], 0.25) == 1


@given(seeds, st.integers(1, 4), st.booleans())
def test_a_beam_grows_as_the_librarys(javascript, seed, n_beams, ends):
    table = np.random.default_rng(seed).dirichlet(np.ones(6), 6)
    log_table = np.log(table)
    end = 5 if ends else None
    scores, last = [0.0], [0]
    for frontier in beam_steps(MarkovModel(torch.from_numpy(table)), [0], 4, n_beams, end):
        got = javascript(
            GENERATION, "extend", scores, log_table[last], n_beams, -1 if end is None else end
        )
        np.testing.assert_allclose(
            [one["score"] for one in got["alive"]], frontier.log_probabilities, atol=1e-6
        )
        assert [one["token"] for one in got["alive"]] == frontier.tokens[:, -1].tolist()
        for one in got["alive"]:  # of parents that are equally good either is right
            step = log_table[last[one["parent"]], one["token"]]
            assert one["score"] == pytest.approx(scores[one["parent"]] + step)
        np.testing.assert_allclose(
            [one["score"] for one in got["ended"]], [s for _, s in frontier.ended], atol=1e-6
        )
        scores = [one["score"] for one in got["alive"]]
        last = [one["token"] for one in got["alive"]]


@given(st.lists(st.integers(0, 3), min_size=4, max_size=40), st.integers(1, 4))
def test_repeats_are_those_that_distinct_ngrams_counts(javascript, tokens, n):
    repeated = javascript(GENERATION, "repeats", tokens, n)
    share = sum(repeated) / (len(tokens) - n + 1)
    assert 1 - share == pytest.approx(distinct_ngrams(torch.tensor(tokens), n))


@pytest.mark.parametrize(("tokens", "period"), [(29, 1), (30, 1), (29, 2), (32, 11), (33, 11)])
def test_a_loop_takes_three_rounds_and_thirty_tokens(javascript, tokens, period):
    text = [i % period for i in range(tokens)]
    looped = tokens >= max(3 * period, 30)
    assert (javascript(GENERATION, "finalLoop", text) is not None) == looped
    assert (final_loop(torch.tensor(text)) is not None) == looped


def test_two_rounds_of_many_tokens_are_no_loop(javascript):
    text = [*range(100, 120), *range(15), *range(15)]
    assert javascript(GENERATION, "finalLoop", text) is None
    assert final_loop(torch.tensor(text)) is None
    assert javascript(GENERATION, "finalLoop", [*text, *range(15)]) == {"start": 20, "period": 15}


@given(
    st.lists(st.integers(0, 2), max_size=12),
    st.lists(st.integers(0, 2), min_size=1, max_size=14),
    st.integers(1, 40),
    st.integers(0, 10),
)
def test_a_loop_at_the_end_is_the_librarys(javascript, before, piece, rounds, more):
    text = before + rounds * piece + piece[:more]
    got, expected = javascript(GENERATION, "finalLoop", text), final_loop(torch.tensor(text))
    if expected is None:
        assert got is None
    else:
        assert got == {"start": expected.start, "period": expected.period}


def test_the_result_line_compares_both_distributions(javascript):
    model, drawn = [0.5, 0.25, 0.125, 0.125], [0.5, 0.5, 0, 0]
    assert javascript("decoding.js", "describe", model, drawn) == (
        "The model's distribution has 1.21 nats of entropy, like 3.4 equally probable tokens; the "
        "one drawn from has 0.69 nats of entropy, like 2.0 equally probable tokens, and keeps 2 of "
        "4."
    )


# --- the Python side ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"temperature": 0.0}, "temperature must be 0.1 to 5, got 0.0; its limit 0 is greedy"),
        ({"temperature": float("nan")}, "temperature must be"),
        ({"top_k": 0}, "top_k must be 1 to 1,048,576, got 0; None keeps all"),
        ({"top_k": 1025}, "top_k must be 1 to 1024"),
        ({"top_p": 0.0}, "top_p must be 0.01 to 1, got 0.0; 1 keeps all"),
        ({"top_p": 1.5}, "top_p must be"),
        ({"n_tokens": 0}, "0"),
        ({"n_beams": 7}, "7"),
        ({"seed": -1}, "-1"),
        ({"text": "\ud800"}, "half a character"),
        ({"checkpoint": b"nothing"}, "checkpoint: this is no whole language model"),
        ({"change": "gpt"}, "change must be one of 'plays', 'docstrings', 'aligned', got 'gpt'"),
        ({"changes": {"plays": b"nothing"}}, "changes, 'plays': these are no stored factors"),
        (
            {"checkpoint": pack(*load_pretrained("plays-1")), "changes": stored_changes()},
            "changes, 'docstrings': this change was trained beside another model",
        ),
        (
            {"checkpoint": pack(*load_pretrained("plays-1")), "change": "aligned"},
            "change must be one of 'plays', got 'aligned'",
        ),
        ({"prompt": "To be"}, "Decoding has no prompt"),
    ],
)
def test_bad_state_is_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        Decoding(**state)


@pytest.mark.parametrize("text", ["To be", "", "word " * 400])
def test_there_is_a_picture(text):
    Decoding(text=text).picture().draw_without_rendering()


def test_there_is_a_picture_in_pixels():
    assert png(Decoding().picture()).startswith(b"\x89PNG")


def test_another_model_may_not_come_below_the_changes():
    widget = Decoding()
    with pytest.raises(traitlets.TraitError, match="trained beside another model"):
        widget.checkpoint = pack(*load_pretrained("plays-1"))


def test_what_the_chapter_says_of_the_three_models_holds():
    plays, docstrings, aligned = (
        Decoding(text=EXAMPLE, change=change) for change in ("plays", "docstrings", "aligned")
    )
    end = plays.encoding().special_tokens["<|end|>"]
    assert plays.encoding().decode(aligned.greedy()) == "Anon!<|end|>"
    assert end not in plays.greedy()
    assert end not in docstrings.greedy()
    for widget, begins in ((plays, ",\nAnd I "), (docstrings, "\n-----"), (aligned, "!<|end|>")):
        widget.text = "See also"
        assert widget.encoding().decode(widget.greedy()).startswith(begins)


def test_what_the_chapter_lets_the_reader_try_holds():
    cold = Decoding(temperature=0.1)
    assert f"{cold.logits().softmax(-1).max():.3f}" == "0.146"
    assert f"{cold.distribution().max():.3f}" == "0.986"
    kept = []
    for text in ("My lord, I", "Enter the King of "):
        cold.text = text
        kept.append(float(cold.logits().softmax(-1).topk(5).values.sum()))
    assert 1 - kept[0] == pytest.approx(0.59, abs=0.005)
    assert 1 - kept[1] == pytest.approx(1 / 8, abs=0.005)


def test_the_best_text_leads_through_the_tree_even_when_it_has_ended(javascript):
    def beam(parent, token):
        return {"parent": parent, "token": token, "score": 0}

    steps = [
        {"alive": [beam(0, 5), beam(0, 7)]},
        {"alive": [beam(1, 5), beam(0, 5), beam(1, 9)]},
        {"alive": [beam(2, 5), beam(0, 6)]},
    ]
    leaders = functools.partial(javascript, "decoding_panels.js", "leaders", steps)
    assert leaders({"tokens": [7, 9, 5]}) == [1, 2, 0]
    assert leaders({"tokens": [5, 5, 0]}) == [0, 1]  # the same tokens as 7's child, another parent
    assert leaders({"tokens": [0]}) == []  # nothing but the end


@pytest.mark.thorough
@pytest.mark.usefixtures("as_readers_run_it")  # a check of shapes at each step takes long
def test_of_the_seven_prompts_six_end_in_a_circle_and_one_counts_kings():
    widget = Decoding(n_tokens=200)
    leaves = []
    for prompt in widget.examples:
        widget.text = prompt
        tokens = widget.greedy()
        if final_loop(torch.tensor(tokens)) is None:
            leaves.append((prompt, widget.encoding().decode(tokens)))
    assert len(widget.examples) == 7
    [(leaver, written)] = leaves
    assert leaver == "Enter the King of "
    assert "KING HENRY VIIII\n" in written


# --- in a browser ---------------------------------------------------------------------------------

EXAMPLE = "HAMLET\nWho comes here?\n\nHORATIO\n"
TEXTS = "[...document.querySelectorAll('.continuation .text')].map((text) => text.textContent)"


def as_shown(widget, tokens):
    """Return tokens as a continuation shows them: that a text ends is said in words."""
    return widget.encoding().decode(list(tokens)).replace("<|end|>", " (the end)")


def finished(page):
    """Wait until the widget has read its prompt and written all texts."""
    settle(page)
    page.wait_for_selector("[aria-busy=false]", state="attached", timeout=120_000)


def numbers(page, number):
    """Return the line of numbers of a continuation."""
    return page.locator(".continuation").nth(number).locator(".note").inner_text()


@pytest.mark.browser
def test_of_a_long_prompt_the_last_words_stand_before_what_continues_it(widget_page):
    text = "If it were done when it is done, then it were well it were done quickly: if the trammel"
    page = widget_page(Decoding(text=text, n_tokens=3, n_beams=1))
    finished(page)
    begins = page.locator(".continuation .beginning").first
    assert begins.inner_text() == "… done quickly: if the trammel"
    titles = page.locator(".continuation b").all_inner_texts()
    assert titles[:3] == ["Greedy", "Beam search, 1 beam: greedy", "Sample, seed 1"]
    whole = "I have done the deed. Didst thou"
    assert len(whole) == 32  # as many letters as there is room for
    for text, shown in ((whole, whole), (f"{whole}?", "… have done the deed. Didst thou?")):
        prompt = page.get_by_role("textbox", name="Prompt")
        assert prompt.get_attribute("maxlength") == "4000"
        prompt.fill(text)
        settle(page)
        expect(begins).to_have_text(shown)
    finished(page)
    page.evaluate(f"model.set('seed', {Decoding.constants['seeds'] - 1})")
    page.get_by_role("button", name="Draw again").press("Enter")
    assert page.evaluate("model.get('seed')") == 2  # after the last seed come the first
    page.evaluate("(text) => model.set('text', text)", f"{EXAMPLE}Anon!")
    page.evaluate("model.set('change', 'aligned')")
    settle(page)
    finished(page)
    ends, other = (page.locator(".bars button").nth(i) for i in (0, 1))
    assert ends.inner_text().startswith("the end")
    assert ends.is_disabled()  # nothing is appended to a text that has ended
    assert other.is_enabled()


@pytest.mark.browser
@pytest.mark.usefixtures("as_readers_run_it")
def test_greedy_and_beam_write_what_the_library_writes(widget_page):
    widget = Decoding(n_tokens=30, n_beams=3)
    page = widget_page(widget)
    finished(page)
    texts = page.evaluate(TEXTS)
    assert texts[0] == widget.encoding().decode(widget.greedy())
    best = widget.beam()
    assert texts[1] == widget.encoding().decode(list(best.tokens))
    assert page.locator(".continuation .beginning").all_inner_texts() == [widget.text] * 5
    assert numbers(page, 1).startswith(f"log p = −{-best.log_probability:.1f}, ")
    assert page.locator(".tree g.best").count() == 30
    assert page.locator(".tree g g").count() == 3 * 30


@pytest.mark.browser
@pytest.mark.usefixtures("as_readers_run_it")
def test_the_reader_changes_the_model_by_keyboard(widget_page):
    page = widget_page(Decoding(text=EXAMPLE, n_tokens=16, n_beams=2))
    finished(page)
    choice = page.get_by_label("Model", exact=True)
    choice.focus()
    for change in ("docstrings", "aligned", "plays"):
        page.keyboard.press("Home" if change == "plays" else "ArrowDown")
        page.wait_for_function(f"model.get('change') === '{change}'")
        finished(page)
        widget = Decoding(text=EXAMPLE, n_tokens=16, n_beams=2, change=change)
        written = widget.greedy(), widget.beam().tokens
        assert page.evaluate(TEXTS)[:2] == [as_shown(widget, tokens) for tokens in written]
        first = 100 * float(widget.distribution().max())
        assert page.locator(".bars .value").first.inner_text() == f"{first:.1f}%"


@pytest.mark.browser
def test_who_brings_a_model_is_offered_no_changes(widget_page):
    page = widget_page(Decoding(checkpoint=pack(*load_pretrained("plays-1")), n_tokens=2))
    finished(page)
    assert page.locator("[data-trait=change]").is_hidden()


@pytest.mark.browser
def test_bars_are_the_distribution_and_settings_act_on_them(widget_page):
    widget = Decoding(top_k=5, top_p=1.0, n_tokens=2)
    page = widget_page(widget)
    finished(page)
    order = widget.logits().argsort(descending=True, stable=True)[:14].tolist()
    values = page.locator(".bars .value").all_inner_texts()
    drawn = widget.distribution()
    assert values == [f"{100 * float(drawn[token]):.1f}%" for token in order[:5]] + ["cut by k"] * 9
    result = page.locator(".result")
    assert "keeps 5 of 1024" in result.inner_text()
    p = widget.logits().softmax(-1).sort(descending=True).values
    rest, hidden = page.locator(".bars .note"), 100 * float(p[14:].sum())
    others = f"1010 other tokens hold {hidden:.1f}% of the model's probability;"
    assert rest.inner_text() == f"{others} all of them are cut."
    page.evaluate("model.set('top_k', 16)")
    finished(page)
    small = 100 * float((p[14:16] / p[:16].sum()).sum())
    assert rest.inner_text() == (
        f"{others} 2 of them are kept (faint in the strip), with {small:.1f}%."
    )
    page.evaluate("model.set('top_k', 5)")
    finished(page)
    parts = "[...document.querySelectorAll('.strip i')].map((part) => parseFloat(part.style.width))"
    top = 100 * float(p[:5].sum())
    np.testing.assert_allclose(page.evaluate(parts), [top, 0, 100 - top, 0], atol=0.01)
    page.get_by_label("Top-k").press("Home")
    finished(page)
    whole, each = (numbers(page, 0).split()[i] for i in (3, 4))
    assert float(each[1:]) == pytest.approx(float(whole[1:-1]) / 2, abs=0.03)
    assert numbers(page, 0).endswith(" a token; 0.0% repeated")
    assert "has 0.00 nats of entropy, like 1.0 equally probable" in result.inner_text()
    page.get_by_label("Top-k").press("End")
    page.get_by_label("Temperature").press("Home")
    finished(page)
    widget.top_k, widget.temperature = None, 0.1
    first = float(widget.distribution().max())
    assert page.locator(".bars .value").first.inner_text() == f"{100 * first:.1f}%"
    assert page.evaluate("model.get('top_k')") is None
    page.get_by_label("Temperature").press("End")
    finished(page)
    assert page.evaluate("model.get('temperature')") == 5


@pytest.mark.browser
def test_a_token_is_appended_and_samples_keep_to_their_seeds(widget_page):
    page = widget_page(Decoding(n_tokens=12, top_k=1))
    finished(page)
    texts = page.evaluate(TEXTS)
    assert texts[2] == texts[3] == texts[4] == texts[0]  # drawn from one token: greedy
    tree = page.locator(".tree")
    assert tree.get_attribute("tabindex") == "0"
    tree.evaluate("(e) => { e.scrollLeft = 90; }")
    assert tree.evaluate("(e) => e.scrollLeft") == 90
    page.locator(".bars button").first.press("Enter")
    finished(page)
    assert tree.evaluate("(e) => e.scrollLeft") == 0  # another tree is seen from its beginning
    text = page.evaluate("model.get('text')")
    assert text.startswith("My lord, I")
    assert len(text) > len("My lord, I")
    assert page.get_by_role("textbox", name="Prompt").input_value() == text
    page.get_by_label("Top-k").press("End")
    finished(page)
    first = page.evaluate(TEXTS)
    assert len(set(first[2:])) == 3
    page.get_by_role("button", name="Draw again").press("Enter")
    finished(page)
    assert page.evaluate("model.get('seed')") == 4
    assert set(page.evaluate(TEXTS)[2:]).isdisjoint(first[2:])
    for _ in range(3):
        page.get_by_label("Seed").press("ArrowLeft")
    finished(page)
    assert page.evaluate(TEXTS) == first


@pytest.mark.browser
@pytest.mark.parametrize("width", COLUMNS)
def test_what_is_written_has_its_room_from_the_beginning(widget_page, width):
    page = widget_page(Decoding(), width=width)
    page.wait_for_function("document.querySelector('.result').textContent")  # the prompt is read
    page.evaluate("""() => {
      window.heights = new Set();
      new ResizeObserver(([{ contentRect }]) => heights.add(Math.round(contentRect.height)))
        .observe(widget);
    }""")
    finished(page)
    first = page.evaluate("[...heights]")
    assert max(first) - min(first) <= 16, first  # the bar that scrolls the tree
    page.evaluate("heights.clear(); model.set('seed', 7)")
    settle(page)
    finished(page)
    page.evaluate("model.set('temperature', 1.2)")
    settle(page)
    finished(page)
    later = page.evaluate("[...heights]")
    assert not later or max(later) - min(later) <= 1, later


@pytest.mark.browser
def test_any_prompt_is_answered(widget_page):
    widget = Decoding(n_tokens=4, n_beams=2)
    page = widget_page(widget, width=390, has_touch=True)
    prompt = page.get_by_role("textbox", name="Prompt")
    prompt.fill("")
    finished(page)
    note = page.locator(".prompt .note")
    assert "needs a token to continue" in note.inner_text()
    assert not page.locator(".bars").is_visible()
    for text in ("🎭 Überall ∑", "so long a tale " * 40, "O"):
        prompt.fill(text)
        settle(page)  # it is begun; the next prompt comes while this one is read
    prompt.fill("xqz " * 140)
    finished(page)
    widget.text = "xqz " * 140
    assert len(widget.tokens()) == 252
    assert "there is room for the last 252" in note.inner_text()
    assert page.evaluate(TEXTS)[0] == widget.encoding().decode(widget.greedy())
    prompt.fill("Enter 🎭")
    finished(page)
    assert "no token for is read byte by byte" in note.inner_text()
    for n in (252, 253):  # digits are tokens
        prompt.fill("1" * n)
        more = "; there is room for the last 252 and the new ones" if n > 252 else ""
        expect(note).to_have_text(f"{n} tokens{more}.")
    prompt.fill("O")
    expect(note).to_have_text("1 token.")
    finished(page)
    page.locator(".bars button").nth(1).tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
@pytest.mark.usefixtures("as_readers_run_it")
def test_what_is_cut_says_by_which_and_a_loop_is_marked(widget_page):
    widget = Decoding(text="Good", top_k=10, top_p=0.2, n_tokens=110, n_beams=1)
    page = widget_page(widget)
    finished(page)
    kept = int((widget.distribution() > 0).sum())
    values = page.locator(".bars .value").all_inner_texts()
    assert values[kept:] == ["cut by p"] * (10 - kept) + ["cut by k"] * 4
    written = widget.greedy()
    loop = final_loop(torch.tensor(written))
    assert loop is not None
    rounds = (110 - loop.start) / loop.period
    again = 1 - distinct_ngrams(torch.tensor(written), 3)
    assert numbers(page, 0).endswith(
        f"; {100 * again:.1f}% repeated; in a loop of {loop.period} tokens, {rounds:.1f} rounds"
    )
    repeats = page.locator(".continuation").first.locator(".repeat")
    assert repeats.count() == round(again * 108)
    p = widget.logits().softmax(-1).sort(descending=True).values
    parts = "[...document.querySelectorAll('.strip i')].map((part) => parseFloat(part.style.width))"
    shares = [float(part.sum()) for part in (p[:kept], p[:0], p[10:], p[kept:10])]
    np.testing.assert_allclose(page.evaluate(parts), 100 * np.array(shares), atol=0.01)
    marked = page.locator(".continuation").first.locator(".round")
    first_round = marked.all_inner_texts()[: loop.period]
    tokens = written[loop.start : loop.start + loop.period]
    assert "".join(first_round).split() == widget.encoding().decode(tokens).split()


@pytest.mark.browser
def test_readers_who_want_calm_see_whole_texts(widget_page):
    page = widget_page(Decoding(n_tokens=20), reduced_motion="reduce")
    page.evaluate(
        f"""() => {{
          window.seen = new Set();
          const look = () => seen.add({TEXTS}[0]);
          new MutationObserver(look)
            .observe(document.querySelector(".text"), {{ childList: true, subtree: true }});
        }}"""
    )
    page.get_by_label("Prompt", exact=True).last.fill("My lord")
    finished(page)
    assert len([text for text in page.evaluate("[...seen]") if text]) <= 2


# Frames wait until they are let go: what has been drawn by then is what the widget begins with.
HELD = """(() => {
  const [waiting, frame] = [[], window.requestAnimationFrame.bind(window)];
  window.requestAnimationFrame = (call) => waiting.push(call);
  window.letGo = () => {
    window.requestAnimationFrame = frame;
    waiting.forEach((call) => frame(call));
  };
})()"""


@pytest.mark.browser
def test_before_the_prompt_is_read_no_token_can_be_pressed(chromium):
    page = chromium.new_page()
    page.evaluate(HELD)
    show_widget(page, Decoding())
    rows = page.locator(".bars button")
    assert rows.count() == Decoding.constants["shown"]
    assert page.locator(".bars button:disabled").count() == rows.count()
    assert page.locator(".bars button[aria-label]").count() == rows.count()
    page.evaluate("letGo()")
    expect(rows.first).to_be_enabled()
    assert "append it" in rows.first.get_attribute("aria-label")
    page.close()


@pytest.mark.browser
def test_it_is_accessible_and_leaves_nothing_behind(widget_page):
    page = widget_page(Decoding(), width=390)
    assert complaints(page) == []
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert complaints(page) == []
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0
    before = page.evaluate(TEXTS)
    for _ in range(10):
        settle(page)
    assert page.evaluate(TEXTS) == before


@pytest.mark.browser
@pytest.mark.parametrize("place", ["http", "file"])
def test_a_change_of_the_model_comes_when_it_is_chosen(
    chromium: Browser, tmp_path: Path, place: str
) -> None:
    widget = Decoding(text="HAMLET\nWho comes here?\n\nHORATIO\n", n_tokens=6, n_beams=1)
    saved = json.loads(json.dumps(Widget.get_manager_state(widgets=[widget]), default=str))
    folder = tmp_path / "widget-data"
    state = json.dumps(share_sources(move_large_buffers(saved, folder), folder))
    (tmp_path / HOST.name).write_bytes(HOST.read_bytes())
    kind, view = "application/vnd.jupyter.widget", json.dumps({"model_id": widget.model_id})
    (tmp_path / "page.html").write_text(
        f'<!doctype html><script async src="{HOST.name}"></script>'
        f'<script type="{kind}-state+json">{state}</script>'
        f'<main><script type="{kind}-view+json">{view}</script></main>',
        encoding="utf-8",
    )
    page = chromium.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    with serve(tmp_path) as home:
        page.goto(f"{home if place == 'http' else tmp_path.as_uri()}/page.html")
        page.wait_for_selector("html[data-widgets=ready]")
        page.mouse.move(9, 9, steps=2)  # the first is told as a move by nothing
        greedy = page.locator(".continuation").first.locator(".text")
        end = {"timeout": 60_000}
        expect(greedy).to_have_text(as_shown(widget, widget.greedy()), **end)
        before = len(asked)
        page.get_by_label("Model", exact=True).select_option("aligned")
        widget.change = "aligned"
        expect(greedy).to_have_text(as_shown(widget, widget.greedy()), **end)
        assert sum("widget-data" in url for url in asked[before:]) == 1  # not the docstrings' one
        page.close()
