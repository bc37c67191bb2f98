"""The recurrent networks' widgets: JavaScript against the library, and their life in a browser."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import center, complaints, rest, settle

from primer import recurrent
from primer.notebook.figures import png
from primer.recurrent.backwards import (
    LETTERS,
    WEIGHTS,
    backwards_writer,
    letters_right,
    load_writer,
    save_writer,
)
from primer.recurrent.stored import MODELS
from primer.widgets import Alignment, JacobianProduct, Remembering
from primer.widgets.alignment import MARK
from primer.widgets.jacobians import CASES, drawn_inputs
from primer.widgets.remembering import LONGEST, NAMES, PASSAGE

PAGE_MODELS = Path(__file__).with_name("recurrent_models.mjs")
DOUBLE = {
    name: copy.deepcopy(model).double() for name, model in recurrent.character_models().items()
}
ALPHABET = DOUBLE["rnn"].alphabet

texts = st.text(st.sampled_from(ALPHABET), min_size=2, max_size=LONGEST)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 99))
def test_a_row_times_a_matrix_and_times_its_transpose(javascript, rows, columns, seed):
    draw = np.random.default_rng(seed)
    x, y, W = draw.normal(size=rows), draw.normal(size=columns), draw.normal(size=(rows, columns))
    got = javascript(PAGE_MODELS, "products", x, y, W)
    np.testing.assert_allclose(got[0], x @ W, atol=1e-5)
    np.testing.assert_allclose(got[1], W @ y, atol=1e-5)


# --- what does it remember? -----------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(NAMES))
@given(texts, texts)
@settings(max_examples=15)
def test_gradients_are_the_librarys(javascript, name, text, before):
    model, at = DOUBLE[name], len(text) - 1
    want = recurrent.input_gradients(model, model.encode(text)[None])[0].flip(0)
    got = javascript(PAGE_MODELS, "gradients", str(MODELS), name, text, at)
    np.testing.assert_allclose(got, want, atol=1e-9, rtol=1e-6)
    after = javascript(
        PAGE_MODELS, "gradients", str(MODELS), name, text, at, text[: at // 2] + before
    )
    assert after == got  # what an earlier reading shares with this one is kept


@pytest.mark.parametrize("name", sorted(NAMES))
def test_probabilities_are_the_librarys(javascript, name):
    text = "".join(Remembering.EXAMPLES)[: 2 * LONGEST]
    model = DOUBLE[name]
    want = model(model.encode(text)[None])[0].log_softmax(-1).detach()
    for at in (1, 2, 40, 150):
        got = javascript(PAGE_MODELS, "predictions", str(MODELS), name, text, at)
        np.testing.assert_allclose(got, want[at - 1], atol=1e-9)


@given(texts, st.one_of(st.none(), st.integers(1, LONGEST - 1)), st.integers(1, LONGEST - 1))
def test_older_letters_are_replaced_as_in_python(javascript, text, kept, letter):
    widget = Remembering(text=text, kept=kept, letter=letter)
    place = widget.place()
    got = javascript("remembering.js", "replaced", list(text), place, kept, PASSAGE)
    assert "".join(got[: place + 1]) == widget.shown()
    assert got[place + 1 :] == list(text[place + 1 :])


def test_shades_and_reach(javascript):
    sizes = [1e-9, 2e-6, 2e-4, 0.02, 2.0]
    shades = javascript("remembering.js", "shades", sizes, True, 6)
    np.testing.assert_allclose(shades, [0, 0, 1 / 3, 2 / 3, 1], atol=1e-9)
    assert javascript("remembering.js", "shades", [0.0, 0.5, 2.0], False, 6) == [0, 0.25, 1]
    assert javascript("remembering.js", "felt", sizes) == 2
    line = javascript("remembering.js", "describe", " ", 3, [{"name": "RNN", "p": 0.5, "reach": 2}])
    assert line.startswith("“␣” after 3 letters: RNN 50.0%, and feels 2 of them.")


def test_what_the_chapter_says_of_it_holds():
    models = recurrent.character_models()

    def percents(**state):
        widget = Remembering(**state)
        return {name: round(100 * widget.probability(models[name]), 1) for name in NAMES}

    line = Remembering().text
    whole, ladder = percents(), percents(text=line.replace("dagger", "ladder"))
    assert (ladder["rnn"], ladder["lstm"]) == (whole["rnn"], whole["lstm"])
    assert (whole["gru"], ladder["gru"]) == (31.0, 30.9)
    fifteen, sixteen, seventeen, thirty = (percents(kept=kept) for kept in (15, 16, 17, 30))
    assert fifteen["rnn"] != whole["rnn"]
    assert sixteen["rnn"] == whole["rnn"]
    assert sixteen["lstm"] != whole["lstm"]
    assert seventeen["lstm"] == whole["lstm"]
    assert 0.8 < abs(thirty["gru"] - whole["gru"]) < 1.2
    sizes = {name: Remembering().sizes(models[name]) for name in NAMES}
    shares = {name: of / of.max() for name, of in sizes.items()}
    assert 3e-4 < shares["rnn"][-16] < 3e-3
    dagger = slice(line.index("dagger"), line.index("dagger") + 6)
    assert 1e-6 < np.median(shares["rnn"][dagger]) < 1e-5
    assert (shares["lstm"][-16:-2] < shares["rnn"][-16:-2]).mean() > 0.7
    assert (shares["lstm"][:-20] > shares["rnn"][:-20]).all()
    assert shares["gru"][0] > 8 * np.median(shares["gru"][10:20])


# --- a product of Jacobians -----------------------------------------------------------------------

shapes = st.fixed_dictionaries(
    {
        "radius": st.floats(0.1, 3),
        "turn": st.floats(0, 90),
        "shear": st.floats(0, 20),
        "squeeze": st.floats(0.1, 1),
        "tanh": st.booleans(),
        "loudness": st.floats(0, 3),
    }
)


@given(shapes)
def test_the_matrix_and_its_values_are_numpys(javascript, state):
    weight = JacobianProduct(**state).matrix()
    np.testing.assert_allclose(
        np.reshape(javascript("jacobians.js", "matrixOf", state), (2, 2)), weight, rtol=1e-6
    )
    flat = weight.ravel().tolist()
    sizes = sorted(np.hypot(*pair) for pair in javascript("jacobians.js", "eigenvalues", flat))
    # a double eigenvalue is known to half of the digits
    np.testing.assert_allclose(sizes, sorted(abs(np.linalg.eigvals(weight))), rtol=1e-6)
    assert sizes[-1] == pytest.approx(state["radius"], rel=1e-6)
    singular = javascript("jacobians.js", "singularValues", flat)
    np.testing.assert_allclose(singular, np.linalg.svd(weight)[1], rtol=1e-6)
    assert singular[1] - 1e-9 <= sizes[0] <= sizes[1] <= singular[0] + 1e-9  # inside the ring


def test_a_matrix_of_zeros_and_one_with_a_double_eigenvalue(javascript):
    assert javascript("jacobians.js", "singularValues", [0, 0, 0, 0]) == [0, 0]
    assert javascript("jacobians.js", "eigenvalues", [2, 1, 0, 2]) == [[2, 0], [2, 0]]


@given(shapes)
@settings(max_examples=12)
def test_the_product_is_the_librarys(javascript, state):
    widget = JacobianProduct(**state)
    got = np.array(javascript("jacobians.js", "stretches", state, drawn_inputs()), dtype=float)
    want = widget.stretches()
    np.testing.assert_allclose(got[:, 0], want[:, 0], rtol=1e-6, atol=1e-300)
    seen = want[:, 1] > 1e-290  # below, numbers of full precision end
    np.testing.assert_allclose(got[seen, 1], want[seen, 1], rtol=1e-5)
    if not state["tanh"]:
        norms = recurrent.power_norms(widget.matrix(), 100)
        np.testing.assert_allclose(got[:, 0], norms, rtol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_with_a_tanh_it_is_the_product_of_the_librarys_jacobians(name):
    widget = JacobianProduct(**CASES[name], tanh=True, loudness=0.3)
    cell = recurrent.ElmanCell(2, 2).double()
    cell.state_weight.data = torch.from_numpy(widget.matrix())
    cell.input_weight.data = torch.eye(2, dtype=torch.float64)
    product = recurrent.jacobian_product(cell, torch.from_numpy(0.3 * drawn_inputs()[:15]))
    np.testing.assert_allclose(widget.stretches()[15], torch.linalg.svdvals(product), rtol=1e-6)


def test_the_four_cases_are_what_they_are_called():
    lengths = {name: JacobianProduct(**state).stretches() for name, state in CASES.items()}
    hump = lengths["a hump"][:, 0]
    assert hump.argmax() == 9
    assert (hump[63:] < 1).all()
    hidden = lengths["a hidden direction"]
    assert hidden[20].tolist() == pytest.approx([2.0**20, 0.5**20])
    np.testing.assert_allclose(lengths["it fades"], 0.9 ** np.arange(101)[:, None] * [1, 1])
    np.testing.assert_allclose(lengths["it turns for ever"], 1)


def test_what_the_chapter_says_of_the_tanh_holds():
    def after(k, **state):
        return JacobianProduct(**CASES["a hump"], tanh=True, **state).stretches()[k, 0]

    assert after(100) < 1e-6 < JacobianProduct().stretches()[100, 0]
    silent = JacobianProduct(**CASES["a hump"], tanh=True, loudness=0.0).stretches()
    np.testing.assert_allclose(silent, JacobianProduct().stretches(), rtol=1e-9)


def test_the_result_line_tells_the_course(javascript):
    inputs = drawn_inputs()

    def line(**state):
        widget = JacobianProduct(**state)
        names = ("radius", "turn", "shear", "squeeze", "tanh", "loudness")
        whole = {name: getattr(widget, name) for name in names}
        return javascript("jacobians.js", "describe", whole, inputs)

    assert "at most 38.71 at step 9" in line()
    assert "From step 63 on it stays below 1." in line()
    assert "below 1" not in line(**CASES["it turns for ever"])
    assert "1.3·10³⁰ at step 100" in line(**CASES["a hidden direction"])


@pytest.mark.parametrize(
    ("lengths", "top", "below"),
    [
        ([1, 3, 3, 0.5, 0.25], 1, 3),
        ([1, 2, 0.5, 1, 0.5], 1, 4),
        ([1, 0.5, 1], 0, None),
        ([1, 1 + 1e-10, 1 - 1e-10], 0, None),  # what rounding makes is no rise and no fall
        ([1, 1 + 1e-8, 1 - 1e-8], 1, 2),
    ],
)
def test_the_course_of_a_product(javascript, lengths, top, below):
    assert javascript("jacobians.js", "story", lengths) == {"top": top, "below": below}


@pytest.mark.parametrize(
    ("radius", "text"),
    [(0, "0"), (0.01, "0.01"), (0.0099, "9.9·10⁻³"), (9999, "9999"), (10_000, "1.0·10⁴")],
)
def test_sizes_far_from_1_are_written_as_powers(javascript, radius, text):
    state = {"radius": radius, "turn": 0, "shear": 0, "squeeze": 1, "tanh": False, "loudness": 0}
    line = javascript("jacobians.js", "describe", state, [[0, 0]])
    assert line.startswith(f"Largest eigenvalue {text} in size, largest singular value {text}.")


# --- alignment ------------------------------------------------------------------------------------

words = st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), min_size=1, max_size=20)


@given(words, st.booleans())
def test_what_is_written_is_the_librarys(javascript, word, forced):
    widget = Alignment(word=word, forced=forced)
    text, weights = widget.written(copy.deepcopy(backwards_writer()).double())
    tokens = [ord(letter) - ord("a") for letter in word]
    steps = javascript(PAGE_MODELS, "alignment", str(WEIGHTS), tokens, forced)
    spelled = [MARK if s["token"] == LETTERS else chr(ord("a") + s["token"]) for s in steps]
    assert "".join(spelled) == text
    np.testing.assert_allclose([s["weights"] for s in steps], weights, atol=1e-6)


def test_of_a_text_the_first_letters_from_a_to_z_are_read(javascript):
    assert javascript("alignment.js", "readable", "A Pizza-Ω {`~ 3!", 20) == list("apizza")
    assert javascript("alignment.js", "readable", "Pizza", 3) == list("piz")


def test_the_result_line_says_where_it_looks(javascript):
    def line(row, most):
        weights = [0.125] * 4
        weights[most] = 0.625
        return javascript(
            "alignment.js",
            "describe",
            list("abcd"),
            list("dxb*"),
            2,
            {"p": 0.875, "weights": weights},
            row,
        )

    begins = "2 of 4 letters right. Writing “x” (88%), it looks most at"
    assert line(1, 2) == f"{begins} “c”, letter 3, with weight 0.63, its own place."
    assert "“d”, letter 4, with weight 0.63, 1 to the right of its own place." in line(1, 3)
    assert "“a”, letter 1, with weight 0.63, 2 to the left of its own place." in line(1, 0)
    assert line(3, 0).endswith("with weight 0.63, its own place.")
    assert line(4, 0).endswith("with weight 0.63.")  # the mark at the end has no place


def test_the_widgets_writing_is_the_models():
    model = backwards_writer()
    text, weights = Alignment(word="sequence").written()
    source = torch.tensor([[ord(letter) - ord("a") for letter in "sequence"]])
    tokens, looked = model.write(source, 9)
    assert [ord(letter) - ord("a") for letter in text[:-1]] == tokens[0, :-1].tolist()
    torch.testing.assert_close(weights, looked[0])


def test_what_the_chapter_says_of_the_alignment_holds():
    model = backwards_writer()
    shares = {length: float(letters_right(model, length)) for length in (8, 12, 16, 20)}
    assert shares[8] > 0.98
    assert shares[12] > 0.95
    assert shares[16] < 0.3
    assert shares[20] < 0.2
    text, weights = Alignment(word="remember").written()
    assert text == "rebmemer" + MARK
    assert weights.argmax(-1).tolist()[:8] == [7, 6, 5, 4, 3, 2, 1, 0]
    assert Alignment(word="uncopyrightable").written().text == "elbathgiryocnu" + MARK
    long = Alignment(word="incomprehensibility").written()
    assert long.text == "yitieherpmocni" + MARK
    assert float(long.weights[3:6].max()) < 0.3
    gaze = {}
    for word, alone, told in (("uncopyrightable", 10, 13), ("incomprehensibility", 1, 2)):
        for forced, right in ((False, alone), (True, told)):
            text, weights = Alignment(word=word, forced=forced).written()
            assert sum(a == b for a, b in zip(text, word[::-1], strict=False)) == right
            gaze[word, forced] = weights.argmax(-1)
    assert gaze["uncopyrightable", False][10:14].tolist() == [3, 2, 1, 0]
    assert gaze["uncopyrightable", True][10:14].tolist() == [3, 3, 2, 1]  # at the o once more
    for forced in (False, True):  # it leaps all the same
        assert gaze["incomprehensibility", forced][:10].diff().min() <= -3


def test_a_damaged_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no model at"):
        load_writer(tmp_path / "none.safetensors")
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(WEIGHTS.read_bytes()[:5000])
    with pytest.raises(ValueError, match="holds no whole encoder and decoder"):
        load_writer(broken)


def test_a_model_survives_its_file(tmp_path):
    model, path = backwards_writer(), tmp_path / "again.safetensors"
    save_writer(model, path)
    again = load_writer(path)
    for name, weight in model.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], weight, atol=1e-6, rtol=1e-5)


# --- all three ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("widget", "state", "complaint"),
    [
        (Alignment, {"word": ""}, "1 to 20 letters"),
        (Alignment, {"word": "x" * 21}, "1 to 20 letters"),
        (Alignment, {"word": "Überall"}, "1 to 20 letters"),
        (Alignment, {"row": 0}, "row must be 1 to 21"),
        (JacobianProduct, {"radius": 0.0}, "radius must be 0.1 to 3"),
        (JacobianProduct, {"shear": float("nan")}, "shear must be 0 to 20"),
        (JacobianProduct, {"turn": -1.0}, "turn must be 0 to 90"),
        (Remembering, {"text": ""}, "2 to 80 letters"),
        (Remembering, {"text": "x"}, "2 to 80 letters"),
        (Remembering, {"text": "x" * 81}, "2 to 80 letters"),
        (Remembering, {"text": "Überall"}, "never seen 'Ü'"),
        (Remembering, {"letter": 0}, "letter must be 1 to 79"),
        (Remembering, {"kept": 0}, "None for all"),
        (Remembering, {"word": "dagger"}, "Remembering has no word"),
    ],
)
def test_bad_state_is_refused(widget, state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        widget(**state)


@pytest.mark.parametrize(
    "widget",
    [
        Remembering(),
        Remembering(kept=5, logarithmic=False),
        Remembering(text="ab"),
        JacobianProduct(),
        JacobianProduct(turn=90.0, shear=0.0, squeeze=0.1, tanh=True),
        Alignment(),
        Alignment(word="a", forced=True),
    ],
)
def test_there_is_a_picture(widget):
    widget.picture().draw_without_rendering()


@pytest.mark.parametrize("widget", [Remembering, JacobianProduct, Alignment])
def test_there_is_a_picture_in_pixels(widget):
    assert png(widget().picture()).startswith(b"\x89PNG")


RESULT = "document.querySelector('.result').textContent"


@pytest.mark.browser
def test_the_networks_stand_as_in_the_still_picture(widget_page, monkeypatch):
    stored = dict(sorted(NAMES.items()))  # as in a page, whose state is sorted by name
    monkeypatch.setitem(Remembering.constants, "names", stored)
    page = widget_page(Remembering(), width=800)
    where = [
        page.get_by_text(name, exact=True).first.bounding_box()["y"] for name in NAMES.values()
    ]
    assert where == sorted(where)


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_remembering_answers_to_keys_mouse_and_touch(widget_page, width):
    page = widget_page(Remembering(), width=width, has_touch=True)
    models, widget = recurrent.character_models(), Remembering()
    wanted = [f"{100 * widget.probability(models[name]):.1f}%" for name in NAMES]
    said = page.locator(".said").all_inner_texts()
    assert [text.split()[-1] for text in said] == wanted
    assert page.evaluate(RESULT).startswith("“e” after 37 letters")
    assert not page.locator(".asked").first.get_attribute("style")  # it is not read yet
    page.get_by_label("Letter to predict").press("ArrowLeft")
    rest(page)
    assert page.evaluate("model.get('letter')") == 36
    assert page.evaluate(RESULT).startswith("“m” after 36 letters")
    page.locator(".gru .letters span").nth(20).tap()
    rest(page)
    assert page.evaluate(RESULT).startswith("“c” after 20 letters")
    page.locator(".rnn .letters span").nth(10).hover()
    rest(page)
    assert page.evaluate(RESULT).startswith("“d” after 10 letters")
    page.get_by_label("Letters left").press("Home")
    rest(page)
    assert page.evaluate("model.get('kept')") == 1
    assert page.locator(".rnn .erased").count() == 9
    page.get_by_label("Letters left").press("End")
    page.get_by_role("textbox", name="Text").fill("Überall the sea")
    rest(page)
    assert "never seen are left out" in page.locator(".prompt .note").inner_text()
    assert page.evaluate(RESULT).startswith("“a” after 13 letters")
    choice = page.get_by_role("combobox", name="Text")
    assert choice.input_value() == ""  # your own
    choice.select_option(index=1)
    rest(page)
    assert page.evaluate("model.get('text')") == Remembering.EXAMPLES[1]
    assert choice.input_value() == Remembering.EXAMPLES[1]
    choice.select_option("")
    assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"
    assert page.evaluate("model.get('text')") == Remembering.EXAMPLES[1]
    page.get_by_role("textbox", name="Text").fill("x")
    rest(page)
    assert not page.locator(".letters").first.is_visible()
    assert page.locator("output").first.inner_text() == "–"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_no_frame_waits_for_the_networks_and_each_writes_one_row(widget_page):
    page = widget_page(Remembering(), clock=True)
    before = page.locator(".said").all_inner_texts()
    page.get_by_label("Letter to predict").press("ArrowLeft")
    changed, said, live = [], [], []
    for _ in range(30):  # a busy machine may stop a timer's work early
        page.clock.run_for(16)
        now = page.locator(".said").all_inner_texts()
        changed.append(sum(a != b for a, b in zip(before, now, strict=True)))
        said.append(page.evaluate(RESULT))
        live.append(page.locator(".result").get_attribute("aria-live"))
    assert changed[0] == 0
    assert set(np.diff(changed)) <= {0, 1}
    assert changed[-1] == 3
    waits = said.count("“m” after 36 letters: …")
    assert said[:waits] == ["“m” after 36 letters: …"] * waits
    assert changed.index(3) <= waits < 30
    assert live == ["off"] * waits + ["polite"] * (30 - waits)
    assert said[-1].startswith("“m” after 36 letters: RNN ")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_jacobians_answer_to_keys_and_buttons(widget_page, width):
    page = widget_page(JacobianProduct(), width=width, has_touch=True)
    assert "at most 38.71 at step 9" in page.evaluate(RESULT)
    for name, said in [
        ("a hidden direction", "largest singular value 2."),
        ("it fades", "From step 1 on it stays below 1."),
        ("it turns for ever", "at most 1 at step 0"),
    ]:
        page.get_by_role("button", name=name).tap()
        settle(page)
        assert said in page.evaluate(RESULT)
    assert page.get_by_label("Size of the inputs").is_disabled()
    page.get_by_label("with a tanh").check()
    settle(page)
    assert page.get_by_label("Size of the inputs").is_enabled()
    before = page.evaluate(RESULT)
    page.get_by_label("Shear c").press("End")
    settle(page)
    assert page.evaluate("model.get('shear')") == 20
    assert page.evaluate(RESULT) != before
    assert page.locator(".values circle, circle.values").count() == 2
    if width == 390:
        views = page.locator("svg.panel").evaluate_all(
            "a => a.map((e) => e.getAttribute('viewBox'))"
        )
        assert views[0] == "0 0 320 300"
        page.set_viewport_size({"width": 220, "height": 900})
        settle(page)
        views = page.locator("svg.panel").evaluate_all(
            "a => a.map((e) => e.getAttribute('viewBox'))"
        )
        assert [view.split()[3] for view in views] == ["220", "240"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_of_a_short_word_the_last_letter_is_the_last_to_be_chosen(widget_page):
    page = widget_page(Alignment(word="abc", row=9))
    slider = page.get_by_label("Letter written", exact=True)
    assert slider.input_value() == slider.get_attribute("max")
    assert int(slider.input_value()) < 9
    grid, rows = page.locator("svg.grid"), int(slider.get_attribute("max"))
    steps = [("ArrowDown", rows), ("PageUp", 1), ("ArrowUp", 1), ("ArrowDown", 2)]
    for key, row in steps:  # neither beyond the last letter nor before the first
        grid.press(key)
        assert page.evaluate("model.get('row')") == row
    for row in reversed(range(rows)):
        page.mouse.click(*center(page.locator("rect.cell").nth(3 * row + row % 3)))
        assert page.evaluate("model.get('row')") == row + 1
    assert page.get_by_role("textbox", name="Word").get_attribute("maxlength") == "40"
    _, weights = Alignment(word="abc").written()
    shown = page.locator("rect.cell").evaluate_all(
        "a => a.map((e) => +e.getAttribute('fill-opacity'))"
    )
    np.testing.assert_allclose(shown, np.ravel(weights), atol=6e-4)
    sizes = []
    for width in (700, 240):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        sizes.append(grid.get_attribute("viewBox"))
    assert sizes[0] == "0 0 460 440"
    assert sizes[1].endswith(" 240")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_alignment_answers_to_keys_mouse_and_touch(widget_page, width):
    page = widget_page(Alignment(), width=width, has_touch=True)
    assert page.locator(".written").inner_text() == "rebmemer" + MARK
    assert "8 of 8 letters right. Writing “r”" in page.evaluate(RESULT)
    page.get_by_label("Letter written", exact=True).press("ArrowRight")
    settle(page)
    assert page.evaluate("model.get('row')") == 2
    assert "Writing “e”" in page.evaluate(RESULT)
    box = page.locator("svg.grid").bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    settle(page)
    assert page.evaluate("model.get('row')") in (4, 5, 6)
    page.get_by_role("textbox", name="Word").fill("Incomprehensibility!")
    settle(page)
    assert page.locator(".written").inner_text() == "yitieherpmocni" + MARK
    assert page.evaluate("model.get('row')") == 1  # another word is read from its beginning
    assert page.locator(".written del").count() > 3
    note = page.locator(".prompt .note").inner_text()
    assert "longer than any it has learned from (up to 12)" in note
    assert "only a to z are read" in note
    page.get_by_label("Tell it the truth").check()
    settle(page)
    assert len(page.locator(".written").inner_text()) == 20
    page.get_by_role("textbox", name="Word").fill("!")
    settle(page)
    assert not page.locator(".written").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    "widget", [Alignment(word="uncopyrightable"), JacobianProduct(tanh=True), Remembering(kept=10)]
)
def test_each_is_accessible(widget_page, widget, theme):
    page = widget_page(widget, width=390, theme=theme)
    assert complaints(page) == []


def test_the_still_grid_has_square_cells() -> None:
    """As many letters are written as are read, but for the mark: the picture is as high as wide."""
    width, height = Alignment().picture().get_size_inches()
    assert height == pytest.approx(width, rel=0.2)
