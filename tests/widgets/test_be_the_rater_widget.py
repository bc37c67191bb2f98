"""Be the rater: JavaScript against the library, its state, its life in a browser."""

from __future__ import annotations

import math

import numpy as np
import pytest
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from thorough import WIDTHS
from widget_page import complaints, settle

from primer.alignment.recorded import first_replies, policies
from primer.notebook.figures import png
from primer.widgets.be_the_rater import (
    NAMES,
    PAIRS,
    PRIOR,
    BeTheRater,
    features,
    frames,
    pool,
    telling_pairs,
    the_chapters_rater,
)

MODULE = "be_the_rater.js"
choices = st.lists(st.integers(0, 2), max_size=PAIRS)


def differences() -> np.ndarray:
    """Features of the first reply less those of the second, for the twelve pairs."""
    seen = np.array([features(text) for text in pool()])
    return np.array([seen[2 * at] - seen[2 * at + 1] for at in telling_pairs()])


def test_features_are_counted_alike(javascript):
    for text in [*pool()[:40], "", "naïve — “Ho!” said she, ‘why?’"]:
        assert javascript(MODULE, "features", text) == pytest.approx(features(text))


@given(choices)
def test_the_fit_is_the_librarys(javascript, answers):
    pairs = javascript(MODULE, "comparisons", answers, differences().tolist())
    found = javascript(MODULE, "fit", pairs, PRIOR, len(NAMES))
    expected = BeTheRater(answers=answers).fit()
    np.testing.assert_allclose(found["weights"], expected.weights, atol=1e-6)
    np.testing.assert_allclose(
        found["deviations"], np.sqrt(np.diag(expected.covariance)), atol=1e-6
    )


@given(choices)
@settings(max_examples=10, deadline=None)
def test_the_fit_is_the_best_that_scipy_finds(answers):
    apart = differences()[: len(answers)]
    share = np.array([1, 0, 0.5])[np.array(answers, dtype=int)]  # of it goes to the first reply

    def loss(weights):
        margin = apart @ weights
        lost = share * np.logaddexp(0, -margin) + (1 - share) * np.logaddexp(0, margin)
        return lost.sum() + PRIOR / 2 * weights @ weights

    best = minimize(loss, np.zeros(len(NAMES)), options={"gtol": 1e-9}).x
    np.testing.assert_allclose(BeTheRater(answers=answers).fit().weights, best, atol=1e-4)


@given(choices, st.floats(0.1, 10), st.integers(1, 64))
@settings(max_examples=15, deadline=None)
def test_what_is_granted_is_the_librarys(javascript, answers, beta, draws):
    widget = BeTheRater(answers=answers, beta=beta, draws=draws)
    tilted, best = widget.policies()
    seen = [features(text) for text in pool()]
    reward = javascript(MODULE, "rewards", seen, widget.fit().weights.tolist())
    uniform = [1 / len(seen)] * len(seen)
    np.testing.assert_allclose(
        javascript("policies.js", "tilted", uniform, reward, beta), tilted, atol=1e-6
    )
    np.testing.assert_allclose(
        javascript("policies.js", "bestOf", uniform, reward, draws), best, atol=1e-6
    )


def test_the_pairs_tell_more_than_the_first_twelve():
    def told(apart):
        return np.linalg.slogdet(PRIOR * np.eye(len(NAMES)) + apart.T @ apart / 4)[1]

    seen = np.array([features(text) for text in pool()])
    assert len(set(telling_pairs())) == PAIRS
    assert told(differences()) > told((seen[::2] - seen[1::2])[:PAIRS]) + 1


def test_each_pair_raises_the_determinant_most():
    seen = [np.array(features(text)) for text in pool()]
    apart = [seen[2 * at] - seen[2 * at + 1] for at in range(len(seen) // 2)]
    information, left, chosen = PRIOR * np.eye(len(NAMES)), set(range(len(apart))), []
    for _ in range(12):
        told = {
            at: np.linalg.slogdet(information + np.outer(apart[at], apart[at]) / 4)[1]
            for at in sorted(left)
        }
        best = max(told.values())
        chosen.append(min(at for at in told if told[at] > best - 1e-9))
        left.remove(chosen[-1])
        information = information + np.outer(apart[chosen[-1]], apart[chosen[-1]]) / 4
    assert telling_pairs() == chosen


def test_pairs_are_the_two_replies_to_their_prompts():
    constants = BeTheRater.constants
    assert (constants["names"], constants["prior"]) == (list(NAMES), 0.5)
    assert [pair["at"] // 2 for pair in constants["pairs"]] == telling_pairs()
    for pair in constants["pairs"]:
        both = constants["pool"][pair["at"] : pair["at"] + 2]
        assert (pair["prompt"], *both) in [entry[1:] for entry in first_replies()]
    assert len(constants["pool"]) == 2 * len(first_replies()) == 400


def test_the_chapters_rater_counts_marks_and_nothing_else():
    worth = {0: 0, 1: 1, 2: 2, 3: 1, 4: 0}
    answers = []
    for at in telling_pairs():
        first, second = (worth.get(text.count("!"), -1) for text in pool()[2 * at : 2 * at + 2])
        answers.append(2 if first == second else 0 if first > second else 1)
    assert the_chapters_rater() == answers == BeTheRater.constants["rater"]
    assert {*answers} == {0, 1, 2}


def test_frames_are_the_record_of_one_run_without_a_leash():
    runs = [run for run in policies() if (run.run, run.seed) == ("no leash", 0)]
    found = frames()
    assert [frame["step"] for frame in found] == [run.step for run in runs]
    assert [frame["step"] for frame in found] == sorted({frame["step"] for frame in found})
    for frame, run in zip(found, runs, strict=True):
        assert [frame[name] for name in ("gold", "proxy", "kl")] == [*run[4:7]]
        assert " | ".join(frame["replies"]) == run.replies
        assert len(frame["replies"]) == 4
    assert BeTheRater(frame=len(found) - 1).frame == len(found) - 1
    with pytest.raises(traitlets.TraitError):
        BeTheRater(frame=len(found))


def test_the_policies_are_those_of_their_formulas():
    widget = BeTheRater(answers=the_chapters_rater(), beta=0.5, draws=3)
    reward = np.array([features(text) for text in pool()]) @ widget.fit().weights
    tilted, best = widget.policies()
    np.testing.assert_allclose(tilted, np.exp(reward / 0.5) / np.exp(reward / 0.5).sum(), atol=1e-8)
    below = np.array([(np.round(reward, 9) < r).sum() for r in np.round(reward, 9)]) / len(reward)
    up_to = np.array([(np.round(reward, 9) <= r).sum() for r in np.round(reward, 9)]) / len(reward)
    share = np.round((up_to - below) * len(reward))  # of those that are equally good
    np.testing.assert_allclose(best, (up_to**3 - below**3) / share, atol=1e-9)


def test_the_covariance_is_the_inverse_of_the_curvature():
    answers = [0, 1, 2, 2, 0, 1]
    found, apart = BeTheRater(answers=answers).fit(), differences()[:6]
    chance = 1 / (1 + np.exp(-apart @ found.weights))
    curvature = PRIOR * np.eye(4) + (apart.T * chance * (1 - chance)) @ apart
    np.testing.assert_allclose(found.covariance, np.linalg.inv(curvature), rtol=1e-4, atol=1e-7)


def test_the_picture_shows_weights_and_what_holds_95_percent():
    widget = BeTheRater(answers=[0, 1, 2, 0, 0])
    found = widget.fit()
    (axes,) = widget.picture().axes
    dots = axes.lines[0]
    np.testing.assert_allclose(dots.get_xdata(), found.weights)
    assert list(dots.get_ydata()) == [0, 1, 2, 3]
    bars = np.array(axes.collections[0].get_segments())
    reach = 1.959964 * np.sqrt(np.diag(found.covariance))
    np.testing.assert_allclose(bars[:, 0, 0], found.weights - reach, atol=1e-4)
    np.testing.assert_allclose(bars[:, 1, 0], found.weights + reach, atol=1e-4)
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first feature stands on top
    assert [label.get_text() for label in axes.get_yticklabels()] == list(NAMES)
    assert axes.get_xlim() == (-3.5, 3.5)
    assert axes.get_title().startswith("Your reward after 5 of 12 choices")
    chapters = BeTheRater(answers=BeTheRater.constants["rater"]).fit()
    outlines = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches]
    np.testing.assert_allclose(outlines, chapters.intervals(), atol=1e-3)
    assert list(axes.lines[-1].get_xdata()) == [0, 0]


def test_a_tie_is_no_preference(javascript):
    def said(policy, replies=("Ho!", "Who?", "Ho!", "Go.")):
        return javascript(MODULE, "mostOften", policy, replies)

    assert said([0.25] * 4) == "all alike"
    assert said([0.3, 0.2, 0.3, 0.2]) == "“Ho!”"  # one reply that was given twice
    assert said([0.2, 0.4, 0.2, 0.2]) == "“Who?”"
    assert said([0.2, 0.3, 0.2, 0.3]) == "“Who?” and 1 more, alike"
    widget = BeTheRater()
    for policy in widget.policies():
        assert said(policy.tolist(), pool()) == "all alike"


def test_what_is_said_of_the_choices(javascript):
    def say(answered, weights, deviations):
        fit = {"weights": weights, "deviations": deviations}
        return javascript(MODULE, "describe", answered, NAMES, fit)

    flat = math.sqrt(2)
    assert say(0, [0] * 4, [flat] * 4).endswith("anything between −2.8 and 2.8.")
    assert say(1, [0.5, 0, 0, 0], [1] * 4).startswith("After 1 choice no wish is sure of its sign")
    falls = say(2, [-0.5, 0.1, 0, 0], [1] * 4)
    assert falls == (
        "After 2 choices no wish is sure of its sign; the surest is that "
        f"{NAMES[0]} is worth −0.5, between −2.5 and 1.5."
    )
    assert "surest wish" in say(2, [1.97, 0, 0, 0], [1] * 4)
    assert "no wish is sure" in say(2, [1.96, 0, 0, 0], [1] * 4)
    line = say(5, [0.1, 2, 0, 0], [1, 0.5, 1, 1])
    assert line == (
        "After 5 choices the surest wish: ten characters is worth +2.0, between 1.0 and 3.0."
    )


@pytest.mark.parametrize(
    "state",
    [
        {"answers": [3]},
        {"answers": [-1]},
        {"answers": [1.0]},
        {"answers": [0] * (PAIRS + 1)},
        {"answers": [True]},
        {"beta": 0.0},
        {"beta": math.nan},
        {"draws": 65},
        {"frame": -1},
        {"reward": "gold"},
    ],
)
def test_bad_state_is_refused(state):
    with pytest.raises(traitlets.TraitError):
        BeTheRater(**state)


def test_it_has_a_picture():
    widget = BeTheRater(answers=the_chapters_rater())
    assert png(widget.picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_twelve_choices_by_keys_and_mouse(widget_page, width):
    page = widget_page(BeTheRater(), width=width)
    result = page.locator(".result")
    assert result.inner_text().startswith("You have not chosen yet")
    first = page.locator(".choices button").first
    first.focus()
    page.keyboard.press("Enter")
    settle(page)
    assert page.evaluate("model.get('answers')") == [0]
    page.locator(".choices button").last.click()
    page.get_by_role("button", name="Can't say").click()
    settle(page)
    assert page.evaluate("model.get('answers')") == [0, 1, 2]
    assert result.inner_text().startswith("After 3 choices")
    page.get_by_role("button", name="Take the last one back").click()
    page.get_by_role("button", name="Let the chapter's rater").click()
    settle(page)
    assert page.evaluate("model.get('answers')") == [0, 1, *the_chapters_rater()[2:]]
    assert first.is_disabled()
    before = page.locator("table").first.inner_text()
    page.get_by_label("Leash β").press("Home")
    page.get_by_label("Best of n").press("End")
    settle(page)
    assert page.locator("table").first.inner_text() != before
    page.get_by_label("A real run").press("End")
    settle(page)
    assert "!!!!!!" in page.locator("table").last.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_to_complain_about(widget_page, theme):
    page = widget_page(BeTheRater(answers=[0, 1, 2]), width=390, theme=theme)
    assert complaints(page) == []
