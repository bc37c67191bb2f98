"""The recurrent networks' widgets: JavaScript against the library, and their life in a browser."""

from __future__ import annotations

import copy
import gzip
from pathlib import Path

import numpy as np
import pytest
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st
from widget_page import complaints, settle

from primer import recurrent
from primer.notebook.figures import png
from primer.recurrent.stored import MODELS
from primer.widgets import Remembering
from primer.widgets.remembering import LONGEST, NAMES, PASSAGE

PAGE_MODELS = Path(__file__).with_name("recurrent_models.mjs")
DOUBLE = {
    name: copy.deepcopy(model).double() for name, model in recurrent.character_models().items()
}
ALPHABET = DOUBLE["rnn"].alphabet

texts = st.text(st.sampled_from(ALPHABET), min_size=2, max_size=LONGEST)


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
    assert 0.05 < abs(ladder["gru"] - whole["gru"]) < 0.2
    sixteen, thirty = percents(kept=16), percents(kept=30)
    assert sixteen["rnn"] == whole["rnn"]
    assert sixteen["lstm"] == pytest.approx(whole["lstm"], abs=0.11)
    assert abs(thirty["gru"] - whole["gru"]) > 0.5
    sizes = {name: Remembering().sizes(models[name]) for name in NAMES}
    shares = {name: of / of.max() for name, of in sizes.items()}
    assert 3e-4 < shares["rnn"][-16] < 3e-3
    dagger = slice(line.index("dagger"), line.index("dagger") + 6)
    assert 1e-6 < np.median(shares["rnn"][dagger]) < 1e-5
    assert (shares["lstm"][-16:-2] < shares["rnn"][-16:-2]).mean() > 0.7
    assert (shares["lstm"][:-20] > shares["rnn"][:-20]).all()
    assert shares["gru"][0] > 8 * np.median(shares["gru"][10:20])


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"text": ""}, "2 to 80 letters"),
        ({"text": "x"}, "2 to 80 letters"),
        ({"text": "x" * 81}, "2 to 80 letters"),
        ({"text": "Überall"}, "never seen 'Ü'"),
        ({"letter": 0}, "letter must be 1 to 79"),
        ({"kept": 0}, "None for all"),
        ({"word": "dagger"}, "Remembering has no word"),
    ],
)
def test_bad_state_is_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        Remembering(**state)


@pytest.mark.parametrize("state", [{}, {"kept": 5, "logarithmic": False}, {"text": "ab"}])
def test_there_is_a_picture(state):
    assert png(Remembering(**state).picture()).startswith(b"\x89PNG")


@pytest.mark.parametrize("widget", [Remembering])
def test_module_is_light(widget):
    assert len(gzip.compress(widget()._esm.encode())) < 15 * 1024


RESULT = "document.querySelector('.result').textContent"


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1400])
def test_remembering_answers_to_keys_mouse_and_touch(widget_page, width):
    page = widget_page(Remembering(), width=width, has_touch=True)
    models, widget = recurrent.character_models(), Remembering()
    wanted = [f"{100 * widget.probability(models[name]):.1f}%" for name in NAMES]
    said = page.locator(".said").all_inner_texts()
    assert [text.split()[-1] for text in said] == wanted
    assert page.evaluate(RESULT).startswith("“e” after 37 letters")
    page.get_by_label("Letter to predict").press("ArrowLeft")
    settle(page)
    assert page.evaluate("model.get('letter')") == 36
    assert page.evaluate(RESULT).startswith("“m” after 36 letters")
    page.locator(".gru .letters span").nth(20).tap()
    settle(page)
    assert page.evaluate(RESULT).startswith("“c” after 20 letters")
    page.locator(".rnn .letters span").nth(10).hover()
    settle(page)
    assert page.evaluate(RESULT).startswith("“d” after 10 letters")
    page.get_by_label("Letters left").press("Home")
    settle(page)
    assert page.evaluate("model.get('kept')") == 1
    assert page.locator(".rnn .erased").count() == 9
    page.get_by_label("Letters left").press("End")
    page.get_by_role("textbox", name="Text").fill("Überall the sea")
    settle(page)
    assert "never seen are left out" in page.locator(".prompt .note").inner_text()
    assert page.evaluate(RESULT).startswith("“a” after 13 letters")
    page.get_by_role("textbox", name="Text").fill("x")
    settle(page)
    assert not page.locator(".letters").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_remembering_is_accessible(widget_page, theme):
    page = widget_page(Remembering(kept=10), width=390, theme=theme)
    assert complaints(page) == []
