"""What draws is the same again for the same seed, and another thing for another seed.

Every public function of the library that takes a ``seed``, ``seeds``, an ``rng`` or a ``generator``
is in one of two tables: called here, or named with the test that calls it with its seed.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
import torch
from thorough import a_few
from torch import nn

import primer
import studies
from primer import (
    alignment,
    evaluation,
    fine_tuning,
    fourier,
    inference,
    inside,
    language_models,
    networks,
    pretraining,
    reasoning,
    recurrent,
    regression,
    scaling,
    statistics,
    train,
)
from primer.alignment.preferences import Rater
from primer.attention import induction
from primer.evaluation import questions
from primer.networks import random_features, vision
from primer.optimization import network
from primer.positions import experiment
from primer.pretraining import in_context
from primer.recurrent import memory, tasks
from primer.scaling import emergence
from primer.statistics import families
from primer.transformers import Transformer, TransformerConfig
from primer.widgets.rope import default_vectors
from primer.widgets.shared.mulberry import mulberry
from primer.widgets.small_network import normals
from studies.attention import variants
from studies.evaluation import leaks, seeds
from studies.networks import trials
from studies.optimization import race, sweep
from studies.recurrent.trials import learn_reversal
from studies.scaling import mup
from studies.train.experts import train_experts
from studies.train.recipes import configuration_of
from studies.train.scores import train_scores
from studies.train.typed import train_typed

DRAW = {"seed", "seeds", "rng", "generator"}
LEFT_OUT = ("primer.notebook", "primer.exercises")
"""They make the site and its exercises; a reader draws nothing with them."""


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Name every public function, class and method that takes what draws."""
    for found in (
        *pkgutil.walk_packages(primer.__path__, "primer."),
        *pkgutil.walk_packages(studies.__path__, "studies."),
    ):
        if found.name.startswith(LEFT_OUT) or found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        short = found.name.removeprefix("primer.")
        for name, item in vars(module).items():
            if name.startswith("_") or getattr(item, "__module__", None) != module.__name__:
                continue
            if inspect.isfunction(item):
                yield f"{short}.{name}", item
            elif inspect.isclass(item):
                for method, code in vars(item).items():
                    if isinstance(code, FunctionType) and method == "__init__":
                        yield f"{short}.{name}", code
                    elif isinstance(code, FunctionType) and not method.startswith("_"):
                        yield f"{short}.{name}.{method}", code


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def chance(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@functools.cache
def small(dtype: torch.dtype = torch.float32) -> Transformer:
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=12, n_layers=1, d_model=16, n_heads=2, context_length=12)
    return Transformer(config).to(dtype).eval()


def fresh() -> Transformer:
    """Return a model that may be trained: each time the same one."""
    return Transformer.from_weights(small().config, small().state_dict())


PROMPTS = torch.tensor([[1, 2, 3]]).repeat(16, 1)
TEXT = torch.arange(400) * 7 % 11
X = torch.rand(40, 64, generator=chance(0))


@functools.cache
def replies(seed: int) -> Any:
    return alignment.write_replies(small(), PROMPTS, 6, 11, chance(seed))


def tuned(seed: int) -> Any:
    return alignment.tune(fresh(), replies(0), steps=3, batch_size=4, generator=chance(seed))


def paired(seed: int) -> Any:
    settings = {"steps": 3, "beta": 1.0, "learning_rate": 0.01, "batch_size": 4}
    sides = replies(0), replies(1)
    generator = chance(seed)
    return alignment.train_on_pairs(fresh(), small(), *sides, **settings, generator=generator)


def by_reward(seed: int) -> Any:
    return alignment.train_policy(
        fresh(), small(), lambda r: (r.tokens == 3).sum(1).float(), PROMPTS, end_token=11, steps=2,
        kl_weight=0.1, learning_rate=0.01, batch_size=8, length=6, generator=chance(seed),
    )  # fmt: skip


def presser() -> Transformer:
    config = dataclasses.replace(small().config, vocab_size=56, context_length=32)
    torch.manual_seed(0)
    return Transformer(config).eval()


def by_verdicts(seed: int) -> Any:
    return reasoning.train_on_verdicts(
        presser(), reasoning.Calculator(), torch.tensor([[7, 20, 55], [9, 4, 55]]),
        lambda replies: (replies.tokens < 50).float().mean(1), steps=2, learning_rate=0.01,
        questions=2, tries=4, generator=chance(seed),
    )  # fmt: skip


def reset(make: Callable[[], nn.Module]) -> nn.Module:
    torch.manual_seed(0)
    return make()


def windows(seed: int) -> Any:
    model = reset(lambda: language_models.WindowModel(12, window=3, d_embed=4, d_hidden=8))
    rows = language_models.window_rows(TEXT.numpy(), 12, 3)
    return language_models.train_window_model(model, rows, steps=3, batch_size=8, seed=seed)


def sampled(seed: int) -> Any:
    model = language_models.AddK.fit([TEXT.tolist()], vocab_size=12, order=1, k=1)
    return model.sample(30, rng(seed))


def classified(seed: int) -> nn.Module:
    model = vision.seeded(lambda: vision.fully_connected([64, 10]), 0)
    vision.train_classifier(model, X, torch.arange(40) % 10, 0.01, steps=2, seed=seed)
    return model


def digits_trained(seed: int) -> Any:
    model = reset(lambda: network.Mlp(16, "mup"))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    return network.train(model, optimizer, network.digits(), steps=3, seed=seed)


def penalized(seed: int) -> Any:
    def path(features: Any, response: Any) -> Any:
        return regression.ridge_path(features, response, np.geomspace(0.01, 100, 30))

    return regression.fit_with_chosen_penalty(
        path, X[:, :2].numpy(), X[:, 0].numpy() + X[:, 2].numpy(), 5, rng(seed)
    )


CALLS: dict[str, Callable[[int], Any]] = {
    "alignment.preferences.Rater.prefers": lambda s: Rater(len).prefers(
        ["ab"] * 50, ["a"] * 50, rng(s)
    ),
    "alignment.replies.write_replies": lambda s: alignment.write_replies(
        small(), PROMPTS, 6, 11, chance(s)
    ),
    "alignment.supervised.train_on_pairs": paired,
    "alignment.supervised.tune": tuned,
    "alignment.training.train_policy": by_reward,
    "attention.induction.repeated_tokens": lambda s: induction.repeated_tokens(3, chance(s)),
    "attention.induction.train": lambda s: induction.train(
        1, steps=2, batch_size=2, seed=s
    ).model,
    "evaluation.pairs.sign_flip_test": lambda s: evaluation.sign_flip_test(
        np.arange(-15.0, 25.0), rng(s)
    ),
    "evaluation.questions.draw_questions": lambda s: questions.draw_questions(
        "speaker", 5, rng(s)
    ),
    "fine_tuning.tuning.fine_tune": lambda s: fine_tuning.fine_tune(
        fresh(), TEXT, 0.01, s, 3, length=8
    ),
    "fourier.signals.plucked_string": lambda s: fourier.plucked_string(
        800, 0.1, frequency=50, seed=s
    ),
    "inference.sampling.sample": lambda s: inference.sample(
        torch.zeros(40, 9), generator=chance(s)
    ),
    "inference.speculative.speculative_decode": lambda s: inference.speculative_decode(
        small(), fresh(), [1], 9, generator=chance(s)
    ),
    "inside.addition.split_sums": lambda s: inside.addition.split_sums(5, 0.5, chance(s)),
    "inside.addition.train_addition": lambda s: [
        report.network.table for report in inside.train_addition(5, 4, chance(s), steps=2)
    ],
    "inside.controls.shuffled_weights": lambda s: inside.shuffled_weights(
        small(), chance(s)
    ).state_dict(),
    "inside.dictionary.train_dictionary": lambda s: inside.train_dictionary(
        torch.eye(4), 4, 1, chance(s), steps=2
    ),
    "inside.steering.random_directions": lambda s: inside.random_directions(
        2, torch.ones(3), chance(s)
    ),
    "inside.toy.sparse_examples": lambda s: inside.sparse_examples(5, 4, 0.5, chance(s)),
    "inside.toy.train_toy": lambda s: inside.train_toy(
        2, 0.5, torch.ones(3), chance(s), steps=2
    ),
    "language_models.ngrams.NGramModel.sample": sampled,
    "language_models.window.train_window_model": windows,
    "networks.layers.initialize": lambda s: networks.initialize([3, 5, 2], rng(s)),
    "networks.normalization.dropout": lambda s: networks.dropout(np.ones(50), 0.5, rng(s)),
    "networks.random_features.double_descent": lambda s: random_features.double_descent(
        random_features.few_digits(30, rng(0)), [20], rng(s)
    ),
    "networks.random_features.few_digits": lambda s: random_features.few_digits(30, rng(s)),
    "networks.random_features.relu_features": lambda s: random_features.relu_features(
        X.numpy(), 3, rng(s)
    ),
    "networks.vision.damage": lambda s: vision.damage(X, "noise", chance(s)),
    "networks.vision.seeded": lambda s: vision.seeded(lambda: nn.Sequential(nn.Linear(2, 2)), s),
    "networks.vision.train_classifier": classified,
    "networks.vision.train_denoiser": lambda s: vision.train_denoiser(X, "noise", 0.01, 2, s),
    "optimization.network.feature_changes": lambda s: network.feature_changes(
        16, "mup", 0.01, steps=1, seed=s
    ),
    "optimization.network.train": digits_trained,
    "positions.experiment.draw_weights": lambda s: experiment.draw_weights(
        nn.Linear(3, 3), chance(s)
    ),
    "positions.experiment.train": lambda s: experiment.train("RoPE", [s], steps=2, batch_size=4),
    "pretraining.in_context.linear_tasks": lambda s: in_context.linear_tasks(2, 5, 3, chance(s)),
    "pretraining.in_context.train_layer": lambda s: in_context.train_layer(
        2, 4, seed=s, steps=2
    ),
    "pretraining.objectives.mask_tokens": lambda s: pretraining.mask_tokens(
        TEXT, chance(s), mask_id=11, vocab_size=12
    ),
    "pretraining.sentence_pairs.next_sentence_pairs": lambda s: pretraining.next_sentence_pairs(
        [[[1], [2]], [[3], [4]]], 40, rng(s)
    ),
    "pretraining.span_corruption.corrupt_spans": lambda s: pretraining.corrupt_spans(
        TEXT, chance(s), first_sentinel=100
    ),
    "pretraining.span_corruption.infill": lambda s: pretraining.infill(TEXT, chance(s), mask_id=11),
    "pretraining.span_masking.mask_spans": lambda s: pretraining.mask_spans(
        TEXT, chance(s), mask_id=11, vocab_size=12
    ),
    "reasoning.attempts.attempts": lambda s: reasoning.attempts(
        presser(), reasoning.Calculator(), torch.tensor([[7, 20, 55]]), 4, chance(s)
    ),
    "reasoning.cups.Cups.questions": lambda s: reasoning.Cups().questions(
        torch.tensor([3, 4]), chance(s)
    ),
    "reasoning.keys.split_pairs": lambda s: reasoning.split_pairs(
        reasoning.Calculator(), 5, seed=s
    ),
    "reasoning.keys.worked_examples": lambda s: reasoning.worked_examples(
        reasoning.Calculator(), 5, np.array([[7, 20]]), chance(s)
    ),
    "reasoning.training.train_on_verdicts": by_verdicts,
    "reasoning.voting.pass_curve": lambda s: reasoning.pass_curve(
        np.arange(9), 9, [1, 3], rng(s), resamples=50
    ),
    "recurrent.gradients.gradient_ratio": lambda s: recurrent.gradient_ratio(
        reset(lambda: recurrent.ElmanCell(2, 3)), X[:4, :6].reshape(2, 6, 2), seed=s
    ),
    "recurrent.memory.text_windows": lambda s: memory.text_windows(TEXT, 5, 6, s),
    "recurrent.tasks.adding_problem": lambda s: tasks.adding_problem(4, 10, chance(s)),
    "recurrent.tasks.agreement": lambda s: tasks.agreement(4, 2, chance(s)),
    "recurrent.tasks.parity": lambda s: tasks.parity(4, 6, chance(s)),
    "recurrent.tasks.reversal": lambda s: tasks.reversal(4, 4, 10, chance(s)),
    "regression.validation.fit_with_chosen_penalty": penalized,
    "regression.validation.k_folds": lambda s: regression.k_folds(20, 3, rng(s)),
    "scaling.emergence.measured_matches": lambda s: emergence.measured_matches(
        [0.3, 0.5], 3, 40, seed=s
    ),
    "scaling.fitting.bootstrap": lambda s: scaling.bootstrap(
        np.mean, [1.0, 2.0, 4.0], resamples=9, seed=s
    ),
    "scaling.next_byte.train_next_byte": lambda s: scaling.train_next_byte(4, 4000, 0.03, seed=s),
    "statistics.bayes.metropolis": lambda s: statistics.metropolis(
        lambda x: -x * x / 2, 0.0, 1.0, 50, rng(s)
    ),
    **{
        f"statistics.families.{family}.draw": lambda s, family=family: getattr(families, family)()
        .draw(0.4, 30, rng(s))
        for family in (
            *("Bernoulli", "Cauchy", "Exponential", "Laplace", "NormalMean", "Poisson", "Uniform"),
        )
    },
    "studies.attention.variants.train_variant": lambda s: [
        run.copies for run in variants.train_variant("two layers", 0.005, s, (2, 3))
    ],
    "studies.evaluation.leaks.leaking": leaks.leaking,
    "studies.evaluation.seeds.train_one": seeds.train_one,
    "studies.networks.trials.random_features": lambda s: trials.random_features(
        torch.ones(2, 64), s
    ),
    "studies.networks.trials.shuffled_digits": trials.shuffled_digits,
    "studies.optimization.race.compete": lambda s: [
        run[4:] for run in race.compete("Adam", 0.9, 1 / 64, s)
    ],
    "studies.optimization.sweep.train_width": lambda s: [
        run[4:] for run in sweep.train_width("mup", 32, 0.01, s, steps=2)
    ],
    "studies.recurrent.trials.learn_reversal": lambda s: learn_reversal(None, 0.01, s, steps=1),
    "studies.scaling.mup.train": lambda s: [
        run.nats for run in mup.train("mup", "4x2", 2048, 0.08, s)
    ],
    "studies.train.recipes.configuration_of": lambda s: configuration_of("text alone", s),
    "studies.train.experts.train_experts": lambda s: [
        run.bits for run in train_experts("prices", 0.01, s, steps=2)
    ],
    "studies.train.scores.train_scores": lambda s: [
        run.bits for run in train_scores("normed", 0.01, s, steps=2)
    ],
    "studies.train.typed.train_typed": lambda s: [
        run.bits for run in train_typed("one layer", 0.01, s, steps=2)
    ],
    "train.data.Batches": lambda s: train.Batches(TEXT, 8, 4, s).at(2),
    "widgets.shared.mulberry.mulberry": lambda s: [next(mulberry(s)) for _ in range(2)],
    "widgets.rope.default_vectors": default_vectors,
    "widgets.small_network.normals": normals,
}  # fmt: skip

SLOW = {
    "networks.random_features.double_descent",
    "positions.experiment.train",
    "scaling.next_byte.train_next_byte",
    "studies.attention.variants.train_variant",
    "studies.evaluation.seeds.train_one",
    "studies.optimization.race.compete",
    "studies.recurrent.trials.learn_reversal",
    "studies.train.experts.train_experts",
    "studies.train.scores.train_scores",
    "studies.train.typed.train_typed",
}
"""These are for `make thorough`: seconds each."""

OVEROPTIMIZED = "test_alignment_overoptimization.py"
ELSEWHERE = {
    "studies.alignment.first_replies.draw": (OVEROPTIMIZED, "is stored with seed 0"),
    "studies.alignment.judges.judged": ("test_alignment_judges.py", "hands its seed to trained"),
    "studies.alignment.judges.train": ("test_alignment_judges.py", "hands its seed to trained"),
    "studies.alignment.judges.trained": ("test_alignment_judges.py", "again_from_its_seed"),
    "studies.alignment.overoptimization.compare": (OVEROPTIMIZED, "its own draws"),
    "studies.alignment.overoptimization.judge": (OVEROPTIMIZED, "its own draws"),
    "studies.alignment.overoptimization.trained": (OVEROPTIMIZED, "its own draws"),
    "networks.vision.train_on_line": ("test_networks_trials.py", "`seeds` is a number"),
    "statistics.families.Family.draw": ("test_randomness.py", "abstract; each family's is called"),
    "studies.alignment.overoptimization.train_run": ("test_randomness.py", "hands it to trained"),
    "studies.evaluation.leaks.train": ("test_evaluation_studies.py", "hands it to train_on"),
    "studies.evaluation.leaks.train_on": (
        "test_evaluation_studies.py",
        "trains for a minute and a half",
    ),
    "studies.evaluation.seeds.train": ("test_evaluation_studies.py", "hands it to train_one"),
    "studies.fine_tuning.race.judge": ("test_fine_tuning_race.py", "hands the seed on"),
    "studies.fine_tuning.race.train_way": ("test_fine_tuning_race.py", "from its seed"),
    "studies.fine_tuning.starts.train": ("test_fine_tuning_starts.py", "finds it stored"),
    "studies.inside.addition.train": ("test_inside_studies.py", "from its seed"),
    "studies.inside.dictionaries.pursuit": ("test_inside_studies.py", "from its seed"),
    "studies.inside.dictionaries.states_of": ("test_inside_studies.py", "hands it to a shuffle"),
    "studies.inside.dictionaries.train": ("test_inside_studies.py", "from its seed"),
    "studies.inside.pushing.measured": ("test_inside_studies.py", "a label only"),
    "studies.inside.pushing.push": ("test_inside_studies.py", "needs the book's states"),
    "studies.inside.pushing.train": ("test_inside_studies.py", "hands it to push"),
    "studies.inside.reading.model_of": ("test_inside_studies.py", "hands it to torch"),
    "studies.inside.reading.train": ("test_inside_studies.py", "from its seed"),
    "studies.inside.steering.control": ("test_inside_studies.py", "from its seed"),
    "studies.inside.steering.train": ("test_inside_studies.py", "hands it to control"),
    "studies.inside.toys.train": ("test_inside_studies.py", "from its seed"),
    "studies.networks.trials.kink_trial": ("test_networks_trials.py", "finds it stored"),
    "studies.networks.trials.label_trial": ("test_networks_trials.py", "hands it on"),
    "studies.networks.trials.pixel_trial": ("test_networks_trials.py", "hands it on"),
    "studies.pretraining.nudged.train": ("test_pretraining_nudged.py", "hands it on"),
    "studies.pretraining.nudged.tune": ("test_pretraining_nudged.py", "finds what is stored"),
    "studies.pretraining.probes.train": ("test_pretraining_probes.py", "finds it stored"),
    "studies.reasoning.climb.measure": ("test_reasoning_climb.py", "twice"),
    "studies.reasoning.climb.rewarded": ("test_reasoning_climb.py", "from its seed"),
    "studies.reasoning.climb.train": ("test_reasoning_climb.py", "hands it on"),
    "studies.reasoning.critics.compare": ("test_reasoning_critics.py", "hands its seed to compare"),
    "studies.reasoning.critics.drawn": ("test_reasoning_critics.py", "which draws with it"),
    "studies.reasoning.critics.fit": ("test_reasoning_critics.py", "which draws with it"),
    "studies.reasoning.critics.train": ("test_reasoning_critics.py", "the same again"),
    "studies.reasoning.cups.taught": ("test_reasoning_cups.py", "from its seed"),
    "studies.reasoning.cups.train": ("test_reasoning_cups.py", "hands it to taught"),
    "studies.reasoning.teachers.taught": ("test_reasoning_teachers.py", "from its seed"),
    "studies.reasoning.teachers.train": ("test_reasoning_teachers.py", "hands its seed to taught"),
    "studies.reasoning.ways.climbed": ("test_reasoning_ways.py", "hands it on"),
    "studies.reasoning.ways.imitated": ("test_reasoning_ways.py", "hands it on"),
    "studies.reasoning.ways.measured": ("test_reasoning_ways.py", "hands it to measure"),
    "studies.reasoning.ways.train": ("test_reasoning_ways.py", "from its seed"),
    "studies.recurrent.characters.measured": ("test_randomness.py", "hands it to train_net"),
    "studies.recurrent.characters.train_net": ("test_recurrent_characters.py", "twice"),
    "studies.recurrent.trials.reversal_trials": ("test_recurrent_trials.py", "hands it on"),
    "studies.scaling.sweep.train_size": ("test_scaling_sweep.py", "a plain loop"),
    "studies.scoreboard.memories.configuration": ("test_memories.py", "holds it"),
    "studies.scoreboard.memories.train_model": ("test_randomness.py", "trains for minutes"),
    "studies.study.ends": ("test_study.py", "`seeds` are those that decide"),
    "studies.study.tuned": ("test_study.py", "`seeds` are those that decide"),
    "studies.study.tuned_alike": ("test_study.py", "`seeds` are those that are wanted"),
    "studies.train.ablations.train_variant": ("test_train_ablations.py", "a plain loop"),
    "studies.train.recipes.run_recipe": ("test_train_recipes.py", "trains for hours"),
    "train.configuration.TrainingSettings": ("test_train_loop.py", "holds the seed, draws nothing"),
}  # fmt: skip
"""Where what is not called here is tried, and why it is not called here."""


def plain(result: Any) -> Any:
    """Turn a result into lists and numbers, which can be compared."""
    if isinstance(result, nn.Module):
        return plain(result.state_dict())
    if isinstance(result, torch.Tensor | np.ndarray):
        return result.tolist()
    if dataclasses.is_dataclass(result):
        return plain(vars(result))
    if isinstance(result, dict):
        return {key: plain(value) for key, value in result.items()}
    if isinstance(result, tuple | list | Iterator):
        return [plain(value) for value in result]
    return result if isinstance(result, str | int | float | bool | None) else repr(result)


def test_everything_that_draws_is_in_a_table() -> None:
    drawing = {name for name, call in public() if DRAW & set(inspect.signature(call).parameters)}
    assert not CALLS.keys() & ELSEWHERE.keys()
    assert drawing == CALLS.keys() | ELSEWHERE.keys(), "call it in CALLS, with its seed alone open"
    for name, (file, _) in ELSEWHERE.items():
        (path,) = Path(__file__).parents[1].glob(f"*/{file}")
        text = path.read_text("utf-8")
        assert name.rpartition(".")[2] in text, f"{file} no longer tries {name}"


@pytest.mark.parametrize("name", a_few(sorted(CALLS), CALLS.keys() - SLOW))
def test_a_seed_decides_what_is_drawn(name: str) -> None:
    torch.manual_seed(1)  # a global stream that nobody may read
    np.random.seed(1)  # noqa: NPY002
    first = plain(CALLS[name](5))
    again = plain(CALLS[name](5))
    others = [plain(CALLS[name](seed)) for seed in (6, 7)]
    assert again == first, "drawn from more than its seed"
    assert any(other != first for other in others), "its seed is not asked"
