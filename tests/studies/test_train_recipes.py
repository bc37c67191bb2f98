"""Three recipes for the book's model: alike but for what they are called, measured, resumed."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from primer.train import PLAYS_2, read_configuration
from primer.train.log import LogLine
from primer.transformers import Transformer, TransformerConfig, load_pretrained
from primer.transformers.checkpoint import PRETRAINED
from studies.train import recipes
from studies.train.recipes import RECIPES, SEEDS, configuration_of, cost_of_even_weights

MEASURED = (2.0, 1.7, 0.5, 0.9, 0.4, 0.3, 1.5)


def test_all_recipes_may_read_the_same_number_of_tokens() -> None:
    courses = [configuration_of(recipe, 1).course for recipe in RECIPES]
    tokens = [sum(phase.steps * phase.tokens_per_step for phase in course) for course in courses]
    assert tokens == [1800 * 16 * 256] * 3


def test_each_recipe_adds_one_thing_to_the_one_before() -> None:
    plain, shared, repeating = (configuration_of(recipe, 2) for recipe in RECIPES)
    assert shared.training.shared_vector == repeating.training.shared_vector == 1
    assert (plain.training.shared_vector, plain.training.repeated) == (0, 0)
    assert (shared.training.repeated, repeating.training.repeated) == (0, 0.1)
    for one, other in ((plain, shared), (shared, repeating)):
        named = {"shared_vector", "repeated", "steps"}
        a, b = vars(one.training), vars(other.training)
        assert {name for name in a if a[name] != b[name]} <= named
        assert (one.model, one.data) == (other.model, other.data)


def test_an_unknown_recipe_is_named() -> None:
    with pytest.raises(ValueError, match=r"recipe.*text alone"):
        configuration_of("patience", 1)


def test_even_weights_cost_nothing_where_nothing_is_chosen() -> None:
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=20, n_layers=2, d_model=16, n_heads=2, context_length=12)
    model = Transformer(config)
    text = torch.randint(20, (4, 13))
    assert cost_of_even_weights(model, text) != 0
    for name, weights in model.named_parameters():  # queries of nothing: all scores are 0
        if name == "blocks.0.attention.query.weight":
            torch.nn.init.zeros_(weights)
    assert cost_of_even_weights(model, text) == pytest.approx(0, abs=1e-6)
    assert abs(cost_of_even_weights(model, text, layer=1)) > 1e-6


def test_even_weights_tell_the_editions_apart() -> None:
    text = torch.arange(257).repeat(2, 1)
    first, second = (cost_of_even_weights(load_pretrained(f"plays-{n}")[0], text) for n in (1, 2))
    assert abs(first) < 0.1 < abs(second)


def test_the_committed_runs_are_whole() -> None:
    runs = recipes.study.read()
    assert len(runs) == SEEDS * len(RECIPES)
    assert all(0 < run.tokens <= 1800 * 16 * 256 for run in runs)
    assert all(math.isfinite(value) for run in runs for value in run[3:])


@pytest.mark.thorough
def test_a_finished_training_is_only_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for end in (".safetensors", "-log.csv"):
        (tmp_path / f"text-alone-1{end}").write_bytes((PRETRAINED / f"plays-2{end}").read_bytes())
    monkeypatch.setattr(recipes, "PAGES", 3)  # of three pages it is 3.9 nats, of all 3.8
    monkeypatch.setattr(recipes, "measure", lambda *_: MEASURED)
    monkeypatch.setattr(recipes, "train", lambda *_: pytest.fail("trained again"))
    [run] = recipes.run_recipe("text alone", 1, tmp_path)
    assert run[5:] == MEASURED
    assert run.even_weights > 1
    assert run.tokens > 20_000_000


def test_a_run_is_the_second_editions_with_its_own_seed() -> None:
    second = read_configuration(PLAYS_2)
    repeating = configuration_of("and repetition", 7)
    assert repeating.training == replace(second.training, seed=7, steps=1125)
    assert [phase.steps for phase in repeating.phases] == [
        min(phase.steps, 1500) for phase in second.phases
    ]
    assert [replace(phase, steps=1500) for phase in repeating.phases] == [
        replace(phase, steps=1500) for phase in second.phases
    ]


@torch.no_grad()
def test_even_weights_are_those_of_a_layer_whose_scores_are_all_nothing() -> None:
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=20, n_layers=2, d_model=16, n_heads=2, context_length=12)
    model, text = Transformer(config), torch.randint(20, (4, 13))

    def loss() -> float:
        logits = model(text[:, :-1])
        return float(torch.nn.functional.cross_entropy(logits.mT, text[:, 1:]))

    for layer in (0, 1):
        model.blocks[layer].attention.key.weight *= 50  # so that it chooses
        before, cost = loss(), cost_of_even_weights(model, text, layer)
        default = cost_of_even_weights(model, text)
        model.blocks[layer].attention.query.weight.zero_()
        assert cost == pytest.approx(loss() - before, abs=1e-6)
        assert abs(cost) > 1e-5
        assert (default == cost) == (layer == 0)


@pytest.mark.parametrize(
    ("there", "trained"),
    [([], True), ([".safetensors", "-state.pt"], True), ([".safetensors"], False)],
)
def test_a_training_that_was_stopped_goes_on_and_is_measured_on_what_was_held_out(
    there: list[str], trained: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls = []
    configuration = configuration_of("and a shared vector", 3)
    name = "and-a-shared-vector-3"
    for end in there:
        (tmp_path / f"{name}{end}").touch()
    lines = [LogLine(1, 10, 2.5, 0.1, 3.0, 3.0, 3.0), LogLine(2, 20, 5.5, 0.1, 3.0, 3.0, 3.0)]
    corpus = SimpleNamespace(tokenizer="its tokens")
    monkeypatch.setattr(recipes, "train", lambda *given: calls.append(given))
    monkeypatch.setattr(recipes, "load_checkpoint", {tmp_path / f"{name}.safetensors": "m"}.get)
    monkeypatch.setattr(recipes, "read_log", {tmp_path / f"{name}-log.csv": lines}.get)
    monkeypatch.setattr(recipes, "read_corpus", lambda *_: corpus)
    monkeypatch.setattr(recipes, "split_plays", lambda: ("seen", "held out"))
    monkeypatch.setattr(recipes, "token_stream", lambda *given: given)
    monkeypatch.setattr(recipes, "cut_windows", lambda *given: given)
    monkeypatch.setattr(recipes, "cost_of_even_weights", lambda *given: given)
    monkeypatch.setattr(recipes, "measure", lambda *given: (*given, *MEASURED[2:]))
    [run] = recipes.run_recipe("and a shared vector", 3, tmp_path)
    assert calls == [(configuration, tmp_path, name)] * trained
    pages = (("held out", "its tokens"), configuration.model.context_length, 24)
    assert run[:7] == ("and a shared vector", 3, 20, 5.5, ("m", pages), "m", "its tokens")
