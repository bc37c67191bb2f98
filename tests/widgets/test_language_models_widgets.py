"""Shannon's game and the BPE stepper: JavaScript against the library; their life in a browser."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import example, given
from hypothesis import strategies as st
from thorough import WIDTHS, a_few
from widget_page import complaints, settle

from primer.datasets import split_plays
from primer.language_models import (
    END,
    PATTERN,
    BytePairEncoding,
    count_words,
    learn_merges,
    merges_by_rescan,
    next_characters,
    shannon_bounds,
)
from primer.language_models.merges import BYTE_ORDER
from primer.notebook.figures import png
from primer.scoreboard.letters import (
    FILE,
    GIVEN,
    LETTERS,
    ORDERS,
    PASSAGES,
    passages,
    symbols,
)
from primer.transformers import load_pretrained
from primer.widgets import BytePairStepper, ShannonGame
from primer.widgets.bpe_stepper import EXAMPLES, book_merges
from primer.widgets.shannon_game import HIGHEST, predictions
from studies.scoreboard.letters import counted, folded, prediction, trained

# ---------------------------------------------------------------- the next character from tokens


def random_predict(vocab_size, seed):
    """Make a model whose predictions depend on the last token, and on nothing else."""
    rows = np.random.default_rng(seed).dirichlet(np.ones(vocab_size), size=vocab_size + 1)
    return lambda tokens: np.log(rows[[vocab_size, *tokens]])


@given(st.integers(0, 10**6), st.text("abc", max_size=7))
def test_next_characters_are_those_of_a_sum_over_all_texts_of_tokens(seed, text):
    encoding = BytePairEncoding.train(["abcab abca cabca abab"], vocab_size=262)
    predict = random_predict(262, seed)
    expected: dict[str, float] = {}
    end = encoding.special_tokens[END]
    for cut in range(len(text) + 1):
        tokens = encoding.encode(text[:cut])
        log_p = predict(tokens)
        whole = np.exp(log_p[np.arange(len(tokens)), tokens].sum())
        for token in range(262):
            if token == end:
                longer, name = text[:cut] + "\0", END
            else:
                longer = text[:cut] + encoding.decode([token])
                name = longer[len(text) : len(text) + 1]
            if longer.startswith(text) and len(longer) > len(text):
                if name == END and cut < len(text):
                    continue
                expected[name] = expected.get(name, 0) + whole * np.exp(log_p[-1, token])
    total = sum(expected.values())
    found = next_characters(predict, encoding, text)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == pytest.approx(value / total, rel=1e-9)
    assert sum(found.values()) == pytest.approx(1)


def test_without_merges_the_next_character_is_the_next_token():
    encoding = BytePairEncoding([], ())
    predict = random_predict(256, 3)
    found = next_characters(predict, encoding, "ab")
    assert found["c"] == pytest.approx(np.exp(predict([97, 98])[-1, 99]))


def test_predictions_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"numbers of shape \(1, 256\), got shape \(1, 3\)"):
        next_characters(lambda tokens: np.zeros((1, 3)), BytePairEncoding([], ()), "")


@pytest.mark.thorough
@pytest.mark.usefixtures("as_readers_run_it")  # a check of shapes at each step takes long
def test_letter_by_letter_a_text_costs_no_more_than_token_by_token():
    """The sum over tokens that may still end elsewhere holds the one encoding among others."""
    model, encoding = load_pretrained("plays")
    before, text = passages()["verse"]
    start, whole = encoding.encode(before), encoding.encode(before + text)
    assert whole[: len(start)] == start
    with torch.no_grad():
        read = torch.tensor([[encoding.special_tokens[END], *whole]])
        log_p = model(read)[0, :-1].double().log_softmax(-1)
    spent = -log_p[torch.arange(len(whole)), whole][len(start) :].sum() / np.log(2)
    letters = sum(-np.log2(trained()(before + text[:i])[text[i]]) for i in range(len(text)))
    assert 0.97 * float(spent) < letters < 1.01 * float(spent)


# ---------------------------------------------------------------- Shannon's game: what is stored


@pytest.mark.parametrize("passage", PASSAGES)
@pytest.mark.parametrize("model", [*ORDERS, *(f"{name} unsmoothed" for name in ORDERS)])
def test_stored_predictions_of_counts_are_the_librarys(passage, model):
    name, _, bare = model.partition(" ")
    check_stored(passage, model, counted(ORDERS[name], not bare), range(GIVEN + LETTERS))


@pytest.mark.parametrize("passage", a_few(PASSAGES, {"verse"}))
@pytest.mark.usefixtures("as_readers_run_it")  # a check of shapes at each step takes long
def test_stored_predictions_of_the_transformer_are_the_librarys(passage):
    check_stored(passage, "transformer", trained(), range(0, GIVEN + LETTERS, 7))


def check_stored(passage, model, expect, places):
    before, text = passages()[passage]
    column = predictions()["passages"][passage]["models"][model]
    assert predictions()["passages"][passage]["text"] == text
    for i in places:
        p = folded(expect(before + text[:i]))
        truth = p[symbols().index(text[i].lower())]
        stored = column["bits"][i]
        assert (stored is None) == (truth == 0)
        if stored is not None:
            assert stored == pytest.approx(-np.log2(truth), abs=1e-5)
            # as many guesses as letters that are at least as probable; models of floats may tie
            rank = column["order"][i].index(text[i].lower()) + 1
            assert (p > truth * (1 + 1e-5)).sum() < rank <= (p >= truth * (1 - 1e-5)).sum()
        shares = [p[symbols().index(letter)] for letter in column["order"][i][:5]]
        np.testing.assert_allclose(np.array(column["shares"][i]) / 1e7, shares, atol=1e-6)
        np.testing.assert_allclose(shares, np.sort(p)[:-6:-1], atol=1e-6)


def test_what_is_stored_is_what_a_prediction_gives():
    before, text = passages()["prose"]
    row = prediction(counted(3, smoothing=True), before + text[:50], text[50])
    column = predictions()["passages"]["prose"]["models"]["3-gram"]
    assert row["order"] == column["order"][50]
    assert set(text.lower()) <= set(symbols())


def test_what_is_stored_is_small():
    assert len(gzip.compress(FILE.read_bytes())) < 100_000


# ---------------------------------------------------------------- Shannon's game: the rules


@given(st.lists(st.integers(1, 54), min_size=1, max_size=200))
@example([1])
@example([54])
def test_bounds_are_the_librarys(javascript, ranks):
    found = javascript("shannon_game.js", "shannonBounds", ranks)
    np.testing.assert_allclose(found, shannon_bounds(np.array(ranks)), atol=1e-9)


@given(st.permutations("abcdef"), st.sampled_from("abcdef"))
def test_guesses_are_counted_and_repeated_ones_are_not(javascript, order, truth):
    state = {"ranks": [3], "tried": ""}
    for letter in order:
        if len(state["ranks"]) == 1:
            state = javascript("shannon_game.js", "guess", state, letter, truth)
            if letter != truth:
                again = javascript("shannon_game.js", "guess", state, letter, truth)
                assert again == state
    assert state == {"ranks": [3, order.index(truth) + 1], "tried": ""}


@given(st.permutations("abcdef"), st.sets(st.sampled_from("abcde")), st.just("f"))
def test_a_model_goes_on_where_the_reader_stopped(javascript, order, tried, truth):
    found = javascript("shannon_game.js", "finish", "".join(tried), "".join(order), truth)
    left = [letter for letter in order if letter not in tried]
    assert found == len(tried) + left.index(truth) + 1


@pytest.mark.parametrize("passage", PASSAGES)
@pytest.mark.parametrize("model", ["letters", "7-gram", "transformer"])
def test_the_tally_is_the_mean_of_the_librarys_bits(javascript, passage, model):
    column = predictions()["passages"][passage]["models"][model]
    text = passages()[passage].text.lower()
    found = javascript("shannon_game.js", "tally", column, text, GIVEN, GIVEN + 40)
    assert found["bits"] == pytest.approx(np.mean(column["bits"][GIVEN : GIVEN + 40]))
    orders = zip(column["order"][GIVEN:], text[GIVEN : GIVEN + 40], strict=False)
    assert found["ranks"] == [order.index(letter) + 1 for order, letter in orders]


def test_the_guilty_runs_never_occurred(javascript):
    training = "".join(split_plays()[0].values())
    text = passages()["verse"].text
    column = predictions()["passages"]["verse"]["models"]["7-gram unsmoothed"]
    found = javascript("shannon_game.js", "guilty", column, text, 7, GIVEN, len(text))
    assert found
    for one in found:
        run = text[one["at"] - 6 : one["at"] + 1]
        assert one["run"] == run
        assert run not in training
        assert run[:-1] in training  # else the counts know nothing, and exclude nothing
    tally = javascript("shannon_game.js", "tally", column, text.lower(), GIVEN, len(text))
    assert tally["bits"] is None


def test_a_run_begins_where_the_text_begins(javascript):
    found = javascript("shannon_game.js", "guilty", {"bits": [None, 1, None]}, "abc", 7, 0, 3)
    assert found == [{"at": 0, "run": "a"}, {"at": 2, "run": "abc"}]


def test_what_the_chapter_says_of_the_game_holds():
    scores = {}
    right: dict[bool, list[bool]] = {True: [], False: []}  # at once, after a space and elsewhere
    for name in PASSAGES:
        models = predictions()["passages"][name]["models"]
        text = passages()[name].text
        for i in range(GIVEN, len(text)):
            best = models["7-gram"]["order"][i][0]
            right[text[i - 1].isspace()].append(best == text[i].lower())
        for model in (*ORDERS, "transformer"):
            scores[name, model] = np.mean(models[model]["bits"][GIVEN:])
        assert scores[name, "transformer"] < scores[name, "5-gram"] < scores[name, "letters"]
        assert None in models["7-gram unsmoothed"]["bits"][GIVEN:]
        assert None not in models["letters unsmoothed"]["bits"]
    assert np.mean(right[True]) == pytest.approx(0.3, abs=0.05)
    assert np.mean(right[False]) == pytest.approx(0.6, abs=0.05)
    assert scores["verse", "transformer"] < scores["verse", "7-gram"]
    assert scores["prose", "transformer"] - scores["prose", "7-gram"] == pytest.approx(
        0.07, abs=5e-3
    )


def test_the_result_line_says_what_happened(javascript):
    state = {"ranks": [], "tried": "", "rival": "7-gram", "smoothing": True, "left": 170}
    found = {"letter": "e", "order": "aeiou", "bits": 1.5}

    def say(**other):
        return javascript("shannon_game.js", "describe", {**state, **found, **other})

    assert say().startswith("What comes next?")
    assert say(tried="ab") == "Not “a”, “b”. This is guess 3 at the same letter."
    assert "with guess 2. The 7-gram paid 1.50 bits: it was number 2" in say(ranks=[2])
    assert "without smoothing had held it to be impossible" in say(
        ranks=[2], smoothing=False, bits=None
    )
    assert say(ranks=[1], letter=" ").startswith("You found space with guess 1.")
    first = say(ranks=[4, 1], letter="a", rival="letters", smoothing=False)
    assert first == (
        "You found “a” with guess 1. "
        "The table of letters without smoothing paid 1.50 bits: it was its first guess."
    )
    second = say(ranks=[1], rival="transformer", smoothing=False)
    assert "The transformer paid 1.50 bits: it was number 2 of its guesses." in second
    assert say(rival="letters").endswith(
        "The table of letters has its guess ready; what it paid for the letters given stands above "
        "them."
    )
    assert say(ranks=[1], left=0).endswith("That was the last letter of the passage.")


# ---------------------------------------------------------------- Shannon's game: state and life


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"passage": "sonnet"}, "passage"),
        ({"rival": "2-gram"}, "rival"),
        ({"ranks": [0]}, "ranks must be at most 170 whole numbers from 1 to 54"),
        ({"ranks": [55]}, "ranks"),
        ({"ranks": [1] * 171}, "ranks"),
        ({"tried": "aa"}, "tried must be different ones of"),
        ({"tried": "é"}, "tried"),
        ({"game": b"{}"}, "predictions, which nobody sets"),
        ({"letters": 3}, "has no letters"),
    ],
)
def test_bad_state_of_the_game_is_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        ShannonGame(**state)


def test_a_letter_may_take_as_many_guesses_as_there_are_letters():
    assert ShannonGame(ranks=[54]).ranks == [54]


def test_bounds_need_a_letter():
    with pytest.raises(ValueError, match="no guesses yet"):
        ShannonGame().bounds()


@pytest.mark.parametrize(
    "widget",
    [
        ShannonGame(),
        ShannonGame(passage="prose", rival="7-gram", smoothing=False, ranks=[1] * 170),
        ShannonGame(rival="transformer", smoothing=False, ranks=[2], tried="a"),
        BytePairStepper(),
        BytePairStepper(text=""),
        BytePairStepper(text="🎭", source="book", step=9),
    ],
)
def test_there_is_a_picture(widget):
    widget.picture().draw_without_rendering()


@pytest.mark.parametrize("widget", [ShannonGame, BytePairStepper])
def test_there_is_a_picture_in_pixels(widget):
    assert png(widget().picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_the_game_is_played_by_keyboard(widget_page, width):
    page = widget_page(ShannonGame(), width=width)
    text = passages()["verse"].text
    field = page.get_by_role("textbox", name="Your guess")
    field.focus()
    truth = text[GIVEN].lower()
    wrong = next(letter for letter in "xqz" if letter != truth)
    page.keyboard.press(wrong)
    settle(page)
    assert f"Not “{wrong}”. This is guess 2" in page.locator(".result").inner_text()
    page.keyboard.press(wrong)  # a guess that was made costs nothing
    settle(page)
    assert page.evaluate("model.get('tried')") == wrong
    for letter in text[GIVEN : GIVEN + 25]:
        page.keyboard.press({" ": "Space", "\n": "Enter"}.get(letter, letter))
    settle(page)
    assert page.evaluate("model.get('ranks')") == [2, *[1] * 24]
    assert page.locator(".text b").inner_text() == "?"
    low, high = shannon_bounds(np.array([2] + [1] * 24))
    you = page.locator("tbody tr").first.inner_text()
    assert f"{low:.2f} to {high:.2f}" in you
    bits = predictions()["passages"]["verse"]["models"]["7-gram"]["bits"][GIVEN : GIVEN + 25]
    assert f"{np.mean(bits):.2f}" in page.locator("tbody tr.chosen").inner_text()
    page.keyboard.type("é")
    settle(page)
    assert "does not occur in the plays" in page.locator(".result").inner_text()
    page.get_by_role("button", name="Begin again").press("Enter")
    settle(page)
    assert page.evaluate("model.get('ranks')") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_the_game_is_played_by_finger_and_by_a_model(widget_page):
    page = widget_page(ShannonGame(passage="prose"), width=390, has_touch=True)
    text = passages()["prose"].text
    for letter in text[GIVEN : GIVEN + 4]:
        label = {" ": "space", "\n": "end of line"}.get(letter, letter.lower())
        page.locator(f".keys button[aria-label='{label}']").tap()
    settle(page)
    assert page.evaluate("model.get('ranks')") == [1] * 4
    heights = "[...document.querySelectorAll('.keys button')].map((b) => b.offsetHeight)"
    assert min(page.evaluate(heights)) >= 24
    page.get_by_role("button", name="Let the 7-gram find it").tap()
    page.get_by_role("button", name="Let it find 20 letters").tap()
    settle(page)
    order = predictions()["passages"]["prose"]["models"]["7-gram"]["order"]
    places = range(GIVEN + 4, GIVEN + 25)
    expected = [order[i].index(text[i].lower()) + 1 for i in places]
    assert page.evaluate("model.get('ranks')") == [1] * 4 + expected
    page.get_by_label("A king is told of a battle").check()
    settle(page)
    assert page.evaluate("model.get('ranks')") == []


@pytest.mark.browser
def test_without_smoothing_the_guilty_run_is_named(widget_page):
    page = widget_page(ShannonGame(rival="7-gram", ranks=[1] * 100))
    assert page.locator("p.never").inner_text() == ""
    page.get_by_label("Smoothing").uncheck()
    settle(page)
    column = predictions()["passages"]["verse"]["models"]["7-gram unsmoothed"]
    text = passages()["verse"].text
    last = max(i for i in range(GIVEN, GIVEN + 100) if column["bits"][i] is None)
    run = text[last - 6 : last + 1].replace(" ", "␣").replace("\n", "⏎")
    said = page.locator("p.never").inner_text()
    assert f"Guilty: “{run}”" in said
    assert "∞" in page.locator("tbody tr.chosen").inner_text()
    page.get_by_label("Against").select_option("transformer")
    settle(page)
    assert "Nothing to switch off" in page.locator("p.never").inner_text()
    assert "∞" not in page.locator("tbody tr.chosen").inner_text()


TAPE = """() => {
  const texts = (name) => [...document.querySelectorAll(`text[class^="${name}"]`)]
    .map((e) => e.textContent);
  const bars = [...document.querySelectorAll("rect.bar")];
  const size = (e, name) => Number(e.getAttribute(name));
  return {
    letters: texts("letter"),
    counts: texts("count"),
    heights: bars.map((e) => size(e, "height")),
    feet: bars.map((e) => size(e, "y") + size(e, "height")),
    middles: bars.map((e) => size(e, "x") + size(e, "width") / 2),
    places: [...document.querySelectorAll("text[class^=letter]")].map((e) => size(e, "x")),
    classes: bars.map((e) => e.getAttribute("class")),
  };
}"""


@pytest.mark.browser
def test_the_tape_shows_the_last_letters_and_what_they_cost(widget_page):
    ranks = [1 + i % 3 for i in range(100)]
    page = widget_page(ShannonGame(rival="7-gram", smoothing=False, ranks=ranks, tried="ab"))
    text, now = passages()["verse"].text, GIVEN + 100
    bits = predictions()["passages"]["verse"]["models"]["7-gram unsmoothed"]["bits"][now - 30 : now]
    shown = page.evaluate(TAPE)
    letters = [text[i].replace(" ", "␣").replace("\n", "⏎") for i in range(now - 30, now)]
    assert shown["letters"] == [*letters, "?"]
    assert shown["counts"] == [*map(str, ranks[-30:]), "3"]
    full = page.locator("svg .axis").first.evaluate(
        "(e) => Number(e.getAttribute('d').match(/V([\\d.]+)/)[1]) - 24"
    )
    heights = [full if b is None else min(full * b / HIGHEST, full) for b in bits]
    np.testing.assert_allclose(shown["heights"], np.maximum(heights, 0.5), atol=0.01)
    np.testing.assert_allclose(shown["middles"], shown["places"][:30], atol=0.01)
    for i, kind in enumerate(shown["classes"]):
        begins = text[now - 31 + i] in " \n"
        assert kind == ("bar never" if bits[i] is None else "bar begins" if begins else "bar")
    page.evaluate("model.set('tried', ''); model.set('ranks', Array(170).fill(2))")
    settle(page)
    shown = page.evaluate(TAPE)
    assert (shown["letters"][-1], shown["counts"][-2:]) == ("?", ["2", ""])
    page.evaluate("model.set('ranks', [1])")
    settle(page)
    assert page.evaluate(TAPE)["counts"][28:] == ["", "1", ""]  # what was given has no number
    assert page.get_by_text("On the letter you found").is_visible()
    assert "after 19 more letters" in page.locator("tbody tr").first.inner_text()
    page.evaluate("model.set('ranks', Array(19).fill(1))")
    settle(page)
    assert page.locator("tbody tr").first.inner_text().split("\t")[2] == "after 1 more letter"
    page.evaluate("model.set('ranks', Array(20).fill(1))")
    settle(page)
    assert page.locator("tbody tr").first.inner_text().split("\t") == [
        *("you", "100%", "0.00 to 0.00", "between")
    ]
    assert page.get_by_text("On the 20 letters you found").is_visible()


@pytest.mark.browser
def test_what_a_model_expected_ends_with_the_letter_that_came(widget_page):
    page = widget_page(ShannonGame(rival="7-gram", ranks=[1]))
    column = predictions()["passages"]["verse"]["models"]["7-gram"]
    text = passages()["verse"].text.lower()
    rank_at = [order.index(text[i]) for i, order in enumerate(column["order"])]
    unlikely = next(i for i, b in enumerate(column["bits"]) if i > GIVEN and b > 12)
    sixth = next(i for i, rank in enumerate(rank_at) if i > GIVEN and rank == 5)
    fifth = next(i for i, rank in enumerate(rank_at) if i > GIVEN and rank == 4)
    for place in (unlikely, sixth, fifth):
        page.evaluate("(n) => model.set('ranks', Array(n).fill(1))", place - GIVEN + 1)
        settle(page)
        rows = page.locator(".expected p")
        written = rows.locator("span:first-child").all_inner_texts()[:5]
        named = [letter.replace(" ", "␣").replace("\n", "⏎") for letter in column["order"][place]]
        assert written == named[:5]
        chances = [*(share / 1e7 for share in column["shares"][place]), 2 ** -column["bits"][place]]
        said = ["<\u00a00.1%" if 0 < p < 0.0005 else f"{100 * p:.1f}%" for p in chances]
        seen = 5 if place == fifth else 6
        assert rows.locator("b").all_inner_texts()[:seen] == said[:seen]
        wide = rows.locator("i").evaluate_all("all => all.map((e) => parseFloat(e.style.width))")
        np.testing.assert_allclose(wide[:seen], 100 * np.array(chances)[:seen], atol=5.1e-3)
        assert rows.nth(5).is_visible() == (seen == 6)
        assert rows.nth(seen - 1).get_attribute("class") == "came"
        assert page.locator(".expected p.came:visible").count() == 1


@pytest.mark.browser
def test_a_model_that_helps_stops_at_the_end(widget_page):
    page = widget_page(ShannonGame(ranks=[1] * (LETTERS - 3), tried="xq", smoothing=False))
    order = predictions()["passages"]["verse"]["models"]["7-gram unsmoothed"]["order"]
    text = passages()["verse"].text.lower()
    page.get_by_role("button", name="Let it find 20 letters").click()
    settle(page)
    first, *rest = range(GIVEN + LETTERS - 3, GIVEN + LETTERS)
    left = [letter for letter in order[first] if letter not in "xq"]
    expected = [3 + left.index(text[first]), *(order[i].index(text[i]) + 1 for i in rest)]
    assert page.evaluate("model.get('ranks')")[LETTERS - 3 :] == expected
    assert page.evaluate("model.get('tried')") == ""
    assert not page.locator(".text b").is_visible()


@pytest.mark.browser
def test_the_end_of_the_passage_ends_the_game(widget_page):
    page = widget_page(ShannonGame(ranks=[1] * LETTERS))
    assert "the last letter of the passage" in page.locator(".result").inner_text()
    assert page.get_by_role("textbox", name="Your guess").is_disabled()
    assert page.get_by_role("button", name="Let it find 20 letters").is_disabled()


# ---------------------------------------------------------------- the BPE stepper


texts = st.text(st.sampled_from("abab cé🎭.\n'T"), max_size=60) | st.text(
    st.characters(exclude_categories=["Cs", "Cn"]), max_size=20
)


@given(texts, st.integers(0, 30))
@example(EXAMPLES[0], 30)
def test_learned_merges_and_tokens_are_the_librarys(javascript, text, step):
    widget = BytePairStepper(text=text, step=step)
    found = javascript(
        "bpe_stepper.js", "encodeStepwise", PATTERN, list(BYTE_ORDER), text, None, step
    )
    assert [tuple(pair) for pair in found["made"]] == widget.made()
    assert found["tokens"] == widget.tokens()


@given(texts, st.integers(0, 30))
@example(EXAMPLES[1], 200)
def test_the_books_merges_are_applied_in_the_books_order(javascript, text, step):
    widget = BytePairStepper(text=text, step=step, source="book")
    found = javascript(
        "bpe_stepper.js", "encodeStepwise", PATTERN, list(BYTE_ORDER), text, book_merges(), step
    )
    assert [tuple(pair) for pair in found["made"]] == widget.made()
    assert found["tokens"] == widget.tokens()


@pytest.mark.parametrize("text", EXAMPLES)
def test_to_the_end_it_is_the_books_encoding(javascript, text):
    encoding = load_pretrained("plays")[1]
    found = javascript(
        "bpe_stepper.js", "encodeStepwise", PATTERN, list(BYTE_ORDER), text, book_merges(), 200
    )
    assert found["tokens"] == encoding.encode(text)
    assert BytePairStepper(text=text, step=200, source="book").tokens() == encoding.encode(text)


@given(st.lists(st.text("abc ", min_size=1, max_size=8), min_size=1, max_size=6))
def test_the_merges_one_by_one_are_those_learned_at_once(lines):
    words = count_words(lines)
    made = list(merges_by_rescan(words))
    assert made == learn_merges(words, len(made))
    with pytest.raises(ValueError, match="every word of the corpus is one token"):
        learn_merges(words, len(made) + 1)


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"text": "a" * 401}, "at most 400 characters, got 401"),
        ({"text": "\ud800"}, "lone surrogate"),
        ({"step": -1}, "step must be 0 to 200"),
        ({"step": 201}, "step"),
        ({"source": "gpt"}, "source"),
        ({"merges": [[1, 999]]}, "merges: merge 0 joins tokens 1 and 999"),
        ({"merges": [3]}, "merges"),
    ],
)
def test_bad_state_of_the_stepper_is_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        BytePairStepper(**state)


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_the_stepper_goes_forwards_and_back(widget_page, width):
    page = widget_page(BytePairStepper(), width=width)
    result = page.locator(".result")
    assert "Merge 2: “es” + “t” → “est”, the most frequent" in result.inner_text()
    assert page.locator(".tokens .newest").all_inner_texts() == ["est"] * 9
    words = page.locator(".words .pieces span").first
    words.evaluate("(e) => { e.kept = true; }")
    size = len(BytePairStepper().tokens())
    assert f"{size} tokens, " in page.locator(".tokens b").inner_text()
    page.get_by_role("button", name="Undo").press("Enter")
    settle(page)
    assert "Merge 1: “e” + “s” → “es”" in result.inner_text()
    assert "as often, and the smaller pair goes first" in result.inner_text()
    assert words.evaluate("(e) => e.kept")  # what stays the same is not made anew
    page.get_by_role("button", name="Undo").click()
    settle(page)
    assert "No merge yet" in result.inner_text()
    assert page.get_by_role("button", name="Undo").is_disabled()
    page.get_by_label("Merges made").press("End")
    settle(page)
    assert "No pair is left" in result.inner_text()
    assert page.get_by_role("button", name="Merge →").is_disabled()
    page.get_by_label("the book's").check()
    page.get_by_label("Text", exact=True).last.fill("To be 🎭")
    page.get_by_label("Merges made").press("End")
    settle(page)
    tokens = BytePairStepper(text="To be 🎭", source="book", step=200).tokens()
    assert f"{len(tokens)} tokens, " in page.locator(".tokens b").inner_text()
    assert "6 characters" not in page.locator(".characters b").inner_text()
    assert "7 characters, 6 different" in page.locator(".characters b").inner_text()
    assert "10 bytes, " in page.locator(".bytes b").inner_text()
    assert "of the book's: " in result.inner_text()
    page.get_by_label("Text", exact=True).last.fill("ab\n" + "a" * 61)
    settle(page)
    strips = [page.locator(f".{name} .pieces") for name in ("characters", "bytes")]
    assert strips[1].locator("span").all_inner_texts()[:3] == ["61", "62", "0A"]
    assert ["…" in strip.inner_text() for strip in strips] == [False, False]
    page.get_by_label("Text", exact=True).last.fill("ab\n" + "a" * 62)
    settle(page)
    for strip in strips:  # of a long text the beginning
        assert strip.locator("span").count() == 64
        assert strip.inner_text().endswith("…")
    assert "65 characters, 3 different" in page.locator(".characters b").inner_text()
    page.evaluate("model.set('source', 'text')")
    page.get_by_label("Text", exact=True).last.fill("aa bc")
    page.evaluate("model.set('step', 1)")
    settle(page)
    assert "neighbors: 1 time; 2 others occur as often, and" in result.inner_text()
    page.get_by_label("Text", exact=True).last.fill("abc")
    settle(page)
    assert "neighbors: 1 time; 1 other occurs as often, and" in result.inner_text()
    page.get_by_label("Text", exact=True).last.fill("")
    settle(page)
    assert "Type something" in result.inner_text()
    ticks = page.locator("svg.panel .tick").evaluate_all("a => a.map((e) => e.textContent)")
    assert (ticks[0], ticks[-1]) == ("0.0", "1.0")  # an empty axis has a length
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "widget", [ShannonGame(ranks=[1] * 40, tried="ab", smoothing=False), BytePairStepper()]
)
def test_they_are_accessible(widget_page, widget, width, theme):
    page = widget_page(widget, width=width, theme=theme)
    assert complaints(page) == []
