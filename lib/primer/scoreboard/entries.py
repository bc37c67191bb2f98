"""Who stands on the scoreboard: one line for each model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from primer.language_models.window import PRETRAINED as WINDOW
from primer.recurrent.stored import MODELS as CHARACTERS
from primer.scoreboard import compressors, counts
from primer.scoreboard.character_networks import recurrent_model, window_model
from primer.scoreboard.rules import Measure
from primer.scoreboard.stored_memories import WEIGHTS as MEMORIES
from primer.scoreboard.stored_memories import memory_model
from primer.scoreboard.transformer import plays_transformer
from primer.transformers import pretrained_file


class Entry(NamedTuple):
    """A model of the scoreboard.

    Attributes
    ----------
    measure : function of two mappings
        See :data:`primer.scoreboard.rules.Measure`.
    predicts : str
        What its predictions are of: ``"characters"``, ``"tokens"`` or ``"bytes"``.
    weights : path, optional
        The committed file that it is read from; its SHA-256 goes into the row.
    reads : str
        How it reads a play: a name in :data:`primer.scoreboard.rules.READINGS`.
    seeds : int
        How many times it was trained, from different seeds: the row has the first. Counting has no
        seed, 0.
    again : mapping of str to function
        Other ways of reading a play, and the model's measure when it reads so.
    """

    measure: Measure
    predicts: str
    weights: Path | None = None
    reads: str = "whole"
    seeds: int = 0
    again: Mapping[str, Measure] = MappingProxyType({})


def recurrent(name: str) -> Entry:
    """Enter a recurrent network, which reads in one pass, and in pieces."""
    again = {"pieces": recurrent_model(name, piece=1024)}
    return Entry(recurrent_model(name), "characters", CHARACTERS, seeds=1, again=again)


def memory(name: str) -> Entry:
    """Enter one of the four small models, of which two seeds were trained."""
    again = {"half windows": memory_model(name, overlap=True)}
    return Entry(memory_model(name), "tokens", MEMORIES, "windows", 2, again)


ENTRIES: dict[str, Entry] = {
    "uniform": Entry(counts.uniform, "characters"),
    **{f"{n}-gram": Entry(counts.character_ngrams(n), "characters") for n in range(1, 10)},
    "1-gram of 1,024 tokens": Entry(counts.token_ngrams(1, 1024), "tokens"),
    "3-gram of 1,024 tokens": Entry(counts.token_ngrams(3, 1024), "tokens"),
    "6-gram of 512 tokens": Entry(counts.token_ngrams(6, 512), "tokens"),
    "bzip2": Entry(compressors.compressor(compressors.block_sorting, memory=450_000), "bytes"),
    "LZMA": Entry(compressors.compressor(compressors.dictionary), "bytes"),
    "PPMd": Entry(compressors.compressor(compressors.partial_matching), "bytes"),
    "fixed window": Entry(window_model, "characters", WINDOW, seeds=1),
    "Elman network": recurrent("rnn"),
    "GRU": recurrent("gru"),
    "LSTM": recurrent("lstm"),
    "small, softmax attention": memory("softmax"),
    "small, linear attention": memory("linear"),
    "small, selective state space": memory("selective"),
    "small, hybrid": memory("hybrid"),
    "transformer": Entry(
        plays_transformer(),
        "tokens",
        pretrained_file("plays"),
        "windows",
        1,
        {"half windows": plays_transformer(overlap=True)},
    ),
}
