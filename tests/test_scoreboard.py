"""The scoreboard: cheap lines are measured again, the others held against texts and weights."""

import bz2
import lzma
import math
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
from thorough import a_few

from primer.book.scoreboard import HEADINGS, cells
from primer.datasets import VALIDATION_PLAYS, split_plays
from primer.language_models import END, BytePairEncoding, KneserNey
from primer.language_models.window import load_window_model
from primer.recurrent import character_models
from primer.scoreboard import compressors, read_scoreboard, sorted_rows, table, window
from primer.scoreboard.entries import ENTRIES, Entry
from primer.scoreboard.rules import Score
from primer.scoreboard.transformer import score
from primer.transformers import Transformer, TransformerConfig, load_pretrained

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


@pytest.mark.parametrize("name", a_few(CHEAP, {*CHEAP} - {"3-gram of 1,024 tokens"}))
def test_a_cheap_line_is_measured_again(name):
    measured, row = table.measure(name), BOARD[name]
    assert measured.numbers == row.numbers
    assert measured.all == pytest.approx(row.all, abs=6e-5)
    for title, bits in measured.plays.items():
        assert bits == pytest.approx(row.plays[title], abs=6e-5)


@pytest.mark.thorough
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


# ---------------------------------------------------------------- each way of counting, by hand


def test_a_compressor_is_charged_for_what_a_play_adds():
    read = []

    def whole(data):
        read.append(data)
        return data + data[:3]

    plays, judged = {"a": "one", "b": "two"}, {"c": "né"}
    assert compressors.compressor(whole)(plays, judged) == ({"c": 8.0 * 4}, 0)
    assert read == [b"one\0two\0", b"one\0two\0" + "né".encode() + b"\0"]
    read.clear()
    assert compressors.compressor(whole, memory=5)(plays, judged) == ({"c": 8.0 * 4}, 0)
    assert read == [b"\0two\0", b"\0two\0" + "né".encode() + b"\0"]


def test_compressors_work_as_hard_as_they_can(held_out):
    data = held_out["Macbeth"][:3000].encode()
    small = compressors.block_sorting(data)
    assert small.startswith(b"BZh9")  # blocks of 900,000 bytes
    assert bz2.decompress(small) == data
    best = compressors.dictionary(data)
    assert best == lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
    assert lzma.decompress(best) == data


@pytest.mark.parametrize("name", [name for name in ENTRIES if name.endswith(" tokens")])
def test_models_of_tokens_have_the_order_and_the_tokens_of_their_names(name, held_out):
    learned, judged = {"a": held_out["Macbeth"][:30_000]}, {"b": held_out["Macbeth"][-500:]}
    order, size = int(name[0]), int(name.split()[2].replace(",", ""))
    tokenizer = BytePairEncoding.train(learned.values(), size)
    texts = [np.array(tokenizer.encode(learned["a"])) + 1]
    model = KneserNey.fit(texts, size, order)
    bits = -model.log2_probabilities(np.array(tokenizer.encode(judged["b"])) + 1).sum()
    assert ENTRIES[name].measure(learned, judged) == ({"b": pytest.approx(bits)}, model.numbers)


def test_a_recurrent_model_shares_with_the_end_what_ends_have_among_all_that_comes(held_out):
    training = split_plays()[0]
    text = held_out["Macbeth"][:300]
    model = character_models()["gru"]
    characters = sum(len(play) for play in training.values())
    end = 34 / (characters + 34)
    own = len(text) * model.bits_per_character(text)
    expected = own - 300 * math.log2(1 - end) - math.log2(end)
    [bits] = ENTRIES["GRU"].measure(training, {"b": text})[0].values()
    assert bits == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ValueError, match="trained on other plays"):
        ENTRIES["GRU"].measure({"a": "abc"}, {"b": "abc"})


def test_the_window_model_is_charged_for_every_character_and_the_end():
    training, text = split_plays()[0], "To be, or not to be."
    model, alphabet, about = load_window_model()
    assert about["sizes"] == {
        "vocab_size": alphabet.vocab_size,
        "window": window.WINDOW,
        "d_embed": window.D_EMBED,
        "d_hidden": window.D_HIDDEN,
    }
    given, codes, nats = [0] * window.WINDOW, [*alphabet.encode(text).tolist(), 0], 0.0
    for code in codes:
        with torch.no_grad():
            nats -= float(model(torch.tensor([given[-window.WINDOW :]])).log_softmax(-1)[0, code])
        given.append(code)
    found = ENTRIES["fixed window"].measure(training, {"a": text})
    assert found.bits["a"] == pytest.approx(nats / math.log(2), rel=1e-5)
    with pytest.raises(ValueError, match="trained on other plays"):
        ENTRIES["fixed window"].measure({"a": text}, {"a": text})


@pytest.mark.parametrize("length", [7, 8, 9, 320])
def test_windows_as_long_as_the_context_leave_no_token_out(length):
    """Also where the last window is whole, or the first alone, or there are more than 32."""
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=257, n_layers=1, d_model=8, n_heads=2, context_length=8)
    model, letters = Transformer(config).eval(), BytePairEncoding([])
    text = "To be, or not to be? " * 16
    stream = [256, *letters.encode(text[: length - 1]), 256]
    nats = 0.0
    for start in range(0, length, 8):
        part = torch.tensor([stream[start : start + 9]])
        with torch.no_grad():
            log_p = model(part[:, :-1]).log_softmax(-1)
        nats -= log_p[0, torch.arange(part.shape[1] - 1), part[0, 1:]].double().sum().item()
    found = score(model, letters, {"a": text[: length - 1]})
    assert found.bits["a"] == pytest.approx(nats / math.log(2), rel=1e-5)
    assert found.numbers == sum(p.numel() for p in model.parameters())


def test_a_row_is_computed_from_an_entrys_bits(tmp_path, monkeypatch, held_out):
    weights = tmp_path / "weights"
    weights.write_bytes(b"abc")
    bits = {title: 3.0 * k * len(text) for k, (title, text) in enumerate(held_out.items(), 1)}
    entry = Entry(lambda *plays: Score(bits, 17), "bytes", weights)
    monkeypatch.setitem(ENTRIES, "made", entry)
    row = table.measure("made")
    assert row.plays == {title: pytest.approx(3.0 * k) for k, title in enumerate(held_out, 1)}
    assert row.all == pytest.approx(sum(bits.values()) / len("".join(held_out.values())))
    assert (row.model, row.reads, row.numbers) == ("made", "bytes", 17)
    assert row.weights == "ba7816bf8f01"  # of the SHA-256 of "abc", as FIPS 180-4 has it
    assert table.file_name(None) == ""
    table.write_scoreboard([row], tmp_path / "board.csv")
    [line] = read_scoreboard(tmp_path / "board.csv").values()
    assert line == row._replace(all=pytest.approx(row.all, abs=5e-5))
