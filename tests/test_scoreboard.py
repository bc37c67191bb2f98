"""The scoreboard: cheap lines are measured again, the others held against texts and weights."""

import math
import shutil
import subprocess
import sys

import numpy as np
import pytest

from primer.book.scoreboard import HEADINGS, cells
from primer.datasets import VALIDATION_PLAYS, split_plays
from primer.language_models import END
from primer.scoreboard import read_scoreboard, sorted_rows, table
from primer.scoreboard.entries import ENTRIES
from primer.transformers import load_pretrained

BOARD = read_scoreboard()
CHEAP = ["uniform", "1-gram", "2-gram", "3-gram", "5-gram", "7-gram", "3-gram of 1,024 tokens"]


@pytest.fixture(scope="module")
def held_out():
    return split_plays()[1]


def test_every_entry_has_its_line_and_there_are_at_least_ten():
    assert BOARD.keys() == ENTRIES.keys()
    assert len(BOARD) >= 10


@pytest.mark.parametrize("name", BOARD)
def test_a_line_belongs_to_these_texts_and_these_weights(name, held_out):
    row, entry = BOARD[name], ENTRIES[name]
    assert row.texts == table.corpus_name()
    assert row.weights == table.file_name(entry.weights)
    assert row.reads == entry.reads in {"characters", "tokens", "bytes"}
    lengths = [len(held_out[title]) for title in VALIDATION_PLAYS]
    mean = np.average([row.plays[title] for title in VALIDATION_PLAYS], weights=lengths)
    assert row.all == pytest.approx(mean, abs=1e-4)


@pytest.mark.parametrize("name", CHEAP)
def test_a_cheap_line_is_measured_again(name):
    measured, row = table.measure(name), BOARD[name]
    assert measured.numbers == row.numbers
    assert measured.all == pytest.approx(row.all, abs=6e-5)
    for title, bits in measured.plays.items():
        assert bits == pytest.approx(row.plays[title], abs=6e-5)


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.weights])
def test_a_trained_model_is_measured_again_on_the_beginning_of_a_play(name, held_out):
    """The whole takes too long: the beginnings must cost about what the line says of the play."""
    beginnings = {title: text[:6000] for title, text in held_out.items()}
    bits, numbers = ENTRIES[name].measure(split_plays()[0], beginnings)
    assert numbers == BOARD[name].numbers
    share = sum(bits.values()) / sum(map(len, beginnings.values()))
    assert share == pytest.approx(BOARD[name].all, abs=0.15)


def test_the_transformer_is_charged_for_every_token(held_out):
    """Its bits are those of its own probabilities, token by token, the short window included."""
    model, tokenizer = load_pretrained("plays")
    text = held_out["Macbeth"][:1500]
    end = tokenizer.special_tokens[END]
    ids, length = [end, *tokenizer.encode(text), end], model.config.context_length
    import torch

    bits = 0.0
    with torch.no_grad():
        for start in range(0, len(ids) - 1, length):
            window = torch.tensor([ids[start : start + length + 1]])
            p = model(window[:, :-1]).softmax(-1)
            bits -= sum(math.log2(p[0, i, t]) for i, t in enumerate(window[0, 1:].tolist()))
    measured = ENTRIES["transformer"].measure({}, {"Macbeth": text}).bits["Macbeth"]
    assert measured == pytest.approx(bits, rel=1e-5)


def test_the_table_is_sorted_and_has_a_cell_for_each_heading():
    rows = sorted_rows()
    assert [row.all for row in rows] == sorted(row.all for row in BOARD.values())
    assert all(len(cells(row)) == len(HEADINGS) for row in rows)


def test_the_command_measures_what_is_missing_and_keeps_the_rest(tmp_path, monkeypatch, capsys):
    from primer.scoreboard import __main__ as command

    file = tmp_path / "scoreboard.csv"
    shutil.copy(table.FILE, file)
    kept = [row for name, row in BOARD.items() if name != "uniform"]
    table.write_scoreboard(kept, file)
    for module in (command, table):
        monkeypatch.setattr(module, "FILE", file)
    monkeypatch.setattr(command, "read_scoreboard", lambda: read_scoreboard(file))
    monkeypatch.setattr(
        command, "write_scoreboard", lambda rows: table.write_scoreboard(rows, file)
    )
    command.main([])
    assert capsys.readouterr().out.startswith("uniform: 6.3399")
    assert file.read_bytes() == table.FILE.read_bytes() == file.read_bytes()
    assert read_scoreboard(file) == BOARD
    with pytest.raises(SystemExit, match="no entry is called 10-gram"):
        command.main(["10-gram"])


def test_a_file_that_is_no_scoreboard_is_refused(tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is no scoreboard"):
        read_scoreboard(tmp_path / "other.csv")


def test_an_unknown_entry_is_refused():
    with pytest.raises(ValueError, match="no entry is called '10-gram'"):
        table.measure("10-gram")


def test_reading_the_table_does_not_load_torch():
    code = "import sys, primer.scoreboard as s; s.read_scoreboard(); print('torch' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert printed.stdout.strip() == "False", printed.stderr
