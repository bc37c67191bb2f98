"""The tilt: JavaScript against the library, its state, its life in a browser."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import scipy.stats
import torch
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import complaints, settle

from primer import alignment
from primer.notebook.figures import png
from primer.widgets.tilt import RATES, REFERENCE, REPLIES, REWARDS, Tilt

rewards, betas = st.sampled_from(sorted(REWARDS)), st.floats(0.1, 10)


@given(rewards, betas, st.integers(1, 64), st.integers(0, 200))
def test_the_policies_are_the_librarys(javascript, reward, beta, draws, steps):
    widget = Tilt(reward=reward, beta=beta, draws=draws, steps=steps)
    state = {"reward": reward, "beta": beta, "draws": draws, "steps": steps}
    found = javascript("tilt.js", "world", state, Tilt.constants)
    tilted, best = widget.policies()
    np.testing.assert_allclose(found["policy"], tilted, atol=1e-9)
    np.testing.assert_allclose(found["chosen"], best, atol=1e-9)
    climbing, direct = widget.trained()
    np.testing.assert_allclose(found["climbing"], climbing, atol=1e-6)
    np.testing.assert_allclose(found["following"], direct, atol=1e-6)


@given(rewards, st.floats(0.3, 10))
@settings(max_examples=15, deadline=None)
def test_arrow_and_step_are_the_gradients_of_the_losses(javascript, reward, beta):
    reference = torch.tensor(REFERENCE, dtype=torch.double)
    values = torch.tensor(REWARDS[reward], dtype=torch.double)
    logits = (reference.log() + torch.linspace(-1, 1, 6)).requires_grad_()
    policy = logits.softmax(0)
    goal = policy @ values - beta * alignment.kl_divergence(policy, reference)
    goal.backward()
    found = javascript("policies.js", "push", policy.tolist(), REFERENCE, REWARDS[reward], beta)
    np.testing.assert_allclose(found, logits.grad / beta, atol=1e-9)

    theta = reference.log().clone().requires_grad_()  # one step of DPO, by the published loss
    i, j = (x.reshape(-1) for x in torch.meshgrid(torch.arange(6), torch.arange(6), indexing="ij"))
    weight = reference[i] * reference[j] * torch.sigmoid(values[i] - values[j])
    log_p = theta.log_softmax(0)
    pairs = [
        alignment.dpo_loss(log_p[[a]], log_p[[b]], *reference.log()[[a, b], None], beta)
        for a, b in zip(i.tolist(), j.tolist(), strict=True)
    ]
    (weight * torch.stack(pairs)).sum().backward()
    step = -RATES["direct"] * theta.grad / beta  # of the implicit rewards
    after = alignment.tilted(reference, step, beta)
    got = javascript("policies.js", "direct", REFERENCE, REWARDS[reward], beta, 1, RATES["direct"])
    np.testing.assert_allclose(got, after, atol=1e-9)


def test_replies_of_one_reward_share_what_the_best_of_two_wins(javascript):
    best = javascript("policies.js", "bestOf", [0.5, 0.375, 0.125], [1, 0, 0], 2)
    assert best == [0.75, 0.1875, 0.0625]  # the first, unless it is drawn neither time


def test_what_is_never_said_adds_nothing_to_the_divergence(javascript):
    assert javascript("policies.js", "divergence", [0, 1], [0.5, 0.5]) == math.log(2)


@pytest.mark.parametrize("reward", sorted(REWARDS))
def test_both_trainings_end_at_the_tilt(reward):
    widget = Tilt(reward=reward, beta=1.0, steps=1000)
    tilted, _ = widget.policies()
    for learner in widget.trained():
        np.testing.assert_allclose(learner, tilted, atol=0.02)


def test_the_result_line_says_what_the_tilt_says(javascript):
    state = {"reward": "marks", "beta": 0.1, "draws": 1, "steps": 0}
    found = javascript("tilt.js", "world", state, Tilt.constants)
    line = javascript("tilt.js", "describe", REPLIES, found, 1, 0)
    assert "says “Ho! ho! ho! ho!” in 100%" in line
    assert "the best of 1 earns 0.34 at KL 0.00." in line
    assert line.endswith("After 0 steps the policy gradient earns 0.34 and DPO 0.34.")
    one = javascript("tilt.js", "describe", REPLIES, found, 1, 1)
    assert " After 1 step the" in one


@pytest.mark.parametrize(
    "state",
    [{"beta": 0.0}, {"beta": math.nan}, {"draws": 0}, {"reward": "gold"}, {"steps": -1}],
)
def test_values_out_of_range_are_refused(state):
    with pytest.raises(traitlets.TraitError):
        Tilt(**state)


def test_the_still_picture_shows_the_policies():
    widget = Tilt(reward="wish", beta=0.5, draws=8, steps=20)
    bars, plane = widget.picture().axes
    tilted, best = widget.policies()
    lengths = [bar.get_width() for bar in bars.patches]
    np.testing.assert_allclose(lengths, [*tilted, *REFERENCE])
    assert [label.get_text() for label in bars.get_yticklabels()] == list(REPLIES)
    line, *marks = (np.transpose(drawn.get_data()) for drawn in plane.lines)
    reward = np.array(REWARDS["wish"])
    for mark, policy in zip(marks, (tilted, best, *widget.trained()), strict=True):
        divergence = scipy.stats.entropy(policy, REFERENCE)
        np.testing.assert_allclose(mark, [[divergence, policy @ reward]], atol=1e-9)
    exact = np.interp(marks[0][0, 0], *line[::-1].T)  # the tilt itself lies on the line of all β
    assert marks[0][0, 1] == pytest.approx(exact, abs=0.01)


def test_it_has_a_picture():
    assert png(Tilt(reward="wish").picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_the_tilt_is_moved_by_keys_and_touch(widget_page, width):
    page = widget_page(Tilt(), width=width, has_touch=True)
    result = page.locator(".result")
    page.get_by_label("Leash β").press("Home")
    settle(page)
    assert page.evaluate("model.get('beta')") == 0.1
    assert "says “Ho! ho! ho! ho!” in 100%" in result.inner_text()
    page.get_by_label("the wish").tap()
    settle(page)
    assert "says “Alas! alas!”" in result.inner_text()
    page.get_by_role("slider", name="Best of n").press("End")
    page.get_by_role("slider", name="Steps of training").press("Home")
    settle(page)
    assert "the best of 64" in result.inner_text()
    assert "After 0 steps the policy gradient earns 0.30 and DPO 0.30" in result.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_arrows_lead_where_the_gradient_does_and_end_at_the_edge(widget_page):
    page = widget_page(Tilt(reward="wish", beta=0.1, steps=0))
    before = torch.tensor(REFERENCE, dtype=torch.double)
    logits = before.log().requires_grad_()
    policy = logits.softmax(0)
    values = torch.tensor(REWARDS["wish"], dtype=torch.double)
    (policy @ values / 0.1 - alignment.kl_divergence(policy, before)).backward()
    tips = (before + logits.grad).clip(0, 1).numpy()
    seen = np.abs(tips - REFERENCE) > 0.02  # shorter ones are left out
    assert 0 < seen.sum() < 6
    assert (before + logits.grad).min() < 0
    axis = page.locator("svg.panel .axis").first.get_attribute("d")
    left, _, _, right = (float(part) for part in re.findall(r"[\d.]+", axis))
    arrows = page.locator("path.push").evaluate_all("all => all.map((e) => e.getAttribute('d'))")
    assert [bool(drawn) for drawn in arrows] == seen.tolist()
    for drawn, start, tip in zip(arrows, REFERENCE, tips, strict=True):
        if drawn:
            points = [float(part) for part in re.findall(r"[-\d.]+", drawn)]
            found = (np.array([points[0], points[2]]) - left) / (right - left)
            np.testing.assert_allclose(found, [start, tip], atol=1e-3)


@pytest.mark.browser
@pytest.mark.parametrize("beta", [0.1, 0.4, 1.0, 10.0])
def test_what_is_drawn_takes_most_of_its_axes(widget_page, beta):
    page = widget_page(Tilt(beta=beta))
    for drawing, marks in zip(
        page.locator("svg.panel").all(), ("rect.now, rect.before", "path.road"), strict=True
    ):
        share = drawing.evaluate(
            """(svg, marks) => {
              const inner = svg.querySelector(":scope > svg").getBoundingClientRect();
              const ends = [...svg.querySelectorAll(marks)].map((e) => e.getBoundingClientRect());
              const seen = ends.map(({ right }) => Math.min(right, inner.right));
              return (Math.max(...seen) - inner.left) / inner.width;
            }""",
            marks,
        )
        assert 0.5 < share <= 1


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_to_complain_about(widget_page, theme):
    assert complaints(widget_page(Tilt(), width=390, theme=theme)) == []
