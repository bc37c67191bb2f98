"""From texts to batches: one long row of token ids, cut anew in every epoch."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from primer.datasets import corpus_hash, split_plays
from primer.inputs import (
    Count,
    checked,
    count,
)
from primer.language_models import BytePairEncoding
from primer.language_models.byte_pairs import END


class Corpus(NamedTuple):
    """Everything a training run reads.

    Attributes
    ----------
    tokenizer : BytePairEncoding
        Trained on the training texts alone.
    training, validation : Tensor
        The token ids of each part, see :func:`token_stream`.
    hash : str
        SHA-256 of the texts, so that a checkpoint can say what it was trained on.
    """

    tokenizer: BytePairEncoding
    training: Int[Tensor, " tokens"]
    validation: Int[Tensor, " held_out"]
    hash: str


@checked
def read_corpus(texts: str, vocab_size: int) -> Corpus:
    """Read the texts, train the tokenizer and encode them.

    Parameters
    ----------
    texts : str
        ``"plays"`` for :func:`primer.datasets.split_plays`, or a folder that holds
        ``training/*.txt`` and ``validation/*.txt``.
    vocab_size : int
        Tokens of the byte-pair encoding.

    Returns
    -------
    Corpus
        The same for the same texts, on every machine.

    Raises
    ------
    ValueError
        When the folder holds no texts, one of them is not UTF-8, or they are too little for the
        vocabulary.
    """
    if texts == "plays":
        return _plays(vocab_size)
    return _encode(*_read_folder(Path(texts)), vocab_size)


@functools.lru_cache(maxsize=2)  # several runs of one script read the same
def _plays(vocab_size: int) -> Corpus:
    """Encode the plays, which come with the package and do not change."""
    return _encode(*split_plays(), vocab_size)


def _encode(training: dict[str, str], validation: dict[str, str], vocab_size: int) -> Corpus:
    """Train the tokenizer and encode both parts."""
    tokenizer = BytePairEncoding.train(training.values(), vocab_size)
    titles = {f"training/{title}": text for title, text in training.items()}
    titles |= {f"validation/{title}": text for title, text in validation.items()}
    return Corpus(
        tokenizer,
        token_stream(training, tokenizer),
        token_stream(validation, tokenizer),
        corpus_hash(titles),
    )


def _read_folder(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Read the text files of the two parts."""
    parts = []
    for part in ("training", "validation"):
        files = sorted((folder / part).glob("*.txt"))
        if not files:
            raise ValueError(f"there is no text file {folder / part / '*.txt'}")
        parts.append({file.stem: _read_text(file) for file in files})
    return parts[0], parts[1]


def _read_text(file: Path) -> str:
    """Read a text file, or say which one cannot be read and where."""
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{file} is not UTF-8: {error.reason} at byte {error.start}; save it as UTF-8"
        ) from None


@checked
def token_stream(texts: dict[str, str], tokenizer: BytePairEncoding) -> Int[Tensor, " tokens"]:
    """Encode texts and join them, with the end token before the first and after each.

    The end token before a text is what the first word is predicted from.

    Parameters
    ----------
    texts : dict of str
        Title and text; the titles are not encoded.
    tokenizer : BytePairEncoding
        With a special token ``<|end|>``.

    Returns
    -------
    int32 Tensor
        The ids.

    Examples
    --------
    >>> letters = BytePairEncoding([])  # no merges: 256 bytes and the end token
    >>> token_stream({"first": "to", "second": "be"}, letters).tolist()
    [256, 116, 111, 256, 98, 101, 256]
    """
    if END not in tokenizer.special_tokens:
        raise ValueError(f"the tokenizer has no token {END!r}, which ends a text")
    end = tokenizer.special_tokens[END]
    ids = [end]
    for text in texts.values():
        ids += [*tokenizer.encode(text), end]
    return torch.tensor(np.array(ids, dtype=np.int32))  # of a list, torch asks each number


class Batches:
    r"""Batches of training sequences, each a function of the seed and the step alone.

    In each epoch the row of tokens is cut into sequences at a new offset and they are drawn in a
    new order without replacement: every token is predicted once per epoch, but for fewer than two
    contexts at the ends.  Nothing is remembered from batch to batch, so a run that was interrupted
    only needs to know its step.

    Parameters
    ----------
    tokens : int Tensor, shape (tokens,)
        From :func:`token_stream`.
    context_length : int
        Tokens of a sequence that are read; one more is drawn, which is the last target.
    batch_size : int
        Sequences in one step.
    seed : int
        Decides offsets and orders.

    Raises
    ------
    ValueError
        When there are too few tokens for one batch.

    Examples
    --------
    >>> batches = Batches(torch.arange(12), context_length=4, batch_size=2, seed=0)
    >>> batches.sequences  # in one epoch: sequences of 4 + 1 tokens, starting 4 apart
    2
    >>> batches.at(step=0).shape
    torch.Size([2, 5])
    """

    @checked
    def __init__(
        self, tokens: Int[Tensor, " tokens"], context_length: Count, batch_size: Count, seed: int
    ) -> None:
        if not 0 <= seed < 1 << 32:  # its product with a million and the epoch fits into 64 bits
            raise ValueError(f"seed must lie between 0 and {(1 << 32) - 1}, got {seed}")
        self.sequences = len(tokens) // context_length - 1
        if self.sequences < batch_size:
            raise ValueError(
                f"{len(tokens)} tokens make only {max(self.sequences, 0)} sequences of "
                f"{context_length}, fewer than one batch of {batch_size}; "
                "add text or lower context_length or batch_size"
            )
        self.tokens, self.batch_size, self.seed = tokens, batch_size, seed
        self.context_length = context_length

    def at(self, step: int) -> Int[Tensor, "batch length"]:
        """Return the batch of a step, of shape ``(batch_size, context_length + 1)``."""
        first = count("step", step, at_least=0) * self.batch_size
        starts = [self._start(index) for index in range(first, first + self.batch_size)]
        places = torch.tensor(starts)[:, None] + torch.arange(self.context_length + 1)
        return self.tokens[places].long()  # (batch, context + 1)

    def _start(self, index: int) -> int:
        """Find where the sequence begins that is drawn as number ``index`` since the first step."""
        epoch, place = divmod(index, self.sequences)
        offset, order = _cut(self.seed, epoch, self.context_length, self.sequences)
        return offset + self.context_length * int(order[place])


@functools.lru_cache(maxsize=2)  # a batch may reach from one epoch into the next
def _cut(seed: int, epoch: int, context_length: int, sequences: int) -> tuple[int, Tensor]:
    """Draw an epoch's offset and the order of its sequences."""
    generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    offset = int(torch.randint(context_length, (), generator=generator))
    return offset, torch.randperm(sequences, generator=generator)
