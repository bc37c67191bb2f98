"""What was measured inside the book's model belongs to its weights and to the plays."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from primer.inside import record, share, swap, train_toy
from primer.transformers import load_pretrained
from studies.inside import addition, curve, dictionaries, patching, pushing, reading, steering, toys

READ, CURVE = reading.study.read(), curve.study.read()


@pytest.mark.parametrize(
    "name", ["reading", "curve", "pushing", "patching", "steering", "dictionaries"]
)
def test_a_table_belongs_to_these_plays_and_weights(name: str) -> None:
    runs = importlib.import_module(f"studies.inside.{name}").study.read()
    editions = {getattr(run, "model", "") for run in runs}
    own = {reading.material(edition) for edition in {*reading.EDITIONS.values()}}
    assert {run.material for run in runs} <= own
    assert reading.material() in {run.material for run in runs}, editions


# What is read -------------------------------------------------------------------------------------


def test_windows_of_the_three_splits_share_no_token() -> None:
    seen = [reading.windows("held out", 120, split) for split in reading.SPLITS]
    rows = [tuple(row) for part in seen for row in part.tolist()]
    assert len({*rows}) == len(rows)


def test_characters_are_counted_as_python_counts_them() -> None:
    _, encoding = load_pretrained("plays")
    rows = reading.windows("held out", 5)
    for row, counts in zip(rows.tolist(), reading.characters_since(rows).tolist(), strict=True):
        for place in range(0, len(row), 7):
            text = encoding.decode(row[: place + 1])
            since = len(text) - text.rfind("\n") - 1
            known = "\n" in text and since <= reading.LONGEST
            assert counts[place] == (since if known else -1)


def test_the_second_edition_reads_best_after_its_second_block() -> None:
    means = {
        (name, place): np.mean([r.r_squared for r in READ if (r.model, r.place) == (name, place)])
        for name, place in {(run.model, run.place) for run in READ}
    }
    best = max(means, key=means.__getitem__)
    assert best == ("second edition", "blocks.1.after")
    assert means["second edition", reading.TOKEN] < 0.5 < means[best]
    shuffled = [mean for (name, _), mean in means.items() if name == reading.SHUFFLED]
    assert max(map(abs, shuffled)) < 0.02


def test_a_line_is_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PARTS", {"training": 4, "held out": 2})
    reading.streams.cache_clear()
    first, again = ([*reading.train("untrained", seed)] for seed in (0, 0))
    assert first == again
    assert first != [*reading.train("untrained", 1)]
    embed = [reading.model_of("untrained", seed).embed.weight for seed in (0, 0, 1)]
    assert torch.equal(embed[0], embed[1])
    assert not torch.equal(embed[0], embed[2])
    reading.streams.cache_clear()


# Curve and pushes ---------------------------------------------------------------------------------


def test_the_directions_of_the_curve_hold_ever_more_of_it() -> None:
    for after in curve.AFTER:
        shares = curve.widths([run for run in CURVE if run.after == after])
        assert (np.diff(shares) > 0).all()
        assert 0.5 < shares[0] < shares[-1] < 1


def test_chances_of_a_break_are_those_of_its_two_tokens() -> None:
    logits = torch.randn(1, 2, 1024, generator=torch.Generator().manual_seed(0))
    p = logits.softmax(-1)
    expected = p[..., reading.line_breaks()[0]] + p[..., reading.line_breaks()[1]]
    torch.testing.assert_close(curve.breaks(logits), expected)


def test_a_mean_state_is_that_of_the_places_with_its_count(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = torch.tensor([[-1, 0, 2], [0, -1, 2]])  # −1: not known
    states = torch.arange(12.0).reshape(2, 3, 2)
    monkeypatch.setattr(curve, "learned", lambda: (counts, {"blocks.1.after": states}))
    monkeypatch.setattr(curve, "LONGEST", 3)
    found = curve.mean_states(1)
    assert found.tolist() == [[4, 5], [0, 0], [7, 8], [0, 0]]  # nothing where there is no place


@pytest.fixture
def few_windows(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Push few windows along a curve of few."""
    caches = (pushing.read, pushing.straight, curve.learned)
    monkeypatch.setattr(pushing, "WINDOWS", 3)
    monkeypatch.setattr(curve, "FIT", 6)
    for one in caches:
        one.cache_clear()
    yield
    for one in caches:
        one.cache_clear()


def test_pushes_move_what_they_say(few_windows: None) -> None:
    counts, states = curve.learned()
    x = states["blocks.2.after"][counts >= 0]
    probe = reading.fitted(x, counts[counts >= 0])
    for way in (pushing.PROBE, pushing.PATTERN):
        vector = pushing.push(way, 2, 20, 0)[0, 0].double().numpy()
        assert vector @ probe.weights == pytest.approx(20, rel=1e-3)
    plain, turned = (pushing.push(way, 2, 20, 0) for way in (pushing.CURVE, pushing.TURNED))
    torch.testing.assert_close(plain.norm(dim=-1), turned.norm(dim=-1), atol=1e-4, rtol=1e-4)
    control, again, other = (pushing.push(pushing.AS_PATTERN, 2, 20, s)[0, 0] for s in (3, 3, 4))
    assert torch.equal(control, again)
    assert not torch.equal(control, other)
    own = pushing.push(pushing.PATTERN, 2, 20, 0)[0, 0]
    torch.testing.assert_close(control.norm(), own.norm())


def test_nothing_changes_nothing(few_windows: None) -> None:
    (run,) = pushing.train(pushing.NOTHING, 1, 0, 0)
    assert (run.change, run.change_error, run.length) == (0, 0, 0)


# Patching -----------------------------------------------------------------------------------------


def test_prompts_differ_in_one_token() -> None:
    one = patching.prompts()
    for other, place in ((one.found, patching.A), (one.copied, patching.B)):
        assert torch.equal((other != one.clean).nonzero()[:, 1].unique(), torch.tensor([place]))
        assert bool((other[:, place] != one.clean[:, place]).all())
    assert torch.equal(one.clean[:, patching.A], one.clean[:, patching.LAST])
    assert torch.equal(one.wrong, one.copied[:, patching.B])
    first = one.clean[:, 1 : patching.PASSAGE + 1]
    for place in (patching.A, patching.B):
        assert bool(((first == one.clean[:, [place]]).sum(1) == 1).all())


@pytest.mark.parametrize("corruption", patching.CORRUPTIONS)
def test_the_first_block_reads_the_changed_token_alone(corruption: str) -> None:
    changed = "A" if corruption == patching.FOUND else "B"
    for direction in (patching.DENOISING, patching.NOISING):
        found = patching.shares("stream", corruption, direction)
        for place in patching.PLACES:
            assert found[f"before 0 at {place}"].value == pytest.approx(
                float(place == changed), abs=1e-3
            )


def test_what_parts_wrote_is_the_difference() -> None:
    written = patching.shares("written", patching.NONE)
    level = patching.shares("levels", patching.NONE, "difference")["second edition"]
    assert sum(one.value for one in written.values()) == pytest.approx(level.value, abs=5e-3)


def test_a_stored_share_is_measured_again() -> None:
    clean, other = patching.plain(patching.NONE), patching.plain(patching.FOUND)
    name = "blocks.1.before"
    own = record(patching.book_model(), patching.prompts().clean, [name])[name]
    patch = {name: swap(own, place=patching.B)}
    restored = patching.measured(patching.prompts().found, patch)
    found = share(restored, other, clean)
    stored = patching.shares("stream", patching.FOUND, patching.DENOISING)["before 1 at B"]
    assert found.value == pytest.approx(stored.value, abs=2e-3)
    assert found.error == pytest.approx(stored.error, abs=2e-3)


# Steering -----------------------------------------------------------------------------------------


@pytest.fixture
def few_states(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Learn from few windows, and measure on fewer."""
    caches = (steering.learned, steering.direction, steering.plain)
    monkeypatch.setattr(steering, "LEARN", 20)
    monkeypatch.setattr(steering, "TEST", 10)
    for one in caches:
        one.cache_clear()
    yield
    for one in caches:
        one.cache_clear()


def test_controls_are_as_long_and_come_from_their_seed(few_states: None) -> None:
    v = steering.direction()
    for way in (steering.RANDOM, steering.SPREAD, steering.SHUFFLED):
        first, again, other = (steering.control(way, seed) for seed in (0, 0, 1))
        assert torch.equal(first, again)
        assert not torch.allclose(first, other)
        torch.testing.assert_close(first.norm(), v.norm())


def test_no_dose_shifts_nothing(few_states: None) -> None:
    (run,) = steering.train(steering.OWN, 0.0, 0)
    assert (run.shift, run.cost) == (0, 0)
    (pushed,) = steering.train(steering.OWN, 2.0, 0)
    assert pushed.shift > 0


def test_the_dose_is_a_line_and_no_control_reaches_it() -> None:
    runs = steering.study.read()
    own = {run.dose: run.shift for run in runs if run.way == steering.OWN}
    slope = own[1.0]
    assert all(own[dose] == pytest.approx(slope * dose, rel=0.06) for dose in (-4, -2, -1, 2, 4))
    controls = [run.shift for run in runs if run.way != steering.OWN]
    assert max(map(abs, controls)) < own[steering.CONTROL_DOSE]


# Dictionaries -------------------------------------------------------------------------------------

LISTS = dictionaries.study.read()


@pytest.fixture
def few_lists(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Learn small dictionaries of few states."""
    caches: list[Any] = [dictionaries.model_of, dictionaries.learned, dictionaries.measured]
    caches.append(dictionaries.measured_on)
    for name, value in {"LEARN": 4, "TEST": 2, "LATENTS": 64, "STEPS": 3}.items():
        monkeypatch.setattr(dictionaries, name, value)
    for one in caches:
        one.cache_clear()
    yield
    for one in caches:
        one.cache_clear()


@pytest.mark.parametrize("name", dictionaries.MODELS)
def test_states_that_stay_lose_nothing(few_lists: None, name: str) -> None:
    (run,) = dictionaries.train(name, dictionaries.STATES, 0.0, 0)
    assert (run.tuning, run.unexplained) == (0, 0)
    assert run.kl == pytest.approx(0, abs=1e-5)
    (run,) = dictionaries.train(name, dictionaries.MEAN, 0.0, 0)
    assert run.kl > 0
    assert run.unexplained > 0.9


def test_a_dictionary_and_a_random_one_come_from_their_seeds(few_lists: None) -> None:
    first, again, other = (
        [*dictionaries.train("shuffled", dictionaries.DICTIONARY, 0.01, seed)] for seed in (0, 0, 1)
    )
    assert first == again
    assert first[0][5:] != other[0][5:]
    states = dictionaries.states_of("trained", 0, reading.windows("held out", 2))
    found = [dictionaries.pursuit(states[0], seed)(states[1]) for seed in (0, 0, 1)]
    assert torch.equal(found[0], found[1])
    assert not torch.allclose(found[0], found[2])


def test_sixteen_coefficients_of_all_are_better_than_sixteen_axes(few_lists: None) -> None:
    states = dictionaries.learned("trained", 0)
    axes, largest = (dictionaries.principal(states, kind)(states) for kind in (False, True))
    center = states.mean(0)
    own = torch.linalg.svd(states - center, full_matrices=False)[2][: dictionaries.ACTIVE]
    torch.testing.assert_close(axes, center + (states - center) @ own.T @ own, atol=1e-3, rtol=1e-3)
    assert (states - largest).square().sum() < (states - axes).square().sum()


def test_each_model_was_tuned_with_its_best_rate_inside() -> None:
    for name in dictionaries.MODELS:
        best = dictionaries.best_of(LISTS, name)
        tried = {r.rate for r in LISTS if (r.model, r.way) == (name, dictionaries.DICTIONARY)}
        assert min(tried) < best[0].rate < max(tried)
        assert [run.seed for run in best] == [*dictionaries.SEEDS]


def test_a_share_recovered_is_nothing_for_the_mean_and_all_for_the_states() -> None:
    for run in LISTS:
        if run.way in (dictionaries.STATES, dictionaries.MEAN):
            expected = float(run.way == dictionaries.STATES)
            assert dictionaries.kl_recovered(LISTS, run) == pytest.approx(expected, abs=1e-3)
    assert {run.material for run in LISTS} == {reading.material()}


# Toys ---------------------------------------------------------------------------------------------


def test_a_toy_comes_from_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toys, "train_toy", functools.partial(train_toy, steps=30))
    first, again, other = ([*toys.train("equal", "relu", 0.1, seed)] for seed in (0, 0, 1))
    assert first == again
    assert first[0][4:] != other[0][4:]


def test_rarer_features_are_kept_in_greater_number() -> None:
    runs = toys.study.read()
    for seed in toys.SEEDS:
        kept = {r.chance: r.kept for r in runs if (*r[:2], r.seed) == ("equal", "relu", seed)}
        in_order = [kept[chance] for chance in toys.CHANCES]
        assert in_order == sorted(in_order)
        straight = [r for r in runs if (r.bend, r.seed) == ("none", seed)]
        assert [r.chance for r in straight] == [*toys.STRAIGHT]
        assert [r.squares for r in straight] == pytest.approx([toys.DIMS] * 2, abs=0.1)


# Addition -----------------------------------------------------------------------------------------


def test_a_network_that_adds_comes_from_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addition, "STEPS", dict.fromkeys(addition.WAYS, 50))
    first, again, other = ([*addition.train("square", seed)] for seed in (0, 0, 1))
    assert first == again
    assert first[0][2:] != other[0][2:]


def test_with_decay_a_neurons_own_frequency_is_enough_and_needed() -> None:
    runs = {(run.way, run.seed): run for run in addition.study.read()}
    for seed in addition.SEEDS:
        decayed, plain = runs["decay 1", seed], runs["decay 0", seed]
        assert decayed.test > plain.test + 0.3
        assert decayed.own > 0.95
        assert decayed.without < 0.1
        assert decayed.resultant > 0.95
        decayed, plain = runs["short, decay 1", seed], runs["short, decay 0", seed]
        assert decayed.test > plain.test + 0.8
        assert min(decayed.own, plain.own) > 0.95
