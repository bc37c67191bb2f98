"""The editions of the book's model: kept small, told apart, and the second keeps its promises."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from thorough import a_few

from primer.datasets import corpus_hash, split_plays
from primer.train import (
    PLAYS_1,
    PLAYS_2,
    held_out_loss,
    read_configuration,
    read_log,
    token_stream,
)
from primer.transformers import checkpoint, load_pretrained, read_metadata
from primer.transformers.checkpoint import PRETRAINED
from primer.widgets.shared.quantized import pack, unpack
from studies.train.editions import editions, study, what_its_heads_do

STORED = {run.edition: run for run in study.read()}


@pytest.mark.thorough
def test_table_holds_what_the_second_edition_has_learned() -> None:
    """That of the first, whose weights stay as they are, is near the end of its log; see below."""
    model, tokenizer = load_pretrained("plays-2")
    training, validation = split_plays()
    stored = STORED["plays-2"]
    new = held_out_loss(model, token_stream(validation, tokenizer), tokenizer)
    assert stored.bits_per_character == pytest.approx(new.bits_per_character, abs=2e-4)
    seen = held_out_loss(model, token_stream(training, tokenizer), tokenizer, 200)  # of many
    assert stored.training_bits_per_character == pytest.approx(seen.bits_per_character, abs=0.01)


@pytest.mark.parametrize("edition", a_few(editions(), {"plays-2"}))
def test_table_holds_what_heads_do(edition: str) -> None:
    assert list(STORED) == editions()
    heads = what_its_heads_do(*load_pretrained(edition))
    assert STORED[edition][3:] == pytest.approx(heads, abs=2e-4)


def test_second_edition_keeps_its_promises() -> None:
    first, second = (STORED[edition] for edition in ("plays-1", "plays-2"))
    assert second.bits_per_character <= 1.969  # of plays that it has not seen
    assert first.idle_layer > 0.95 >= second.idle_layer  # every layer chooses where to look
    assert second.previous_token >= 0.5  # by chance .020
    assert first.induction < 0.1
    assert second.induction >= 0.25  # by chance .021
    assert first.gain < 0
    assert second.gain >= 0.5  # it uses what it has read


def test_chapters_read_the_second_edition() -> None:
    (model, tokenizer), (second, same) = load_pretrained("plays"), load_pretrained("plays-2")
    assert tokenizer.tokens == same.tokens
    for name, weight in second.state_dict().items():
        assert torch.equal(model.state_dict()[name], weight), name


@pytest.mark.parametrize("edition", a_few(editions(), {"plays-2"}))
def test_log_belongs_to_the_edition(edition: str) -> None:
    metadata = read_metadata(PRETRAINED / f"{edition}.safetensors")
    training, validation = split_plays()
    titles = {f"training/{title}": text for title, text in training.items()}
    titles |= {f"validation/{title}": text for title, text in validation.items()}
    assert metadata["corpus_sha256"] == corpus_hash(titles)
    model, tokenizer = load_pretrained(edition)
    windows = metadata["training"]["training"]["held_out_windows"]
    loss = held_out_loss(model, token_stream(validation, tokenizer), tokenizer, windows)
    last = read_log(PRETRAINED / f"{edition}-log.csv")[-1]
    assert last.step == metadata["steps"]
    assert loss.nats_per_token == pytest.approx(last.validation_loss, abs=2e-3)  # eight bits
    assert loss.bits_per_character == pytest.approx(last.bits_per_character, abs=1e-3)
    whole = STORED[edition].bits_per_character  # not only on these windows
    assert whole == pytest.approx(last.bits_per_character, abs=0.02)


def test_first_edition_was_trained_as_configured() -> None:
    saved = read_metadata(PRETRAINED / "plays-1.safetensors")["training"]
    now = read_configuration(PLAYS_1).to_dict()
    assert now["phases"] == []
    for table, settings in saved.items():  # what came later stands at its default
        assert now[table] | settings == now[table]


@pytest.mark.parametrize("edition", editions())
def test_editions_are_small(edition: str) -> None:
    assert (PRETRAINED / f"{edition}.safetensors").stat().st_size < 1e6


def test_second_edition_was_trained_as_configured() -> None:
    metadata = read_metadata(PRETRAINED / "plays-2.safetensors")
    now = read_configuration(PLAYS_2).to_dict()
    assert metadata["training"]["phases"] == now["phases"]
    for table in ("data", "model", "training"):  # what came later stands at its default
        assert now[table] | metadata["training"][table] == now[table]
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
