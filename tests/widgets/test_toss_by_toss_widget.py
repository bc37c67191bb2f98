"""Toss by toss: JavaScript against the library and SciPy, its state, its life in a browser."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer import statistics
from primer.notebook.figures import png
from primer.widgets.shared.mulberry import mulberry
from primer.widgets.toss_by_toss import MOST, RUNGS, TossByToss

FILE = "toss_by_toss.js"
counts, wholes = st.integers(0, 200), st.integers(1, 30)
sequences = st.text("HT", max_size=80)


@given(wholes, counts, wholes, counts, st.floats(0, 1))
def test_the_density_and_the_interval_are_those_of_a_beta_law(javascript, a, k, b, tails, p):
    law = scipy.stats.beta(a + k, b + tails)
    found = javascript(FILE, "density", p, a + k, b + tails)
    assert found == pytest.approx(law.pdf(p), rel=1e-8, abs=1e-200)
    ends = javascript(FILE, "interval", a + k, b + tails)
    assert ends == pytest.approx(law.interval(0.95), abs=1e-9)


@given(counts, counts, wholes, wholes)
def test_both_bet_by_their_laws(javascript, k, tails, a, b):
    n = k + tails
    fair, bent = javascript(FILE, "bets", k, n, a, b)
    assert fair == pytest.approx(scipy.stats.binom.pmf(k, n, 0.5), rel=1e-9)
    assert bent == pytest.approx(scipy.stats.betabinom.pmf(k, n, a, b), rel=1e-8)


@given(sequences, wholes, wholes)
def test_the_course_is_the_librarys_and_ends_at_the_ratio_of_the_bets(javascript, tosses, a, b):
    widget = TossByToss(tosses=tosses, a=a, b=b)
    found = javascript(FILE, "course", tosses, a, b)
    np.testing.assert_allclose(found, widget.course(), atol=1e-9)
    fair, bent = javascript(FILE, "bets", tosses.count("H"), len(tosses), a, b)
    assert found[-1] == pytest.approx(math.log10(fair / bent), abs=1e-9)
    factor = 10 ** found[-1]
    share = javascript(FILE, "share", found[-1])
    assert share == pytest.approx(statistics.posterior_probability(factor), rel=1e-9)


@given(st.text("HT", min_size=1, max_size=40), wholes, wholes)
def test_a_pot_that_all_bet_whole_is_shared_like_the_posterior(javascript, tosses, a, b):
    """Each spreads all it has on the next toss; who bet on what came shares the pot by the bets."""
    owned, law = np.array([0.5, 0.5]), statistics.Beta(a, b)
    for letter in tosses:
        ahead = law.mean()
        on_it = owned * ([0.5, ahead] if letter == "H" else [0.5, 1 - ahead])
        owned, law = on_it / on_it.sum(), law.update(int(letter == "H"), 1)
    power = javascript(FILE, "course", tosses, a, b)[-1]
    assert javascript(FILE, "share", power) == pytest.approx(owned[0], rel=1e-8)


@given(st.integers(0, 500), st.integers(0, 60), st.floats(0, 1))
def test_tosses_are_those_of_the_seed(javascript, seed, count, p):
    numbers = list(itertools.islice(mulberry(seed), count + 2))[2:]
    expected = "".join("H" if u < p else "T" for u in numbers)
    assert javascript(FILE, "toss", seed, count, p) == expected


kinds = st.sampled_from(["credible", "confidence"])


@given(st.text("HT", max_size=40), kinds, wholes, wholes, st.integers(0, 100))
def test_the_ladder_is_that_of_python(javascript, tosses, kind, a, b, percents):
    chance = percents / 100
    widget = TossByToss(tosses=tosses, beside=kind, a=a, b=b, chance=chance)
    n = len(tosses)
    counts = javascript(FILE, "others", widget.seed, RUNGS, n, chance)
    assert counts == widget.others().tolist()
    ends = [javascript(FILE, "rung", kind, k, n, a, b) for k in range(n + 1)]
    np.testing.assert_allclose(ends, widget.intervals(range(n + 1)), atol=1e-9)
    assert np.all(np.diff(ends, axis=0) >= 0)  # which `coverage` counts on


@pytest.mark.parametrize(("a", "percents"), [(1, 7), (2, 50), (30, 70), (1, 93)])
@pytest.mark.parametrize("kind", ["credible", "confidence"])
def test_the_coverage_is_that_of_python(javascript, kind, a, percents):
    widget = TossByToss(tosses="H" * 12, beside=kind, a=a, b=1, chance=percents / 100)
    expected = widget.coverage()
    found = javascript(FILE, "covers", kind, 12, a, 1, percents / 100)
    assert found == pytest.approx(expected, abs=1e-9)
    if kind == "confidence":
        assert expected >= 0.95


def test_half_of_the_coins_to_guess_are_fair_and_the_others_even(javascript):
    coins = np.array([javascript(FILE, "coin", seed) for seed in range(400)])
    fair = coins == 0.5
    assert abs(fair.mean() - 0.5) < 4 * 0.5 / 20
    assert scipy.stats.kstest(coins[~fair], "uniform").pvalue > 1e-3


def test_what_is_typed_is_read_as_far_as_it_is_tosses(javascript):
    assert javascript(FILE, "typed", "hh t\nH", 10) == {"tosses": "HHTH", "note": ""}
    found = javascript(FILE, "typed", "HxT7", 10)
    assert found == {"tosses": "HT", "note": "Only H and T count; 2 other letters left out."}
    found = javascript(FILE, "typed", "H" * 10_000, MOST)
    assert found == {"tosses": "H" * MOST, "note": "The first 1,000 tosses count."}


def test_the_result_line_says_what_is_known(javascript):
    state = {"tosses": "HTTHHHHTHH", "a": 1, "b": 1, "beside": "bets"}
    power = math.log10(120 * 11 / 1024)
    assert javascript(FILE, "describe", state, power) == (
        "7 heads in 10 tosses: Beta(8, 4), mean 0.667, 95% from 0.39 to 0.89. B₀₁ = 1.29; the fair "
        "coin has 56.3% of the pot."
    )
    other = {**state, "beside": "credible"}
    ladder = {"held": 44, "count": 50, "share": 0.924}
    assert javascript(FILE, "describe", other, power, ladder).endswith(
        "Of 50 credible intervals 44 hold θ, in the long run 92.4%."
    )
    waits = javascript(FILE, "describe", other, power)
    assert waits.endswith("The ladder of other coins waits until this one is shown.")
    assert javascript(FILE, "portion", 1e-9) == "<\u00a00.1%"
    assert javascript(FILE, "portion", 1 - 1e-9) == ">\u00a099.9%"
    assert javascript(FILE, "describe", {**state, "tosses": ""}, 0).startswith("No toss yet: Beta(")


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"chance": 1.1}, "chance must be 0 to 1, got 1.1"),
        ({"chance": math.nan}, "chance must be"),
        ({"a": 0}, "a must be 1 to 30, got 0"),
        ({"b": 31}, "b must be 1 to 30"),
        ({"tosses": "HX"}, "holds 'X'; a toss is H or T"),
        ({"tosses": "H" * 1001}, "has 1001 letters, 1000 have room"),
    ],
)
def test_values_out_of_range_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        TossByToss(**state)


def test_the_opening_state_is_what_its_seed_tosses(javascript):
    widget = TossByToss()
    assert javascript(FILE, "toss", widget.seed, 10, widget.chance) == widget.tosses
    assert 10 ** widget.course()[-1] == pytest.approx(statistics.coin_bayes_factor(7, 10))


def test_the_still_picture_shows_the_posterior_the_bets_and_the_course():
    widget = TossByToss(tosses="HHTHT", a=2, b=3)
    left, bets, course = widget.picture().axes
    theta, height = left.lines[1].get_data()
    np.testing.assert_allclose(height, scipy.stats.beta(5, 5).pdf(theta))
    heights = [[bar.get_height() for bar in row] for row in bets.containers]
    np.testing.assert_allclose(heights, widget.bets())
    np.testing.assert_allclose(course.lines[0].get_ydata(), widget.course())


def test_it_has_a_picture():
    assert png(TossByToss(tosses="", hidden=True).picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_tossed_typed_and_turned(widget_page, width):
    page = widget_page(TossByToss(), width=width, has_touch=True)
    result = page.locator(".result")
    assert "7 heads in 10 tosses: Beta(8, 4)" in result.inner_text()
    page.get_by_role("button", name="+100").tap()
    settle(page)
    tosses = page.evaluate("model.get('tosses')")
    assert tosses.startswith("HTTHHHHTHH")
    assert len(tosses) == 110
    page.locator(".grip").press("ArrowLeft")  # a chance that is lower turns heads into tails
    settle(page)
    assert page.evaluate("model.get('chance')") == 0.69
    lower = page.evaluate("model.get('tosses')")
    assert all(not (a == "T" and b == "H") for a, b in zip(tosses, lower, strict=True))
    page.get_by_label("Prior, heads a").press("ArrowRight")
    settle(page)
    assert f"Beta({2 + lower.count('H')}, " in result.inner_text()
    field = page.get_by_label("Tosses, or type H and T")
    field.fill("hhhx")
    settle(page)
    assert "3 heads in 3 tosses" in result.inner_text()
    assert "1 other letter left out" in page.locator(".note").inner_text()
    page.get_by_role("button", name="Start again").tap()
    settle(page)
    assert "No toss yet" in result.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_a_ladder_stands_beside_it_and_hides_with_the_coin(widget_page, width):
    page = widget_page(TossByToss(a=30, b=30), width=width)
    high = page.locator("#widget").bounding_box()["height"]
    page.get_by_label("Beside it").select_option("credible")
    settle(page)
    result = page.locator(".result")
    assert "Of 50 credible intervals 0 hold θ, in the long run <\u00a00.1%" in result.inner_text()
    assert page.locator("svg.ladder .misses").get_attribute("d").count("M") == 50
    assert page.locator("#widget").bounding_box()["height"] == pytest.approx(high, abs=6)
    page.get_by_label("Beside it").select_option("confidence")
    settle(page)
    assert "Of 50 confidence intervals 49 hold θ, in the long run 98.9%" in result.inner_text()
    assert page.locator("svg.ladder .misses").get_attribute("d").count("M") == 1
    page.get_by_label("hide it").click()
    settle(page)
    assert "waits until this one is shown" in result.inner_text()
    assert not page.locator("svg.ladder .holds").get_attribute("d")
    page.get_by_label("Beside it").select_option("bets")
    settle(page)
    assert page.locator("svg.spread").is_visible()


@pytest.mark.browser
def test_a_hidden_coin_is_nowhere_to_be_read(widget_page):
    page = widget_page(TossByToss())
    page.get_by_role("button", name="A coin to guess").click()
    settle(page)
    slider = page.get_by_role("slider", name="Chance θ")
    assert slider.is_disabled()
    assert slider.input_value() == "0.5"
    assert page.locator("output").first.inner_text() == "?"
    assert page.locator(".grip").get_attribute("visibility") == "hidden"
    assert page.locator("circle.coin").get_attribute("visibility") == "hidden"
    page.get_by_label("hide it").click()
    settle(page)
    shown = page.evaluate("model.get('chance')")
    assert page.locator("output").first.inner_text() == f"{shown:.2f}"


@pytest.mark.browser
def test_it_tosses_on_until_there_is_no_room(widget_page):
    page = widget_page(TossByToss(tosses="H" * 995), clock=True)
    page.get_by_role("button", name="Toss", exact=False).first.click()
    page.clock.run_for(3000)
    assert len(page.evaluate("model.get('tosses')")) == MOST
    assert page.get_by_role("button", name="+1", exact=True).is_disabled()
    assert "1,000 tosses have room" in page.locator(".note").inner_text()
