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

from press.pages.scoreboard import (
    HEADINGS,
    PLAY_HEADINGS,
    READING_HEADINGS,
    cells,
    play_cells,
    reading_cells,
)
from primer.datasets import VALIDATION_PLAYS, split_plays
from primer.language_models import END, BytePairEncoding, KneserNey
from primer.language_models.window import load_window_model
from primer.recurrent import character_models
from primer.scoreboard import (
    compressors,
    read_readings,
    read_scenes,
    read_scoreboard,
    sorted_rows,
    table,
)
from primer.scoreboard.entries import ENTRIES, Entry
from primer.scoreboard.rules import READINGS, Score
from primer.scoreboard.scenes import scene_starts
from primer.scoreboard.transformer import score, token_bits
from primer.transformers import Transformer, TransformerConfig, load_pretrained
from studies.scoreboard import window as training

BOARD = read_scoreboard()
CHARACTERS, BITS = read_scenes()
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
    assert row.predicts == entry.predicts in {"characters", "tokens", "bytes"}
    assert row.reads == entry.reads in READINGS
    assert row.seeds == entry.seeds
    assert (row.seeds > 0) == bool(entry.weights)
    lengths = [len(held_out[title]) for title in VALIDATION_PLAYS]
    mean = np.average([row.plays[title] for title in VALIDATION_PLAYS], weights=lengths)
    assert row.all == pytest.approx(mean, abs=1e-4)


def agree(name: str) -> None:
    """Measure a row and its other readings again, and compare every scene."""
    row, bits = table.measure(name)
    assert row.numbers == BOARD[name].numbers
    assert row.all == pytest.approx(BOARD[name].all, abs=6e-5)
    assert row.error == pytest.approx(BOARD[name].error, abs=6e-5)
    for title, per_character in row.plays.items():
        assert per_character == pytest.approx(BOARD[name].plays[title], abs=6e-5)
    for key, costs in bits.items():
        assert costs == pytest.approx(BITS[key], rel=1e-4, abs=0.1)


@pytest.mark.parametrize("name", a_few(CHEAP, {*CHEAP} - {"3-gram of 1,024 tokens"}))
def test_a_cheap_line_is_measured_again(name):
    agree(name)


@pytest.mark.thorough
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in CHEAP])
def test_every_other_line_is_measured_again(name):
    agree(name)


READ = {
    table.column(name, reads): measure
    for name, entry in ENTRIES.items()
    if entry.weights
    for reads, measure in {"": entry.measure, **entry.again}.items()
}
QUICK = {"fixed window", "Elman network", "LSTM (pieces)", "small, hybrid (half windows)"}
QUICK |= {"transformer", "transformer (half windows)"}


@pytest.mark.parametrize("name", a_few(READ, QUICK))
def test_the_first_scene_of_a_play_is_measured_again(name, held_out):
    """No reading looks ahead: the beginning alone costs what it costs within the play."""
    before = 0
    for title in VALIDATION_PLAYS:
        starts = scene_starts(held_out[title])
        begins = {title: held_out[title][: starts[1] + 300]}  # so that the end stands elsewhere
        if starts[1] < 8000:
            [costs] = READ[name](split_plays()[0], begins).bits.values()
            assert costs[0] == pytest.approx(BITS[name][before], rel=1e-4)
        before += len(starts)


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
    measured = ENTRIES["transformer"].measure({}, {"Macbeth": text}).bits["Macbeth"].sum()
    assert measured == pytest.approx(bits, rel=1e-5)


def test_the_table_is_sorted_and_has_a_cell_for_each_heading():
    rows = sorted_rows()
    assert [row.all for row in rows] == sorted(row.all for row in BOARD.values())
    assert all(len(cells(row)) == len(HEADINGS) for row in rows)
    assert all(len(play_cells(row)) == len(PLAY_HEADINGS) for row in rows)
    assert all(len(reading_cells(line)) == len(READING_HEADINGS) for line in read_readings())


def test_the_command_measures_what_is_missing_and_keeps_the_rest(tmp_path, capsys):
    from studies.scoreboard.board import main

    files = (table.ROWS, table.READINGS, table.SCENES)
    for file in files:
        shutil.copy(table.FOLDER / file, tmp_path)
    kept = [row for name, row in BOARD.items() if name != "uniform"]
    table.write_board(kept, {key: bits for key, bits in BITS.items() if key != "uniform"}, tmp_path)
    main([], tmp_path)
    assert capsys.readouterr().out.startswith("uniform: 6.3399 ± 0.0000")
    for file in files:
        assert (tmp_path / file).read_bytes() == (table.FOLDER / file).read_bytes(), file
    main([], tmp_path)
    assert capsys.readouterr().out == ""
    assert read_scoreboard(tmp_path) == BOARD
    with pytest.raises(SystemExit, match="no entry is called 10-gram"):
        main(["10-gram"], tmp_path)


def test_a_file_that_is_no_scoreboard_is_refused(tmp_path):
    (tmp_path / table.ROWS).write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="its columns must be model, predicts, reads"):
        read_scoreboard(tmp_path)


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
    scenes = {"c": "SCENE I\nHa\nSCENE II\nHo\n"}  # a scene is charged for what it adds
    [costs] = compressors.compressor(whole)(plays, scenes).bits.values()
    assert costs.tolist() == [8.0 * 11, 8.0 * 13]


def test_compressors_work_as_hard_as_they_can(held_out):
    data = held_out["Macbeth"][:3000].encode()
    small = compressors.block_sorting(data)
    assert small.startswith(b"BZh9")  # blocks of 900,000 bytes
    assert bz2.decompress(small) == data
    best = compressors.dictionary(data)
    assert best == lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
    assert lzma.decompress(best) == data
    pyppmd = pytest.importorskip("pyppmd")
    matched = compressors.partial_matching(data)
    memory, order = compressors.PPM_MEMORY, compressors.PPM_ORDER
    assert pyppmd.Ppmd7Decoder(order, memory).decode(matched, len(data)) == data
    assert len(matched) < min(len(small), len(best))


def test_ppmd_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyppmd", None)
    with pytest.raises(ModuleNotFoundError, match="pip install pyppmd"):
        compressors.partial_matching(b"to be")


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
    text = held_out["Macbeth"][:300]  # within the first scene
    model = character_models()["gru"]
    characters = sum(len(play) for play in training.values())
    end = 34 / (characters + 34)
    own = model.bits_by_character(text).sum()
    expected = own - 300 * math.log2(1 - end) - math.log2(end)
    [bits] = ENTRIES["GRU"].measure(training, {"b": text})[0].values()
    assert bits == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ValueError, match="trained on other plays"):
        ENTRIES["GRU"].measure({"a": "abc"}, {"b": "abc"})


def test_the_window_model_is_charged_for_every_character_and_the_end():
    plays, text = split_plays()[0], "To be, or not to be."
    model, alphabet, about = load_window_model()
    assert about["sizes"] == {
        "vocab_size": alphabet.vocab_size,
        "window": training.WINDOW,
        "d_embed": training.D_EMBED,
        "d_hidden": training.D_HIDDEN,
    }
    given, codes, nats = [0] * training.WINDOW, [*alphabet.encode(text).tolist(), 0], 0.0
    for code in codes:
        with torch.no_grad():
            nats -= float(model(torch.tensor([given[-training.WINDOW :]])).log_softmax(-1)[0, code])
        given.append(code)
    found = ENTRIES["fixed window"].measure(plays, {"a": text})
    assert found.bits["a"].sum() == pytest.approx(nats / math.log(2), rel=1e-5)
    with pytest.raises(ValueError, match="trained on other plays"):
        ENTRIES["fixed window"].measure({"a": text}, {"a": text})


@pytest.mark.parametrize("stride", [8, 4, 3])
@pytest.mark.parametrize("length", [3, 7, 8, 9, 11, 12, 13, 320])
def test_windows_charge_each_token_once_and_let_it_see_what_they_hold(length, stride):
    """Also where the last window is whole, or the first alone, or there are more than 32."""
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=257, n_layers=1, d_model=8, n_heads=2, context_length=8)
    model = Transformer(config).eval()
    stream = torch.randint(256, (length + 1,))
    expected = []
    for place in range(1, length + 1):  # the window that is the first to hold this token
        start = max(0, -(-(place - 8) // stride)) * stride
        with torch.no_grad():
            log_p = model(stream[None, start:place])[0, -1].log_softmax(-1)
        expected.append(-float(log_p[stream[place]]) / math.log(2))
    assert token_bits(model, stream, stride).tolist() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("overlap", "stride"), [(False, 8), (True, 4)])
def test_a_transformer_is_scored_in_windows_of_its_context(overlap, stride):
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=257, n_layers=1, d_model=8, n_heads=2, context_length=8)
    model, letters = Transformer(config).eval(), BytePairEncoding([])
    text = "To be, or not to be? " * 16
    costs = token_bits(model, torch.tensor([256, *letters.encode(text), 256]), stride)
    found = score(model, letters, {"a": text}, overlap=overlap)
    assert found.bits["a"] == pytest.approx([float(costs.sum())], rel=1e-6)
    assert found.numbers == sum(p.numel() for p in model.parameters())


def test_a_row_is_computed_from_an_entrys_bits(tmp_path, monkeypatch, held_out):
    weights = tmp_path / "weights"
    weights.write_bytes(b"abc")
    lengths = {title: table.scene_lengths(text) for title, text in held_out.items()}
    bits = {title: 3.0 * k * lengths[title] for k, title in enumerate(held_out, 1)}
    easier = {title: costs - lengths[title] for title, costs in bits.items()}
    entry = Entry(
        lambda *plays: Score(bits, 17),
        "bytes",
        weights,
        "windows",
        1,
        {"half windows": lambda *plays: Score(easier, 17)},
    )
    monkeypatch.setitem(ENTRIES, "made", entry)
    row, measured = table.measure("made")
    assert row.plays == {title: pytest.approx(3.0 * k) for k, title in enumerate(held_out, 1)}
    assert row.all == pytest.approx(sum(map(sum, bits.values())) / len("".join(held_out.values())))
    assert (row.model, row.predicts, row.numbers) == ("made", "bytes", 17)
    assert (row.reads, row.seeds) == ("windows", 1)
    assert row.weights == "ba7816bf8f01"  # of the SHA-256 of "abc", as FIPS 180-4 has it
    assert table.file_name(None) == ""
    seven = BOARD["7-gram"]
    table.write_board([row, seven], measured | {"7-gram": BITS["7-gram"]}, tmp_path)
    line, first = read_scoreboard(tmp_path).values()
    expected = row._replace(all=pytest.approx(row.all, abs=5e-5))
    expected = expected._replace(error=pytest.approx(row.error, abs=5e-5), above="7-gram")
    assert line._replace(difference=0.0, difference_error=0.0) == expected
    assert line.behind.mean == pytest.approx(row.all - seven.all, abs=1e-4)
    assert (first.above, first.behind) == ("", (0, 0))
    [reading] = read_readings(tmp_path)
    assert reading[:2] == ("made", "half windows")
    assert reading[4:] == (-1, 0)
