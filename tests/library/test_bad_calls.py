"""Every wrong call is answered by a sentence of ours; under beartype, see `test_hints.py`."""

from typing import Any

import bad_calls
import pytest
from probe import answered_in_words


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    return bad_calls.names()


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize(("call", "words"), bad_calls.ALL)
def test_a_wrong_call_is_answered_in_words(call: str, words: str, names: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 -- its words are compared below
        eval(call, dict(names))
    assert type(error.value) is ValueError
    assert words in str(error.value)
    assert answered_in_words(error.value)


def test_the_table_is_long_and_no_call_stands_twice() -> None:
    calls = [call for call, _ in bad_calls.ALL]
    assert len(set(calls)) == len(calls)
    assert len(bad_calls.WRONG_ANSWERS + bad_calls.FOREIGN) >= 100
    assert len(bad_calls.NEW_TOPICS) >= 100
