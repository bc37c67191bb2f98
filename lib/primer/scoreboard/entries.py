"""Who stands on the scoreboard: one line for each model."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from primer.language_models.window import PRETRAINED as WINDOW
from primer.recurrent.stored import MODELS as CHARACTERS
from primer.scoreboard import compressors, counts
from primer.scoreboard.recurrent import recurrent_model
from primer.scoreboard.rules import Measure
from primer.scoreboard.stored_memories import WEIGHTS as MEMORIES
from primer.scoreboard.stored_memories import memory_model
from primer.scoreboard.transformer import plays_transformer
from primer.scoreboard.window import window_model
from primer.transformers import pretrained_file


class Entry(NamedTuple):
    """A model of the scoreboard.

    Attributes
    ----------
    measure : function of two mappings
        See :data:`primer.scoreboard.rules.Measure`.
    reads : str
        What its predictions are of: ``"characters"``, ``"tokens"`` or ``"bytes"``.
    weights : path, optional
        The committed file that it is read from; its SHA-256 goes into the row.
    """

    measure: Measure
    reads: str
    weights: Path | None = None


ENTRIES: dict[str, Entry] = {
    "uniform": Entry(counts.uniform, "characters"),
    **{f"{n}-gram": Entry(counts.character_ngrams(n), "characters") for n in range(1, 10)},
    "1-gram of 1,024 tokens": Entry(counts.token_ngrams(1, 1024), "tokens"),
    "3-gram of 1,024 tokens": Entry(counts.token_ngrams(3, 1024), "tokens"),
    "6-gram of 512 tokens": Entry(counts.token_ngrams(6, 512), "tokens"),
    "bzip2": Entry(compressors.compressor(compressors.block_sorting, memory=450_000), "bytes"),
    "LZMA": Entry(compressors.compressor(compressors.dictionary), "bytes"),
    "fixed window": Entry(window_model, "characters", WINDOW),
    "Elman network": Entry(recurrent_model("rnn"), "characters", CHARACTERS),
    "GRU": Entry(recurrent_model("gru"), "characters", CHARACTERS),
    "LSTM": Entry(recurrent_model("lstm"), "characters", CHARACTERS),
    "small, softmax attention": Entry(memory_model("softmax"), "tokens", MEMORIES),
    "small, linear attention": Entry(memory_model("linear"), "tokens", MEMORIES),
    "small, selective state space": Entry(memory_model("selective"), "tokens", MEMORIES),
    "small, hybrid": Entry(memory_model("hybrid"), "tokens", MEMORIES),
    "transformer": Entry(plays_transformer, "tokens", pretrained_file("plays")),
}
