"""Counting and scoring n-grams of the plays, beside dictionaries, in tokens per second."""

import time
from collections import Counter
from collections.abc import Iterator

from nltk.lm import Lidstone
from nltk.util import everygrams

from benchmarks.table import Row, median_seconds
from primer.datasets import split_plays
from primer.language_models import AddK, Alphabet, KneserNey, count_ngrams

ORDER = 5
NLTK_CHARACTERS = 20_000  # nltk takes minutes for the corpus


def rows() -> Iterator[Row]:
    """Time counting against a dictionary of slices, and scoring against nltk."""
    training, validation = split_plays()
    alphabet = Alphabet(training.values())
    texts = [alphabet.encode(text) for text in training.values()]
    size = sum(map(len, texts))

    def slices() -> Counter[str]:
        counts: Counter[str] = Counter()
        for text in training.values():
            counts.update(text[i : i + ORDER] for i in range(len(text) - ORDER + 1))
        return counts

    ours = median_seconds(lambda: count_ngrams(texts, alphabet.vocab_size, ORDER), repeats=3)
    started = time.perf_counter()
    slices()
    theirs = time.perf_counter() - started
    yield Row(
        f"counting {ORDER}-grams, tokens/s", size / ours, size / theirs, "a Counter of slices", "/s"
    )

    held_out = [alphabet.encode(text) for text in validation.values()]
    model = KneserNey.fit(texts, alphabet.vocab_size, ORDER)
    scored = sum(map(len, held_out))
    seconds = median_seconds(lambda: [model.log2_probabilities(x) for x in held_out], repeats=3)
    part = alphabet.decode(texts[0][:NLTK_CHARACTERS])
    peer = Lidstone(0.1, ORDER)
    peer.fit([list(everygrams(part, max_len=ORDER))], vocabulary_text=alphabet.characters)
    started = time.perf_counter()
    for i in range(ORDER, 5000):
        peer.logscore(part[i], tuple(part[i - ORDER + 1 : i]))  # a str would be one unknown word
    each = (time.perf_counter() - started) / (5000 - ORDER)
    yield Row(
        f"scoring with {ORDER}-grams, tokens/s",
        scored / seconds,
        1 / each,
        "nltk, add-k (ours: Kneser–Ney)",
        "/s",
    )
    small = [texts[0][:NLTK_CHARACTERS]]
    ours = median_seconds(lambda: AddK.fit(small, alphabet.vocab_size, ORDER), repeats=3)
    started = time.perf_counter()
    Lidstone(0.1, ORDER).fit([list(everygrams(part, max_len=ORDER))], list(part))
    theirs = time.perf_counter() - started
    yield Row(
        f"fitting {NLTK_CHARACTERS:,} characters, tokens/s",
        NLTK_CHARACTERS / ours,
        NLTK_CHARACTERS / theirs,
        "nltk, which counts all orders up to it",
        "/s",
    )
