"""Every wrong call is answered by a sentence of ours, with and without the tests' own checks."""

import importlib
import math
from collections.abc import Iterator
from typing import Any

import bad_calls
import numpy as np
import pytest
import torch
from jaxtyping import config
from probe import answered_in_words

from primer.attention.masks import query_offsets

TOPICS = [
    "alignment", "attention", "beyond_attention", "fine_tuning", "fourier", "inference",
    "language_models", "networks", "optimization", "positions", "pretraining", "recurrent",
    "regression", "scaling", "statistics", "train", "transformers",
]  # fmt: skip


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """Give the names that the calls use."""
    topics = {name: importlib.import_module(f"primer.{name}") for name in TOPICS}
    inference, regression = topics["inference"], topics["regression"]
    transformers, language_models = topics["transformers"], topics["language_models"]
    small = {"vocab_size": 5, "n_layers": 1, "d_model": 8, "n_heads": 2, "context_length": 9}
    return topics | {
        "np": np,
        "torch": torch,
        "tensor": torch.tensor,
        "nan": math.nan,
        "inf": math.inf,
        "eye": torch.eye(3),
        "chain": inference.MarkovModel(torch.tensor([[0.9, 0.1], [0.5, 0.5]])),
        "linear": torch.nn.Linear(3, 2),
        "line": regression.ols([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 2.0, 4.0]),
        "solve": regression.least_squares,
        "config": transformers.TransformerConfig(**small),
        "tokenizer": language_models.BytePairEncoding([(97, 98)]),
    }


@pytest.fixture(params=["as readers run it", "under beartype"])
def checks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Turn the tests' own check of types off, which a reader never has, and on."""
    config.update("jaxtyping_disable", request.param == "as readers run it")
    yield
    config.update("jaxtyping_disable", False)


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize(
    ("call", "words"), bad_calls.WRONG_ANSWERS + bad_calls.FOREIGN + bad_calls.NEW_TOPICS
)
def test_a_wrong_call_is_answered_in_words(call: str, words: str, names: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)) as error:
        eval(call, dict(names))
    if config.jaxtyping_disable:
        assert type(error.value) is ValueError
        assert words in str(error.value)
        assert answered_in_words(error.value)


def test_the_table_is_long_and_no_call_stands_twice() -> None:
    review = bad_calls.WRONG_ANSWERS + bad_calls.FOREIGN
    calls = [call for call, _ in review + bad_calls.NEW_TOPICS]
    assert len(set(calls)) == len(calls)
    assert len(review) >= 100
    assert len(bad_calls.NEW_TOPICS) >= 100


@pytest.mark.parametrize("topic", TOPICS)
def test_hints_are_checked_at_each_call(topic: str) -> None:
    loader = importlib.import_module(f"primer.{topic}").__spec__.loader
    assert type(loader).__module__ == "jaxtyping._import_hook"


def test_such_a_check_speaks_where_the_library_would_not() -> None:
    with pytest.raises(TypeError, match="Type-check error"):
        query_offsets(torch.tensor(3), None)
