"""The command that trains the chapter's character models, and what it has stored."""

from __future__ import annotations

import pytest
import torch
from thorough import a_few

from primer.datasets import split_plays
from primer.recurrent import load_models
from studies.recurrent.characters import (
    DISTANCES,
    KEPT,
    NETS,
    Net,
    study,
    texts,
    train_net,
)

PASSAGE = split_plays()[1]["Macbeth"][20_000:24_000]


@pytest.mark.parametrize("net", a_few(NETS, {"lstm"}))
def test_a_short_training_gives_a_model(net: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small = Net(NETS[net].cell, 8, 12, NETS[net].forget_bias)
    monkeypatch.setitem(NETS, net, small)
    first, again = (train_net(net, 0) for _ in range(2))
    assert not first.training
    assert first.cell == small.cell
    before = train_net_untrained(net, monkeypatch)
    assert first.bits_per_character(PASSAGE) < before.bits_per_character(PASSAGE) - 0.2
    for name, weight in first.state_dict().items():  # the same from the same seed
        torch.testing.assert_close(weight, again.state_dict()[name])


def train_net_untrained(net: str, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.setitem(NETS, net, NETS[net]._replace(steps=0))
    return train_net(net, 0)


def test_every_run_is_stored_and_its_numbers_fit() -> None:
    for run in study.read():
        assert len(run.gradients) == len(DISTANCES)
        assert len(run.erased) == len(KEPT)


@pytest.mark.parametrize("net", NETS)
def test_the_stored_weights_belong_to_the_stored_numbers(net: str) -> None:
    model = load_models()[net]
    [stored] = [run for run in study.read() if run[:2] == (net, 0)]
    # a passage is not four plays: it may be a fifth of a bit easier or harder
    assert model.bits_per_character(PASSAGE) == pytest.approx(stored.bits, abs=0.2)


def test_an_unknown_net_is_refused() -> None:
    with pytest.raises(ValueError, match="net must be one of"):
        train_net("transformer", 0)


def test_the_alphabet_is_that_of_the_training_plays() -> None:
    assert load_models()["rnn"].alphabet == "".join(sorted(set(texts()[0])))
