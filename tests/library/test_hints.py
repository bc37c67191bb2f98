"""Every call is held against its hints, where `typed.py` is at work: ``pytest -p typed``."""

import importlib
from typing import Any

import bad_calls
import pytest
import torch

from primer.attention.masks import query_offsets


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    return bad_calls.names()


@pytest.mark.parametrize("topic", bad_calls.TOPICS)
def test_hints_are_checked_at_each_call(topic: str) -> None:
    loader = importlib.import_module(f"primer.{topic}").__spec__.loader
    assert type(loader).__module__ == "jaxtyping._import_hook"


def test_such_a_check_speaks_where_the_library_would_not() -> None:
    with pytest.raises(TypeError, match="Type-check error"):
        query_offsets(torch.tensor(3), None)


@pytest.mark.parametrize("call", [call for call, _ in bad_calls.ALL])
def test_a_wrong_call_is_refused(call: str, names: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        eval(call, dict(names))
