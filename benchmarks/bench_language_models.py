"""Byte-pair encoding beside the textbook's rescan and Hugging Face's tokenizers, on the plays."""

import time
from collections.abc import Callable, Iterator

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from benchmarks.table import Row, alternating_seconds, median_seconds
from primer.datasets import split_plays
from primer.language_models import (
    END,
    PATTERN,
    BytePairEncoding,
    count_words,
    learn_merges,
    learn_merges_by_rescan,
)

VOCAB_SIZE = 1024
RESCANS = 120  # all 767 merges would take minutes, and the first change the most words


def rows() -> Iterator[Row]:
    """Time training and encoding; both libraries cut the same words and learn the same merges."""
    training, validation = split_plays()
    corpus, held_out = list(training.values()), "\n".join(validation.values())

    counts = count_words(corpus)
    yield Row(
        f"BPE, {RESCANS} merges, {len(counts):,} different words",
        median_seconds(lambda: learn_merges(counts, RESCANS), repeats=3),
        _seconds_once(lambda: learn_merges_by_rescan(counts, RESCANS)),
        "the textbook's rescan",
    )

    peer = "Hugging Face tokenizers (Rust)"
    yield Row(
        f"BPE training, {len(corpus)} plays, {VOCAB_SIZE} tokens",
        *alternating_seconds(
            lambda: BytePairEncoding.train(corpus, VOCAB_SIZE),
            lambda: _hugging_face(corpus),
            repeats=3,
        ),
        peer,
    )

    merges = BytePairEncoding.train(corpus, VOCAB_SIZE).merges
    theirs = _hugging_face(corpus)
    yield Row(
        f"BPE encoding, {len(held_out):,} characters, empty cache",
        *alternating_seconds(
            lambda: BytePairEncoding(merges).encode(held_out),
            lambda: theirs.encode(held_out).ids,
        ),
        peer,
    )


def _hugging_face(corpus: list[str]) -> Tokenizer:
    """Train Hugging Face's byte-level encoding on the same words."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus, trainer)
    return tokenizer


def _seconds_once(work: Callable[[], object]) -> float:
    """Return the time of one call, for work too long to repeat."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
