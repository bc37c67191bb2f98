"""The variants of the model that learns to copy: what is trained, and what is stored of it."""

from __future__ import annotations

import functools
import itertools

import pytest

from primer.attention import induction
from studies.attention import variants

SETTINGS = {
    "two layers": (2, 64, ()),
    "one wide layer": (1, 88, ()),
    "first layer even": (2, 64, (0,)),
}


@pytest.mark.parametrize("variant", SETTINGS)
def test_a_trial_is_the_mean_of_the_last_four_texts_before_its_stop(variant, monkeypatch):
    monkeypatch.setattr(induction, "train", functools.partial(induction.train, batch_size=4))
    layers, width, even = SETTINGS[variant]
    options = {"d_model": width, "learning_rate": 0.01, "even": even}
    run = induction.train(layers, steps=31, seed=2, **options)
    assert run.steps == [0, 5, 10, 15, 20, 25, 30]
    early, late = variants.train_variant(variant, 0.01, 2, stops=(10, 31))
    assert early[:4] == (variant, 0.01, 2, 10)
    assert late[:4] == (variant, 0.01, 2, 31)
    assert early.copies == pytest.approx(sum(run.repeated[:2]) / 2, rel=1e-6)
    assert late.copies == pytest.approx(sum(run.repeated[3:]) / 4, rel=1e-6)


def test_what_is_stored_was_tried_at_all_rates_from_all_seeds():
    wanted = itertools.product(SETTINGS, (0.002, 0.005, 0.015), (0, 1, 2), (150, 400))
    assert [run[:4] for run in variants.study.read()] == list(wanted)


def test_one_wide_layer_has_as_many_parameters_as_two():
    def size(layers, width):
        return sum(p.numel() for p in induction.AttentionOnly(layers, width).parameters())

    assert abs(size(1, 88) / size(2, 64) - 1) < 0.03
    assert variants.VARIANTS["one wide layer"] == {"n_layers": 1, "d_model": 88}
