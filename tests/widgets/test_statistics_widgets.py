"""The widgets of statistics: their JavaScript against the library, their state, their life."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import scipy.stats
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from widget_page import settle

from primer import statistics
from primer.notebook.figures import png
from primer.widgets import PowerExplorer, SamplingLaboratory
from primer.widgets.sampling import ESTIMATORS, POPULATIONS, SIZES, TRUTH, order

POWER, SAMPLING = "power.js", "sampling.js"
SEEDS = st.integers(0, 2**32 - 1)
EFFECTS, COUNTS, LEVELS = st.floats(-1.5, 1.5), st.integers(2, 200), st.floats(0.001, 0.3)
alternatives = st.sampled_from(["two-sided", "greater", "less"])
pairs = [(p, e) for p, people in POPULATIONS.items() for e in people.estimators]
each_pair = pytest.mark.parametrize(("population", "estimator"), pairs)


# --- the mathematics of power, against primer -----------------------------------------------------


@given(x=st.floats(-40, 40))
def test_normal_cdf(javascript, x):
    got = javascript(POWER, "normalCdf", x)
    assert got == pytest.approx(scipy.stats.norm.cdf(x), abs=1e-13)


@given(n=COUNTS, effect=EFFECTS, t=st.floats(-20, 20))
def test_noncentral_t(javascript, n, effect, t):
    df, delta = n - 1, effect * math.sqrt(n)
    cdf, density = statistics.noncentral_t_cdf, statistics.noncentral_t_density
    assert javascript(POWER, "nctCdf", t, df, delta) == pytest.approx(cdf(t, df, delta), abs=1e-7)
    got = javascript(POWER, "nctDensity", t, df, delta)
    assert got == pytest.approx(density(t, df, delta), abs=1e-7)


@given(effect=EFFECTS, n=COUNTS, alpha=LEVELS, alternative=alternatives)
def test_critical_values_and_power(javascript, effect, n, alpha, alternative):
    got = javascript(POWER, "criticalValues", n, alpha, alternative)
    expected = statistics.t_critical_values(n - 1, alpha, alternative)
    got = [math.copysign(math.inf, i - 0.5) if c is None else c for i, c in enumerate(got)]
    assert got == pytest.approx(expected, rel=1e-6)
    got = javascript(POWER, "power", effect, n, alpha, alternative)
    assert got == pytest.approx(statistics.t_power(effect, n, alpha, alternative), abs=1e-6)


@given(size=st.floats(0.1, 1.5), alpha=LEVELS, alternative=alternatives)
def test_sample_size(javascript, size, alpha, alternative):
    effect = -size if alternative == "less" else size
    got = javascript(POWER, "sampleSize", effect, 0.8, alpha, alternative)
    assert got == statistics.t_sample_size(effect, 0.8, alpha, alternative)


def test_sample_size_says_when_there_is_none(javascript):
    assert javascript(POWER, "sampleSize", 0, 0.8, 0.05, "two-sided") is None
    assert javascript(POWER, "sampleSize", -0.5, 0.8, 0.05, "greater") is None
    both = [javascript(POWER, "sampleSize", d, 0.8, 0.05, "two-sided") for d in (-0.5, 0.5)]
    assert both == [34, 34]
    assert javascript(POWER, "sampleSize", 0.01, 0.8, 0.05, "two-sided", 1000) is None
    needed = statistics.t_sample_size(0.3, 0.8, 0.05, "two-sided")
    for most, found in ((needed, needed), (needed - 1, None)):
        assert javascript(POWER, "sampleSize", 0.3, 0.8, 0.05, "two-sided", most) == found
    assert javascript(POWER, "sampleSize", 50, 0.8, 0.05, "two-sided") == 2  # no test has fewer


@pytest.mark.parametrize(
    ("variance", "said"), [(1.0, "0.50 ± 0.02"), (100.0, "0.01 ± 0.00"), (1e3, "0.00")]
)
def test_efficiency_is_written_with_its_error(javascript, variance, said):
    read = {"variance": variance, "varianceError": 0.02}
    assert javascript(SAMPLING, "efficiency", read, 0.5) == said


def test_no_error_is_written_where_there_is_none(javascript):
    read = {"variance": 0.5}  # and no error, as where it is infinite
    assert javascript(SAMPLING, "efficiency", read, 0.25) == "0.50"


# --- the mathematics of sampling, against primer --------------------------------------------------


@pytest.mark.parametrize("population", POPULATIONS)
def test_densities(javascript, population):
    at = np.linspace(-5, 6, 57)
    expected = POPULATIONS[population].family.density(at, TRUTH)
    got = [javascript(SAMPLING, "density", population, x) for x in at]
    np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("population", POPULATIONS)
def test_draws_follow_the_population(javascript, population, seed):
    laws = {
        "normal": scipy.stats.norm(1),
        "Laplace": scipy.stats.laplace(1),
        "Cauchy": scipy.stats.cauchy(1),
        "exponential": scipy.stats.expon(),
        "uniform": scipy.stats.uniform(),
    }
    x = javascript(SAMPLING, "sample", population, 5000, seed)
    # Right draws would fail either once in a million: both p-values are uniform then.
    assert scipy.stats.kstest(x, laws[population].cdf).pvalue > 1e-6
    assert scipy.stats.spearmanr(x[:-1], x[1:]).pvalue > 1e-6


@each_pair
@pytest.mark.parametrize("n", SIZES)
def test_estimates_and_bounds(javascript, population, estimator, n):
    x = POPULATIONS[population].family.draw(TRUTH, n, np.random.default_rng(n))
    expected = float(ESTIMATORS[estimator].function(x))
    assert javascript(SAMPLING, "estimate", estimator, x) == pytest.approx(expected, rel=1e-9)
    widget = SamplingLaboratory(population=population, estimator=estimator, n=n)
    got = javascript(SAMPLING, "bound", population, estimator, n)
    assert got == pytest.approx(widget.bound(), rel=1e-12)


@pytest.mark.parametrize(
    ("population", "estimator"),
    [(p, e) for p, e in pairs if p != "Cauchy" or e in ("median", "trimmed mean")],
)  # the other estimators of a Cauchy center have no expectation
def test_slopes_are_the_expectations(population, estimator):
    family, n = POPULATIONS[population].family, 20
    values = ESTIMATORS[estimator].function(
        family.draw(TRUTH, (60_000, n), np.random.default_rng(3))
    )
    error = values.std() / math.sqrt(len(values))
    assert abs(values.mean() - ESTIMATORS[estimator].slope(n)) < 5 * error


@each_pair
@pytest.mark.parametrize("n", SIZES)
def test_moments_exist_on_both_sides_alike(javascript, population, estimator, n):
    expected = order(population, estimator, n)
    if math.isfinite(expected):  # infinity is no JSON
        assert javascript(SAMPLING, "order", population, estimator, n) == expected
    else:
        assert population in ("normal", "Laplace", "uniform")


@pytest.mark.parametrize(
    ("population", "estimator", "n", "beyond"),
    [
        ("Cauchy", "mean", 20, scipy.stats.cauchy.sf),
        ("Cauchy", "median", 5, lambda t: scipy.stats.beta(3, 3).cdf(scipy.stats.cauchy.sf(t))),
        ("exponential", "1 / mean", 3, scipy.stats.invgamma(3).sf),
    ],
)
def test_a_tail_falls_like_the_power_that_ends_the_moments(population, estimator, n, beyond):
    power = math.log10(beyond(1e4) / beyond(1e5))
    assert power == pytest.approx(order(population, estimator, n), abs=0.01)


@given(values=st.lists(st.floats(-50, 50), min_size=2, max_size=60))
def test_moments(javascript, values):
    got = javascript(SAMPLING, "momentsOf", values)
    variance = np.var(values)
    assert got["variance"] == pytest.approx(variance, rel=1e-8, abs=1e-9)
    assert got["bias"] == pytest.approx(np.mean(values) - TRUTH, abs=1e-9)
    assert got["mse"] == pytest.approx(np.mean((np.array(values) - TRUTH) ** 2), rel=1e-8, abs=1e-9)
    fourth = np.mean((np.array(values) - np.mean(values)) ** 4)
    error = math.sqrt(max(fourth - variance**2, 0) / len(values))
    assert got["varianceError"] == pytest.approx(error, rel=1e-4, abs=1e-3)


# --- the Python side ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "state", "complaint"),
    [
        (PowerExplorer, {"effect": 2.0}, "effect must be -1.5 to 1.5, got 2.0"),
        (PowerExplorer, {"effect": math.nan}, "effect must be"),
        (PowerExplorer, {"n": 1}, "n must be 2 to 200, got 1"),
        (PowerExplorer, {"alpha": 0.0}, "alpha must be 0.001 to 0.3, got 0.0"),
        (PowerExplorer, {"alternative": "both"}, "two-sided"),
        (PowerExplorer, {"power": 0.8}, "PowerExplorer has no power"),
        (SamplingLaboratory, {"population": "Zipf"}, "normal"),
        (SamplingLaboratory, {"estimator": "maximum"}, "for a normal population estimator must"),
        (SamplingLaboratory, {"population": "uniform", "estimator": "mean"}, "for a uniform"),
        (SamplingLaboratory, {"n": 4}, "3"),
        (SamplingLaboratory, {"seed": -1}, "should not be less than 0"),
    ],
)
def test_bad_state_is_refused(kind, state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        kind(**state)


def test_a_new_population_brings_an_estimator_that_fits():
    widget = SamplingLaboratory()
    widget.population = "uniform"
    assert widget.estimator == "maximum"
    widget.population, widget.n = "Laplace", 50
    widget.estimator = "median"
    widget.population = "normal"
    assert widget.estimator == "median"  # it fits here too
    assert widget.bound() == pytest.approx(1 / 50)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_power_has_a_picture(alternative):
    picture = PowerExplorer(effect=0.7, alternative=alternative).picture()
    picture.draw_without_rendering()


def test_power_has_a_picture_in_pixels():
    assert png(PowerExplorer().picture()).startswith(b"\x89PNG")


@pytest.mark.thorough
@each_pair
def test_sampling_has_a_picture(population, estimator):
    picture = SamplingLaboratory(population=population, estimator=estimator).picture()
    picture.set_layout_engine("none")  # making room for titles takes longer than drawing
    picture.draw_without_rendering()


def test_sampling_has_a_picture_in_pixels():
    assert png(SamplingLaboratory().picture()).startswith(b"\x89PNG")


# --- in a browser ---------------------------------------------------------------------------------


@pytest.mark.browser
def test_power_answers_to_keys_and_mouse(widget_page):
    page = widget_page(PowerExplorer(effect=0.5, n=16))
    number = page.locator(".tile.right .number")
    assert number.inner_text() == f"{statistics.t_power(0.5, 16):.3f}"
    page.get_by_label("Observations n").press("ArrowRight")
    settle(page)
    assert number.inner_text() == f"{statistics.t_power(0.5, 17):.3f}"
    page.get_by_label("d > 0").check()
    settle(page)
    assert number.inner_text() == f"{statistics.t_power(0.5, 17, 0.05, 'greater'):.3f}"
    plot = page.get_by_role("slider", name="Effect: where the density")
    plot.focus()
    plot.press("ArrowRight")
    settle(page)
    assert page.evaluate("model.get('effect')") == pytest.approx(0.55)
    told = [plot.get_attribute(f"aria-value{part}") for part in ("min", "now", "max", "text")]
    assert [*map(float, told[:3])] == pytest.approx([-1.5, 0.55, 1.5])
    assert told[3] == "effect 0.55"
    expected = statistics.t_sample_size(0.55, 0.8, 0.05, "greater")
    needed = page.locator(".needed").inner_text().replace("\N{NO-BREAK SPACE}", " ")
    assert f"needs n = {expected}." in needed
    box = plot.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 100)
    settle(page)
    assert abs(page.evaluate("model.get('effect')")) < 0.55


@pytest.mark.browser
def test_power_experiments_agree_with_the_numbers(widget_page):
    page = widget_page(PowerExplorer(effect=0.5, n=16), clock=True)
    page.get_by_role("button", name="Run experiments").click()
    page.clock.run_for(1200)
    page.get_by_role("button", name="Pause").click()
    for tile, expected in (("alpha", 0.05), ("right", statistics.t_power(0.5, 16))):
        share, runs = page.locator(f".tile.{tile} .seen").inner_text().split("% of ")
        runs = int(runs.split()[0])
        error = math.sqrt(expected * (1 - expected) / runs)
        assert abs(float(share) / 100 - expected) < 5 * error + 1e-3
    page.get_by_role("button", name="Clear").click()
    page.clock.run_for(100)
    assert page.locator(".tile.right .seen").inner_text() == ""


def points_of(page, name):
    """Return the points of a path, in pixels of its drawing."""
    drawn = page.locator(f"path.{name}").first.get_attribute("d")
    drawn = re.sub(r"H([-\d.]+)", r"L\1 0", re.sub(r"V([-\d.]+)", r"L0 \1", drawn or ""))
    return np.reshape([float(part) for part in re.findall(r"[-\d.]+", drawn)], (-1, 2))


def scale_of(page, drawing):
    """Return how pixels along the lower axis become its numbers."""
    ticks = page.locator(f".{drawing} .tick[text-anchor=middle]")
    places = ticks.evaluate_all("all => all.map((e) => Number(e.getAttribute('x')))")
    numbers = [float(text.replace("−", "-")) for text in ticks.all_text_contents()]
    return np.polynomial.Polynomial.fit(places, numbers, 1)


@pytest.mark.browser
def test_a_test_to_one_side_rejects_on_that_side(widget_page):
    page = widget_page(PowerExplorer(effect=-0.5, n=16, alternative="less"), clock=True)
    critical = statistics.t_critical_values(15, 0.05, "less")[0]
    at = scale_of(page, "densities")
    for name, ends in (
        ("alpha", (-6.7, critical)),
        ("right", (-6.7, critical)),
        ("beta", (critical, 5)),
    ):
        x = at(points_of(page, name)[:-2, 0])  # without the corners below the curve
        assert (x[0], x[-1]) == pytest.approx(ends, abs=0.1), name
    assert page.locator("path.threshold").first.get_attribute("d").count("M") == 1
    assert f"critical value −{-critical:.2f}, power" in page.locator(".result").inner_text()
    page.get_by_role("button", name="Run experiments").click()
    page.clock.run_for(1500)
    page.get_by_role("button", name="Pause").click()
    shares = {}
    for tile in ("alpha", "beta", "right"):
        seen = page.locator(f".tile.{tile} .seen").inner_text()
        shares[tile] = float(seen.split("%")[0]) / 100
    power = statistics.t_power(-0.5, 16, 0.05, "less")
    assert shares["right"] == pytest.approx(power, abs=0.06)
    assert shares["beta"] == pytest.approx(1 - shares["right"], abs=1.1e-3)
    assert shares["alpha"] == pytest.approx(0.05, abs=0.03)
    for name, center in (("seen0", 0), ("seen1", -0.5 * 4)):  # histograms under the densities
        steps = points_of(page, name)
        middles = at(steps.reshape(-1, 2, 2)[..., 0].mean(1))
        heights = max(steps[:, 1]) - steps[::2, 1]
        assert middles @ heights / heights.sum() == pytest.approx(center, abs=0.2)
        widths = np.ptp(at(steps.reshape(-1, 2, 2)[..., 0]), axis=1)
        np.testing.assert_allclose(widths, 0.25, atol=1e-3)
        line = points_of(page, "null" if name == "seen0" else "other")
        tallest = max(line[:, 1]) - min(line[:, 1])
        assert heights.max() / tallest == pytest.approx(1, abs=0.25)


@pytest.mark.browser
def test_both_densities_are_seen_whole_with_their_names(widget_page):
    page = widget_page(PowerExplorer(effect=0.1, n=4))
    name = {kind: page.locator(f"text.{kind}") for kind in ("with", "without")}
    for effect, n, beside in (
        (0.1, 4, False),
        (1.5, 200, True),
        (-1.5, 120, True),
        (0.7, 16, True),
    ):
        page.evaluate("([d, n]) => { model.set('effect', d); model.set('n', n) }", [effect, n])
        settle(page)
        for curve in ("null", "other"):
            heights = points_of(page, curve)[:, 1]
            foot, top = max(heights), min(heights)
            assert max(abs(heights[[0, -1]] - foot)) < 0.1 * (foot - top)
        boxes = {kind: text.bounding_box() for kind, text in name.items()}
        lower = boxes["without"]["y"] - boxes["with"]["y"]
        assert lower == pytest.approx(0 if beside else 14, abs=0.5)
        (a, b), drawing = boxes.values(), page.locator("svg.densities").bounding_box()
        apart = a["x"] + a["width"] < b["x"] or b["x"] + b["width"] < a["x"]
        assert apart == beside
        assert drawing["x"] <= boxes["with"]["x"]
        assert boxes["with"]["x"] + boxes["with"]["width"] <= drawing["x"] + drawing["width"]
    page.evaluate("model.set('effect', 0.01)")
    settle(page)
    assert page.locator(".needed").inner_text() == (
        "No sample of up to 10,000 finds this effect with a power of 0.8."
    )


@pytest.mark.browser
def test_estimates_without_a_variance_leave_the_drawings(widget_page):
    page = widget_page(SamplingLaboratory(population="Cauchy", estimator="mean", n=20))
    rows = page.locator("tbody tr").all_inner_texts()
    said = [" ".join(row.split()) for row in rows]
    assert said[:2] == ["bias none no expectation", "variance ∞"]
    assert said[3] == "MSE ∞ var + bias²"
    assert "no bias, variance ∞" in page.locator(".result").inner_text()
    note = page.locator("svg.histogram > text")
    outside = float(re.match(r"(.*)% fall outside", note.text_content())[1])
    law = scipy.stats.cauchy(1)  # of the mean as of one observation
    assert outside / 100 == pytest.approx(law.cdf(-0.5) + law.sf(2.5), abs=0.08)
    dots = page.locator("circle.dot")
    off = dots.evaluate_all("all => all.map((e) => e.classList.contains('off'))")
    top = min(dots.evaluate_all("all => all.map((e) => Number(e.getAttribute('cy')))"))
    assert all(off)
    for i, dot in enumerate(dots.all()):
        assert (float(dot.get_attribute("cy")) == top) == off[i]
        assert ("current" in dot.get_attribute("class")) == (SIZES[i] == 20)
    assert not page.locator("path.whiskers").get_attribute("d")
    page.evaluate("model.set('estimator', 'median')")
    settle(page)
    off = dots.evaluate_all("all => all.map((e) => e.classList.contains('off'))")
    assert off == [n < 5 for n in SIZES]  # three have a median without a variance
    whiskers = page.locator("path.whiskers").get_attribute("d")
    assert whiskers.count("M") == sum(order("Cauchy", "median", n) > 4 for n in SIZES)
    page.evaluate("model.set('population', 'uniform'); model.set('estimator', 'maximum')")
    settle(page)
    assert page.locator("path.whiskers").get_attribute("d").count("M") == len(SIZES)
    assert note.text_content() == ""
    ticks = page.locator(".decline .tick").all_text_contents()
    assert ticks == ["3", "10", "30", "100", "10⁻⁵", "10⁻⁴", "0.001", "0.01", "0.1", "1", "10"]


@pytest.mark.browser
def test_laboratory_answers_to_keys_and_shows_the_bound(widget_page):
    page = widget_page(SamplingLaboratory(n=12), width=390, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_label("Sample size n").press("ArrowRight")
    settle(page)
    assert page.evaluate("model.get('n')") == 20
    assert "400 samples of 20" in page.locator(".result").inner_text()
    assert page.locator("tbody tr:nth-child(3) td").first.inner_text() == "0.05000"
    page.get_by_role("combobox", name="Population").select_option("uniform")
    settle(page)
    assert page.evaluate("model.get('estimator')") == "maximum"
    assert "does not hold" in page.locator("tbody tr:nth-child(3)").inner_text()
    assert page.locator(".legend .bound").inner_text() == "Cramér–Rao: no bound here"
    page.get_by_role("button", name="One sample").tap()
    settle(page)
    assert "401 samples" in page.locator(".result").inner_text()
    page.locator(".decline").tap(position={"x": 300, "y": 100})
    settle(page)
    assert page.evaluate("model.get('n')") > 50


@pytest.mark.browser
def test_laboratory_grows_while_it_plays(widget_page):
    page = widget_page(SamplingLaboratory(), clock=True)
    page.get_by_role("button", name="Draw samples").click()
    page.clock.run_for(1000)
    page.get_by_role("button", name="Pause").click()
    count = int(page.locator(".result").inner_text().split(" samples")[0].replace(",", ""))
    assert count > 600
    assert (count - 400) % 12 == 0  # a frame draws twelve
    variance = float(page.locator("tbody tr:nth-child(2) td").first.inner_text())
    assert variance == pytest.approx(1 / 12, rel=0.3)


@pytest.mark.browser
def test_each_population_is_shown_where_its_observations_are(widget_page):
    page = widget_page(SamplingLaboratory())
    for population, law, few in (
        ("normal", scipy.stats.norm(1), [0.00135, 0.00135]),
        ("Laplace", scipy.stats.laplace(1), [0.0034, 0.0034]),
        ("Cauchy", scipy.stats.cauchy(1), [0.04, 0.04]),
        ("exponential", scipy.stats.expon(), [0, 0.0067]),
        ("uniform", scipy.stats.uniform(), [0, 0]),
    ):
        page.evaluate("(name) => model.set('population', name)", population)
        settle(page)
        at = scale_of(page, "strip")
        axis = re.split("[MVH ]", page.locator(".strip .axis").get_attribute("d"))
        low, high = at(float(axis[1])), at(float(axis[-1]))
        assert [law.cdf(low), law.sf(high)] == pytest.approx(few, rel=0.05), population
        if few[0] == 0:  # half a unit where nothing can fall
            assert low == pytest.approx(-0.5, abs=0.05)
        if few[1] == 0:
            assert high == pytest.approx(1.5, abs=0.05)


@pytest.mark.browser
def test_long_names_leave_room_for_the_sample_size(widget_page):
    page = widget_page(SamplingLaboratory())
    page.get_by_role("combobox", name="Population").select_option("uniform")
    settle(page)
    estimator = page.get_by_role("combobox", name="Estimator")
    for label in estimator.locator("option").all_inner_texts():
        estimator.select_option(label=label)
        settle(page)
        outside = "(e) => e.scrollWidth - e.clientWidth"
        assert page.locator("#widget").evaluate(outside) <= 0, label


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("widget", [PowerExplorer, SamplingLaboratory])
def test_nothing_leaves_a_narrow_page(widget_page, widget, theme):
    page = widget_page(widget(), width=390, theme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
