"""The scoreboard once more, from texts and weights, without a line of ``primer.scoreboard``.

Scenes, counts, windows, states, errors and differences are written anew here, as plainly as can be;
every printed digit is compared.
"""

from __future__ import annotations

import bz2
import csv
import functools
import lzma
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.nn.functional import pad

import primer
from primer.beyond_attention import LinearAttention, SelectiveLayer
from primer.datasets import VALIDATION_PLAYS, split_plays
from primer.language_models import BytePairEncoding
from primer.language_models.window import load_window_model
from primer.recurrent import character_models
from primer.transformers import Transformer, TransformerConfig, load_pretrained

BOARD = Path(primer.__file__).parent / "scoreboard"
ROWS, AGAIN = (
    list(csv.DictReader((BOARD / name).read_text(encoding="utf-8").splitlines()))
    for name in ("scoreboard.csv", "readings.csv")
)
LEARNED, JUDGED = split_plays()
LETTERS = sorted(set("".join(LEARNED.values())))
PLACE = {letter: place for place, letter in enumerate(LETTERS)}
LAYERS = {
    "softmax attention": "soft soft soft",
    "linear attention": "linear linear linear",
    "selective state space": "selective selective selective",
    "hybrid": "selective soft selective",
}
Costs = dict[str, np.ndarray]  # of each play: bits of its characters, and last of its end


def scenes(text: str) -> list[int]:
    """Say where each scene begins, walking from line to line; the first begins with the play."""
    found, at, act = [], 0, None
    for line in text.split("\n"):
        if line.startswith("ACT "):
            act = at
        elif line.startswith("SCENE ") or line == "EPILOGUE":
            found.append(at if act is None else act)
        if line and not line.startswith("ACT "):
            act = None
        at += len(line) + 1
    return [0, *found[1:]]


SIZES = np.concatenate([np.diff([*scenes(JUDGED[t]), len(JUDGED[t])]) for t in VALIDATION_PLAYS])


def summed(costs: Costs) -> np.ndarray:
    """Add up each scene; the last pays for the end."""
    return np.array(
        [
            costs[title][start:stop].sum()
            for title in VALIDATION_PLAYS
            for start, stop in zip(
                scenes(JUDGED[title]), [*scenes(JUDGED[title])[1:], None], strict=True
            )
        ]
    )


def spread(text: str, tokens: list[bytes], bits: list[float]) -> np.ndarray:
    """Share the bits of each token out among its bytes, and add up those of each character."""
    costs, at, left = [0.0] * len(text), 0, 0
    for token, cost in zip(tokens, bits, strict=False):
        for _ in token:
            left = left or len(text[at].encode())
            costs[at] += cost / len(token)
            left -= 1
            at += not left
    assert at == len(text)
    assert len(bits) == len(tokens) + 1
    return np.array([*costs, bits[-1]])


# ----------------------------------------------------------------------------------------- counts


def rows_of(text: list[int], n: int) -> np.ndarray:
    """List the n symbols up to each one and up to the end, which is 0, as what stands before."""
    return np.lib.stride_tricks.sliding_window_view([0] * (n - 1) + text + [0], n)


def kneser_ney(learned: list[list[int]], judged: list[list[int]], n: int, size: int) -> list:
    """Interpolated Kneser–Ney with three discounts an order: minus log₂ of each symbol's chance."""
    base = size  # symbols are digits: a gram is one number

    def numbers(rows: np.ndarray) -> np.ndarray:
        return rows.astype(np.int64) @ base ** np.arange(rows.shape[1])[::-1].astype(np.int64)

    lengths = [len(text) + 1 for text in judged]
    asked = numbers(np.concatenate([rows_of(text, n) for text in judged]))
    seen = numbers(np.concatenate([rows_of(text, n) for text in learned]))
    chance = np.full(len(asked), 1 / size)
    for order in range(1, n + 1):
        grams = seen if order == n else np.unique(seen % base ** (order + 1)) % base**order
        grams, times = np.unique(grams, return_counts=True)
        n1, n2, n3, n4 = (int((times == k).sum()) for k in (1, 2, 3, 4))
        less = np.array([0, 0.5, 1, 1.5])
        if n1 and n2 and n3 and n4:
            y = n1 / (n1 + 2 * n2)
            own = np.array([1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3])
            less = np.array([0, *own]) if (own > -1e-12).all() else less
        taken = less[np.minimum(times, 3)]
        contexts, owner = np.unique(grams // base, return_inverse=True)
        total, back = np.bincount(owner, times), np.bincount(owner, taken)
        here = asked % base**order
        at = np.minimum(np.searchsorted(grams, here), len(grams) - 1)
        kept = np.where(grams[at] == here, times[at] - taken[at], 0)
        of = np.minimum(np.searchsorted(contexts, here // base), len(contexts) - 1)
        known = contexts[of] == here // base
        chance = np.where(known, (kept + back[of] * chance) / total[of], chance)
    return np.split(-np.log2(chance), np.cumsum(lengths)[:-1])


def by_letters(n: int) -> Costs:
    def read(text: str) -> list[int]:
        return [PLACE[letter] + 1 for letter in text]

    learned, judged = map(read, LEARNED.values()), map(read, JUDGED.values())
    found = kneser_ney(list(learned), list(judged), n, len(LETTERS) + 1)
    return dict(zip(JUDGED, found, strict=True))


def by_tokens(n: int, size: int) -> Costs:
    encoding = BytePairEncoding.train(LEARNED.values(), size)

    def read(text: str) -> list[int]:
        return [token + 1 for token in encoding.encode(text)]

    learned, judged = map(read, LEARNED.values()), list(map(read, JUDGED.values()))
    found = kneser_ney(list(learned), judged, n, size)
    return {
        title: spread(JUDGED[title], [encoding.tokens[t - 1] for t in ids], list(bits))
        for title, ids, bits in zip(JUDGED, judged, found, strict=True)
    }


# ----------------------------------------------------------------------------------------- networks


def fixed_window() -> Costs:
    model, alphabet, _ = load_window_model()
    w = {name: weight.double().numpy() for name, weight in model.state_dict().items()}
    found = {}
    for title, text in JUDGED.items():
        codes = [alphabet.characters.index(letter) + 1 for letter in text]
        rows = rows_of(codes, 11)
        bits = []
        for part in np.array_split(rows, 20):
            e = w["embed.weight"][part[:, :-1]].reshape(len(part), -1)
            z = np.tanh(e @ w["hidden.weight"].T + w["hidden.bias"]) @ w["head.weight"].T
            z += w["head.bias"]
            z -= z.max(1, keepdims=True)
            right = np.take_along_axis(z, part[:, -1:].astype(int), 1)[:, 0]
            bits.append((np.log(np.exp(z).sum(1)) - right) / math.log(2))
        found[title] = np.concatenate(bits)
    return found


def sigma(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def states(kind: str, texts: np.ndarray) -> np.ndarray:
    """Read rows of characters side by side, and return what the next of each costs, in bits."""
    model = character_models()[kind]
    w = {
        name.split(".")[-1]: v.detach().double().numpy()
        for name, v in model.layer.named_parameters()
    }
    table = model.embed.weight.detach().double().numpy() @ w["input_weight"] + w["bias"]
    out, b = (part.detach().double().numpy() for part in (model.head.weight.T, model.head.bias))
    n = out.shape[0]
    h, c, costs = np.zeros((len(texts), n)), np.zeros((len(texts), n)), []
    for now, following in zip(texts.T[:-1], texts.T[1:], strict=True):
        x, u = table[now], h @ w["state_weight"]
        if kind == "rnn":
            h = np.tanh(x + u)
        elif kind == "lstm":
            forget, let_in, let_out = np.split(sigma((x + u)[:, : 3 * n]), 3, axis=1)
            c = forget * c + let_in * np.tanh((x + u)[:, 3 * n :])
            h = let_out * np.tanh(c)
        else:
            reset, stay = np.split(sigma((x + u)[:, : 2 * n]), 2, axis=1)
            new = np.tanh(x[:, 2 * n :] + reset * (u[:, 2 * n :] + w["state_bias"]))
            h = stay * h + (1 - stay) * new
        z = h @ out + b
        top = z.max(1)
        costs.append(
            top + np.log(np.exp(z - top[:, None]).sum(1)) - z[np.arange(len(z)), following]
        )
    return np.array(costs).T / math.log(2)


def recurrent(kind: str, piece: int | None = None) -> Costs:
    place = {letter: at for at, letter in enumerate(character_models()[kind].alphabet)}
    end = len(LEARNED) / (len(LEARNED) + sum(map(len, LEARNED.values())))
    runs = []  # the title, and a run of characters of which the first 256 are not charged
    for title in VALIDATION_PLAYS:
        text = "\n" * 256 + JUDGED[title]
        for start in range(0, len(JUDGED[title]), piece or len(text)):
            runs.append((title, text[start : start + 256 + (piece or len(text))]))
    longest = max(len(run) for _, run in runs)
    rows = np.array([[place[x] for x in run.ljust(longest, "\n")] for _, run in runs])
    read = states(kind, rows)
    found = {}
    for title in VALIDATION_PLAYS:
        bits = [read[at, 255 : len(run) - 1] for at, (of, run) in enumerate(runs) if of == title]
        found[title] = np.append(np.concatenate(bits) - np.log2(1 - end), -np.log2(end))
    return found


@torch.no_grad()
def in_windows(model: Transformer, encoding: BytePairEncoding, end: int, half: bool) -> Costs:
    """Charge each token within the first window that holds it whole: one after the other."""
    length, found = model.config.context_length, {}
    step = length // 2 if half else length
    for title, text in JUDGED.items():
        ids = encoding.encode(text)
        stream, bits, windows = [end, *ids, end], [], []
        while len(bits) < len(stream) - 1:
            start = max(0, len(windows) * step)
            upto = min(start + length, len(stream) - 1)
            windows.append((start, len(bits) - start, upto - start))
            bits += [0.0] * (upto - len(bits))
        for first in range(0, len(windows), 16):
            some = windows[first : first + 16]
            rows = [torch.tensor(stream[s : s + n + 1]) for s, _, n in some]
            batch = torch.stack([pad(row, (0, length + 1 - len(row))) for row in rows])
            p = model(batch[:, :-1]).double().log_softmax(-1)
            for row, (start, fresh, n), targets in zip(p, some, batch[:, 1:], strict=True):
                for at in range(fresh, n):
                    bits[start + at] = -float(row[at, targets[at]]) / math.log(2)
        found[title] = spread(text, [encoding.tokens[token] for token in ids], bits)
    return found


def small(name: str, half: bool) -> Costs:
    kinds = LAYERS[name].split()
    config = TransformerConfig(
        vocab_size=512, n_layers=3, d_model=48, n_heads=4, context_length=128
    )
    model = Transformer(config)
    for block, kind in zip(model.blocks, kinds, strict=True):
        if kind == "linear":
            block.attention = LinearAttention(48, 4)
        if kind == "selective":
            block.attention = SelectiveLayer(48, expand=1)
    file, weights = load_file(BOARD / "memories.safetensors"), {}
    prefix = name.split()[0] + "/"
    for key, weight in file.items():
        if key.startswith(prefix) and not key.endswith("/unit"):
            unit = file.get(key + "/unit")
            whole = weight.float() if unit is None else weight.float() * unit[:, None]
            weights[key.removeprefix(prefix)] = whole
    model.load_state_dict(weights | {"head.weight": weights["embed.weight"]})
    merges = load_pretrained("plays")[1].merges
    return in_windows(model.eval(), BytePairEncoding(merges[: 512 - 257]), 511, half)


def transformer(half: bool) -> Costs:
    model, encoding = load_pretrained("plays")
    return in_windows(model, encoding, encoding.vocab_size - 1, half)


# ------------------------------------------------------------------------------------ compressors


def compressed(name: str) -> np.ndarray:
    """Count the bytes that each scene adds to the plays before it, in bits."""

    def size(data: bytes) -> int:
        if name == "bzip2":
            return len(bz2.compress(data, 9))
        if name == "LZMA":
            return len(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
        pyppmd = pytest.importorskip("pyppmd")
        return len(pyppmd.compress(data, max_order=8, mem_size=1 << 29, variant="H"))

    before = b"".join(play.encode() + b"\0" for play in LEARNED.values())
    before = before[-450_000:] if name == "bzip2" else before
    found = []
    for title in VALIDATION_PLAYS:
        known = size(before)
        for stop in [*scenes(JUDGED[title])[1:], None]:
            text = JUDGED[title][:stop] + ("" if stop else "\0")
            found.append(8.0 * (size(before + text.encode()) - known))
            known = size(before + text.encode())
    return np.array(found)


# --------------------------------------------------------------------------------------- the rows


@functools.cache
def bits(name: str, reads: str) -> np.ndarray:
    """Measure a model: bits of each of the 71 scenes."""
    if name in {"bzip2", "LZMA", "PPMd"}:
        return compressed(name)
    if name == "uniform":
        each = math.log2(len(LETTERS) + 1)
        return summed({title: np.full(len(text) + 1, each) for title, text in JUDGED.items()})
    if name == "transformer":
        return summed(transformer(reads == "half windows"))
    if name.startswith("small, "):
        return summed(small(name.removeprefix("small, "), reads == "half windows"))
    if name == "fixed window":
        return summed(fixed_window())
    if "-gram of " in name:
        n, size = (int(part.replace(",", "").split("-")[0]) for part in name.split()[::2])
        return summed(by_tokens(n, size))
    if name.endswith("-gram"):
        return summed(by_letters(int(name[0])))
    kind = {"Elman network": "rnn", "GRU": "gru", "LSTM": "lstm"}[name]
    return summed(recurrent(kind, 1024 if reads == "pieces" else None))


def mean_and_error(of_scenes: np.ndarray) -> tuple[float, float]:
    """Divide by all characters; the error takes each scene for one draw."""
    mean, scenes_n = of_scenes.sum() / SIZES.sum(), len(of_scenes)
    off = of_scenes - mean * SIZES
    return mean, math.sqrt(scenes_n / (scenes_n - 1) * (off**2).sum()) / SIZES.sum()


def agree(numbers: list[float], printed: list[str]) -> None:
    """Compare to the last printed digit; the table's scenes are rounded to hundredths of a bit."""
    for number, text in zip(numbers, printed, strict=True):
        assert abs(number - float(text)) < 0.501e-4, (number, text)


READS = {row["model"]: row["reads"] for row in ROWS}


@pytest.mark.thorough
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["model"])
def test_a_row_measured_by_other_lines_is_the_printed_one(row):
    found = bits(row["model"], row["reads"])
    ends = np.cumsum([len(scenes(JUDGED[title])) for title in VALIDATION_PLAYS])[:-1]
    plays = [
        part.sum() / size.sum()
        for part, size in zip(np.split(found, ends), np.split(SIZES, ends), strict=True)
    ]
    agree(plays, [row[title] for title in VALIDATION_PLAYS])
    agree([*mean_and_error(found)], [row["all"], row["error"]])
    if row["above"]:
        apart = found - bits(row["above"], READS[row["above"]])
        agree([*mean_and_error(apart)], [row["difference"], row["difference_error"]])


@pytest.mark.thorough
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("row", AGAIN, ids=lambda row: row["model"])
def test_another_reading_measured_by_other_lines_is_the_printed_one(row):
    found = bits(row["model"], row["reads"])
    apart = found - bits(row["model"], READS[row["model"]])
    expected = [row[key] for key in ("all", "error", "difference", "difference_error")]
    agree([*mean_and_error(found), *mean_and_error(apart)], expected)


def test_the_scenes_of_the_table_are_those_of_the_plays():
    lines = list(csv.DictReader((BOARD / "scenes.csv").read_text(encoding="utf-8").splitlines()))
    assert [int(line["characters"]) for line in lines] == SIZES.tolist()
    assert len(SIZES) == 71


@pytest.mark.parametrize("name", ["uniform", "3-gram", "fixed window"])
def test_a_quick_row_measured_by_other_lines_is_the_printed_one(name):
    [row] = [row for row in ROWS if row["model"] == name]
    agree([*mean_and_error(bits(name, row["reads"]))], [row["all"], row["error"]])
