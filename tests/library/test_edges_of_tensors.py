"""Tensors whose numbers lie elsewhere, whole numbers that nobody can write: a sentence each."""

import contextlib
import io
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from good_calls import GOOD_CALLS
from probe import Example, answered_in_words, examples, replay

from primer import inputs
from primer.attention import MultiHeadAttention, scaled_dot_product_attention
from primer.beyond_attention import LayerState
from primer.evaluation import clustered_mean
from primer.inference import top_k_filter
from primer.inputs.given import LONG
from primer.inside import turned
from primer.pretraining import Bert, corrupt_spans
from primer.recurrent import ElmanCell, GRUCell, LSTMCell, Recurrent, RecurrentLanguageModel
from primer.regression import lasso
from primer.scaling import next_byte_model
from primer.statistics import Bernoulli, Cauchy, Poisson, metropolis, score_contributions
from primer.transformers import (
    Block,
    FeedForward,
    PatchEmbedding,
    RMSNorm,
    Transformer,
    TransformerConfig,
)

LONGEST = 10**5000
SMALL = TransformerConfig(vocab_size=9, n_layers=1, d_model=8, n_heads=2, context_length=9)
TOPICS = ["attention", "positions", "recurrent", "transformers"]


@inputs.checked
def takes_numbers(x: float, row: list[float] = []) -> float:  # noqa: B006
    return x


@inputs.checked
def writes(x: int) -> int:
    raise ValueError(f"no {x}")


@pytest.mark.parametrize("number", [10**309, -(10**400), LONGEST, -LONGEST], ids="abcd")
@pytest.mark.parametrize(
    "ask",
    [
        lambda n: inputs.number("n", n),
        lambda n: inputs.count("n", n),
        lambda n: inputs.truth("n", n),
        lambda n: inputs.one_of("n", n, ["a"]),
        lambda n: inputs.random_generator("n", n),
        lambda n: inputs.evaluated("n", n, np.ones(2)),
        lambda n: inputs.tensor("n", n),
        lambda n: takes_numbers(n),
        lambda n: takes_numbers(1.0, [1.0, n]),
    ],
)
def test_a_number_too_long_to_write_is_told_by_its_bits(ask, number):
    with pytest.raises(ValueError, match=" bits") as said:
        ask(number)
    told = said.value.args[0].split(" bits")[0].split()[-1]
    assert int(told.replace(",", "")) == number.bit_length()


def test_a_sentence_that_cannot_be_written_is_another():
    with pytest.raises(ValueError, match="writes got a whole number of more than 4,300 digits"):
        writes(LONGEST)
    assert LONG < 4300


def test_whole_numbers_that_floats_hold_are_floats():
    assert takes_numbers(10**308) == 10**308
    assert takes_numbers(1, [2, 3.5]) == 1
    assert not math.isinf(takes_numbers(int(np.finfo(float).max)))


@pytest.mark.parametrize("size", [10**12, 10**400, LONGEST, (2, 10**12)], ids="abcd")
@pytest.mark.parametrize("family", [Bernoulli(), Cauchy(), Poisson()])
def test_more_draws_than_memory_holds_are_said_so(family, size):
    """NumPy's own lines, which are no file of a folder, had counted as the reader's."""
    with pytest.raises(ValueError, match="needs more memory than there is"):
        family.draw(0.5, size, np.random.default_rng(0))


def elsewhere(value: torch.Tensor) -> Iterator[torch.Tensor]:
    """Give a tensor without numbers, and one with the same numbers, held as places and values."""
    yield value.detach().to("meta")
    if value.ndim:
        yield value.detach().to_sparse()


def wrong(example: Example) -> list[str]:
    """Name the arguments for which a tensor that lies elsewhere gives numbers, or torch's error."""
    found = []
    for name, value in example.arguments.items():
        if name == "self" or not isinstance(value, torch.Tensor) or not value.numel():
            continue
        for other in elsewhere(value):
            try:
                result = replay(example, **{name: other})
            except Exception as error:
                if answered_in_words(error):
                    continue
            else:
                parts = result if isinstance(result, tuple | list) else [result]
                tensors = [part for part in parts if isinstance(part, torch.Tensor)]
                if not other.is_meta or all(part.is_meta for part in tensors):
                    continue  # torch can compute with sparse tensors, and without numbers
                if repr(result) == repr(replay(example)):
                    continue  # only its shape counts
            found.append(f"{example.name}({name} = {other.layout} on {other.device})")
    return found


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize("topic", TOPICS)
def test_no_number_is_made_of_a_tensor_that_has_none(topic):
    with contextlib.redirect_stdout(io.StringIO()):
        calls = examples(topic)
    assert [words for example in calls.values() for words in wrong(example)] == []


def test_the_two_ways_that_attention_computes_refuse_alike():
    x = torch.ones(1, 3, 8)
    for place in range(3):
        three = [x.to("meta") if place == i else x for i in range(3)]
        with pytest.raises(ValueError, match='lies on "meta"'):
            scaled_dot_product_attention(*three)
    with pytest.raises(ValueError, match=r'x lies on "meta".*cpu'):
        MultiHeadAttention(8, 2)(x.to("meta"))


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (Block(SMALL), (1, 3, 8)),
        (FeedForward(8, 16), (1, 3, 8)),
        (RMSNorm(8), (1, 3, 8)),
        (PatchEmbedding(4, 2, 3, 8), (1, 3, 4, 4)),
        (ElmanCell(3, 2), (4, 3)),
        (Recurrent("lstm", 3, 2), (1, 5, 3)),
    ],
)
def test_a_layer_with_numbers_reads_no_tensor_without(layer, shape):
    for other in elsewhere(torch.ones(shape)):
        with pytest.raises(ValueError, match=r"lies on|dense"):
            layer(other)
    assert layer.to("cpu")(torch.ones(shape)) is not None


@pytest.mark.parametrize(
    "model", [Transformer(SMALL), RecurrentLanguageModel("abc", "gru", 2)], ids=["heads", "cells"]
)
def test_a_model_reads_no_tokens_without_numbers(model):
    with pytest.raises(ValueError, match='lies on "meta"'):
        model(torch.tensor([[1, 2]], device="meta"))
    with pytest.raises(ValueError, match="dense"):
        model(torch.tensor([[1, 2]]).to_sparse())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: next_byte_model(10**9), "hidden must be at most 32,768, got 1000000000"),
        (lambda: top_k_filter(torch.ones(3), LONGEST), "k must be a whole number.*16,610 bits"),
        (lambda: Bert(None), "config must be a TransformerConfig, got None"),
        (
            lambda: corrupt_spans(torch.arange(9), torch.Generator(), first_sentinel=2**63),
            "first_sentinel must be at most",
        ),
        (lambda: LayerState().keep(1.5, state=torch.ones(2)), "tokens must be a whole number"),
        (lambda: LayerState().keep(1, state=[1.0]), "state must be a tensor"),
    ],
)
def test_a_part_of_another_kind_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_model_without_numbers_says_what_its_shapes_are():
    assert Transformer(SMALL).to("meta")(torch.tensor([[1, 2]], device="meta")).shape == (1, 2, 9)


@pytest.mark.parametrize("cell", [ElmanCell(3, 2), LSTMCell(3, 2), GRUCell(3, 2)])
def test_a_cell_has_one_precision(cell):
    x, state = torch.ones(4, 3), cell.zero_state(4)
    low = tuple(part.bfloat16() for part in state)
    for call in (
        lambda: cell(x, low),
        lambda: cell.step(cell.project(x), low),
        lambda: cell.step(cell.project(x).double(), state),
        lambda: cell(x.double(), state),
    ):
        with pytest.raises(ValueError, match="precision"):
            call()
    torch.testing.assert_close(cell.step(cell.project(x), state), cell(x, state))


def test_a_density_returns_a_number():
    rng = np.random.default_rng(0)
    for wrong_one in (1j, len, "0", None, [0.0, 1.0], np.array([1.0])):
        with pytest.raises(ValueError, match="must return one number for a state"):
            metropolis(lambda _, w=wrong_one: w, 0.0, 0.5, 3, rng)
    for right in (0, 0.0, np.float64(0), np.array(0.0), torch.tensor(0.0), -1):
        assert metropolis(lambda _, r=right: r, 0.0, 0.5, 3, rng).draws.shape == (3,)
    with pytest.raises(ValueError, match="one number for one observation, got shape"):
        score_contributions(Poisson().log_density, [3, 5], [2.0, 2.0])


def test_a_model_is_turned_whatever_precision_new_tensors_have():
    q, _ = torch.linalg.qr(torch.randn(8, 8, generator=torch.Generator().manual_seed(0)))
    model = Transformer(SMALL).eval()
    expected = turned(model, q)(torch.tensor([[1, 2]])).double()
    torch.set_default_dtype(torch.float64)
    try:
        torch.testing.assert_close(turned(model, q)(torch.tensor([[1, 2]])), expected)
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("decades", [0, 8, 20, 30])
@pytest.mark.parametrize("penalty", [1e-6, 1e-3, 1.0])
def test_the_lasso_answers_columns_of_any_scale(decades, penalty):
    """Columns may differ by 30 decades: what the fit is worth is held against scikit-learn."""
    from sklearn.linear_model import Lasso

    rng = np.random.default_rng(decades)
    scale = 10.0 ** np.linspace(-decades / 2, decades / 2, 6)
    X = rng.normal(size=(40, 6)) * scale
    y = X @ (rng.normal(size=6) / scale) + 0.1 * rng.normal(size=40)

    def worth(w: Any) -> float:
        return float(np.square(y - X @ w).sum() / 80 + penalty * np.abs(w).sum())

    other = Lasso(alpha=penalty, fit_intercept=False, tol=1e-12, max_iter=50_000)
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        other.fit(X, y)
    assert worth(lasso(X, y, penalty)) <= worth(other.coef_) * (1 + 1e-8)


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e8, 1e12])
@pytest.mark.parametrize("weighted", [False, True])
def test_large_values_that_cancel_in_a_cluster_leave_the_small_ones(offset, weighted):
    from fractions import Fraction

    rng = np.random.default_rng(3)
    x = np.concatenate([offset + 0.1 * rng.normal(size=12), [2.0**50, -(2.0**50)]])
    places = np.array([0, 1, 2, 3] * 3 + [1, 1])
    w = rng.uniform(0.5, 2, 14) if weighted else np.ones(14)
    w[-2:] = 1
    exact = [Fraction(float(number)) for number in x], [Fraction(float(number)) for number in w]
    total = sum(exact[1])
    mean = sum(a * b for a, b in zip(*exact, strict=True)) / total
    spread = sum(
        sum(b * (a - mean) for a, b, g in zip(*exact, places, strict=True) if g == group) ** 2
        for group in range(4)
    )
    found = clustered_mean(x, places, w)
    assert found.mean == pytest.approx(float(mean), rel=1e-14)
    assert found.error == pytest.approx(math.sqrt(float(spread * 4 / 3 / total**2)), rel=1e-13)


@pytest.mark.usefixtures("as_readers_run_it")
def test_the_good_calls_are_good():
    assert {*GOOD_CALLS}
    for topic in ("statistics", "networks", "language_models", "beyond_attention", "reasoning"):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            examples(topic)
        missing = said.getvalue().split("none for ")[1].strip().split(", ")
        assert all(name.split(".")[1] in ABSTRACT for name in missing if name != "none"), missing


ABSTRACT = {"Family", "NGramModel", "Memory", "load_window_model"}
"""What is never called itself, or would be tried with a stored file."""
