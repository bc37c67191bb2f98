"""The editions of the book's model: kept small, told apart, and the second keeps its promises."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from primer.train import read_configuration, read_log
from primer.train.configuration import PLAYS_2
from primer.train.editions import Measures, editions, load_measures, measure
from primer.transformers import checkpoint, load_pretrained, read_metadata
from primer.transformers.checkpoint import PRETRAINED
from primer.widgets.quantized import pack, unpack

with_second = pytest.mark.skipif(
    "plays-2" not in editions(), reason="the second edition is not published yet"
)


@pytest.fixture(scope="module")
def second() -> Measures:
    """Measure the second edition, once for all tests."""
    return measure(*load_pretrained("plays-2"))


@with_second
def test_second_edition_predicts_unseen_plays(second: Measures) -> None:
    assert second.bits_per_character <= 1.969


@with_second
def test_every_layer_of_the_second_edition_chooses_where_to_look(second: Measures) -> None:
    assert second.idle_layer <= 0.95


@with_second
def test_second_edition_has_heads_with_names(second: Measures) -> None:
    assert second.previous_token >= 0.5  # by chance .020
    assert second.induction >= 0.25  # by chance .021


@with_second
def test_second_edition_uses_what_it_has_read(second: Measures) -> None:
    assert second.gain >= 0.5


def test_table_holds_all_editions() -> None:
    assert list(load_measures()) == editions()
    first = load_measures()["plays-1"]
    assert first == pytest.approx(measure(*load_pretrained("plays-1")), abs=2e-4)
    assert first.idle_layer > 0.95  # what the second edition was made for
    assert first.induction < 0.1
    assert first.gain < 0


@with_second
def test_table_holds_the_second_edition(second: Measures) -> None:
    assert load_measures()["plays-2"] == pytest.approx(second, abs=2e-4)


def test_first_edition_is_kept_in_eight_bits() -> None:
    first, tokenizer = load_pretrained("plays-1")
    published, same = load_pretrained("plays")
    assert tokenizer.tokens == same.tokens
    for name, weight in published.state_dict().items():
        error = (first.state_dict()[name] - weight).abs()
        if weight.ndim == 2:
            unit = weight.abs().amax(dim=1, keepdim=True) / 127
            assert (error <= unit * 0.5001).all(), name
        else:
            assert error.max() == 0, name


@pytest.mark.parametrize("edition", editions())
def test_editions_are_small(edition: str) -> None:
    assert (PRETRAINED / f"{edition}.safetensors").stat().st_size < 1e6


@with_second
def test_second_edition_was_trained_as_configured() -> None:
    metadata = read_metadata(PRETRAINED / "plays-2.safetensors")
    assert metadata["training"] == read_configuration(PLAYS_2).to_dict()
    last = read_log(PRETRAINED / "plays-2-log.csv")[-1]
    assert last.step == metadata["steps"]
    assert metadata["bits_per_character"] == pytest.approx(last.bits_per_character, abs=1e-5)
    assert last.seconds <= 2 * 3600


def test_file_of_the_other_edition_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(PRETRAINED / "plays-1.safetensors", tmp_path / "plays-2.safetensors")
    shutil.copy(PRETRAINED / "plays-bpe.json", tmp_path)
    monkeypatch.setattr(checkpoint, "PRETRAINED", tmp_path)
    with pytest.raises(ValueError, match=r"plays-2\.safetensors holds 'plays-1', another edition"):
        load_pretrained("plays-2")


@pytest.mark.parametrize("edition", editions())
def test_editions_answer_alike_in_page_and_book(edition: str) -> None:
    model, encoding = load_pretrained(edition)
    again, _ = unpack(pack(model, encoding))
    tokens = torch.tensor([encoding.encode("Once more unto the breach")])
    torch.testing.assert_close(again(tokens), model(tokens), atol=1e-4, rtol=1e-4)
