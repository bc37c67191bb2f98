"""Byte-pair encoding: text to token ids and back."""

from __future__ import annotations

import heapq
import json
import os
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from pathlib import Path

from primer.datasets import utf8
from primer.inputs import checked, count
from primer.language_models.counting import one_row
from primer.language_models.merges import (
    Pair,
    learn_merges,
)
from primer.language_models.words import PATTERN, count_words, split_words
from primer.saving import write_whole

END = "<|end|>"
"""The special token that ends a document."""

FORMAT = "primer byte-pair encoding, version 1"
LONGEST = 1 << 20
"""Bytes of a token: merges that double would fill the memory."""
CACHED_WORDS = 1 << 16  # more different words than the plays have; then the cache starts anew


class BytePairEncoding:
    """Text as a sequence of token ids, by merging pairs of bytes.

    Token ids are numbered so: 0 to 255 are the bytes, 256 + m is what merge m makes, and special
    tokens come last. A text is cut into words (:data:`~primer.language_models.words.PATTERN`), a
    word into its UTF-8 bytes, and the merges are applied in the order in which they were learned.
    As every byte is a token, every text has an encoding, and ``decode(encode(text)) == text``.

    Parameters
    ----------
    merges : sequence of pairs of int
        The two tokens that each merge joins.
    special_tokens : sequence of str
        Names of tokens that no text encodes to, as the one that ends a document.

    Attributes
    ----------
    merges : list of pairs of int
        As given.
    tokens : list of bytes
        The bytes of each token; of a special token, its name.
    special_tokens : dict of str to int
        Name → id.

    Raises
    ------
    ValueError
        When a merge joins tokens that do not exist yet or makes one that exists already, or a
        special token is empty, named twice or no text; or when a token is longer than a megabyte.

    References
    ----------
    Gage (1994); Sennrich, Haddow and Birch (2016); on bytes: Radford et al. (2019), section 2.2.

    Examples
    --------
    >>> encoding = BytePairEncoding.train(["low lower lowest"], vocab_size=259)
    >>> encoding.encode("low slow")
    [257, 32, 115, 257]
    >>> encoding.tokens[256:]
    [b'lo', b'low', b'<|end|>']
    """

    @checked
    def __init__(self, merges: Sequence[Pair], special_tokens: Sequence[str] = (END,)) -> None:
        self.merges = [(first, second) for first, second in merges]
        self.tokens = [bytes([byte]) for byte in range(256)]
        known = set(self.tokens)
        for number, (first, second) in enumerate(self.merges):
            if not (0 <= first < len(self.tokens) and 0 <= second < len(self.tokens)):
                raise ValueError(
                    f"merge {number} joins tokens {first} and {second}, but only 0 to "
                    f"{len(self.tokens) - 1} exist before it"
                )
            if len(self.tokens[first]) + len(self.tokens[second]) > LONGEST:
                raise ValueError(
                    f"merge {number} makes a token of more than {LONGEST:,} bytes: no text has such"
                )
            token = self.tokens[first] + self.tokens[second]
            if token in known:
                raise ValueError(f"merge {number} makes {token!r}, which is a token already")
            known.add(token)
            self.tokens.append(token)
        self._new_ids = {pair: 256 + number for number, pair in enumerate(self.merges)}
        if isinstance(special_tokens, str) or len(set(special_tokens)) < len(special_tokens):
            raise ValueError(f"special tokens must be different names, got {special_tokens!r}")
        if "" in special_tokens:
            raise ValueError("a special token needs a name that is not empty")
        self.special_tokens = {
            name: len(self.tokens) + number for number, name in enumerate(special_tokens)
        }
        self.tokens.extend(map(utf8, special_tokens))
        self._cache: dict[str, list[int]] = {}

    @classmethod
    @checked
    def train(
        cls, texts: Iterable[str], vocab_size: int, special_tokens: Sequence[str] = (END,)
    ) -> BytePairEncoding:
        """Learn the merges of a corpus, see :func:`learn_merges`.

        The same corpus gives the same merges on every machine; they are those of Hugging Face's
        ``BpeTrainer`` on the same words.

        Parameters
        ----------
        texts : iterable of str
            The corpus; a single string is refused.
        vocab_size : int
            The number of tokens: 256 bytes, the merges and the special tokens.
        special_tokens : sequence of str
            Their names.

        Returns
        -------
        BytePairEncoding
            The encoding with exactly ``vocab_size`` tokens.

        Raises
        ------
        ValueError
            When ``vocab_size`` has no room for the bytes and the special tokens, or the corpus is
            too small for so many merges.
        """
        n_merges = _n_merges(vocab_size, special_tokens)
        merges = learn_merges(count_words(texts), n_merges)
        return cls(merges, special_tokens)

    @property
    def vocab_size(self) -> int:
        """The number of tokens."""
        return len(self.tokens)

    @checked
    def encode(self, text: str) -> list[int]:
        """Encode a text.

        What looks like a special token is text like any other: nobody can end a document by typing.

        Parameters
        ----------
        text : str
            Any text, also an empty one.

        Returns
        -------
        list of int
            Token ids.

        Raises
        ------
        ValueError
            When the text holds a lone surrogate.
        """
        if not self._new_ids:  # the bytes are the tokens, whatever the words
            return list(utf8(text))
        words, cache = split_words(text), self._cache
        new = {word for word in words if word not in cache}
        if len(cache) + len(new) > CACHED_WORDS:
            cache.clear()
            new = set(words)
        for word in new:
            cache[word] = self._encode_word(word.encode("utf-8"))
        return list(chain.from_iterable(map(cache.__getitem__, words)))

    def _encode_word(self, word: bytes) -> list[int]:
        """Merge the pairs of one word, the earliest learned first, from left to right.

        A heap holds the pairs that can be merged, by the id they make and where they stand: n bytes
        take n log n steps, though a word may be as long as the text.
        """
        ids = list(word)  # −1 stands for a token that was merged into the one on its left
        before, after = list(range(-1, len(ids) - 1)), list(range(1, len(ids) + 1))
        new_ids = self._new_ids
        heap = [(new_ids[pair], at) for at, pair in enumerate(pairwise(word)) if pair in new_ids]
        heapq.heapify(heap)
        while heap:
            new_id, left = heapq.heappop(heap)
            right = after[left]
            if right == len(ids) or new_ids.get((ids[left], ids[right])) != new_id:
                continue  # one of the two has been merged with another neighbor
            ids[left], ids[right] = new_id, -1
            after[left] = after[right]
            if after[left] < len(ids):
                before[after[left]] = left
            for at in (before[left], left):
                if at >= 0 and after[at] < len(ids):
                    pair = (ids[at], ids[after[at]])
                    if pair in new_ids:
                        heapq.heappush(heap, (new_ids[pair], at))
        return [token for token in ids if token >= 0]

    @checked
    def decode(self, ids: Iterable[int]) -> str:
        """Turn token ids into text.

        Bytes that are not UTF-8 become U+FFFD, the replacement character, one for each longest
        beginning of a character, as in a browser: a model may stop in the middle of a letter.

        Parameters
        ----------
        ids : iterable of int
            Token ids; the name of a special token is written out.

        Returns
        -------
        str
            The text.

        Raises
        ------
        ValueError
            When an id is not one of this vocabulary, or there are several rows.
        """
        content = bytearray()
        for token in one_row("ids", ids):
            if not 0 <= token < len(self.tokens):
                raise ValueError(f"token ids are 0 to {len(self.tokens) - 1}, got {token}")
            content += self.tokens[token]
        return content.decode("utf-8", errors="replace")

    @checked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the encoding as JSON; a file of that name is replaced only by a whole one.

        Parameters
        ----------
        path : path
            Where to.

        Raises
        ------
        OSError
            When it cannot be written, as on a full disk; an older file is left as it was.
        """
        content = {
            "format": FORMAT,
            "pattern": PATTERN,
            "special_tokens": list(self.special_tokens),
            "merges": self.merges,
        }
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        write_whole(path, f"{text}\n".encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BytePairEncoding:
        """Read an encoding that :meth:`save` wrote.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        BytePairEncoding
            With the same merges and special tokens.

        Raises
        ------
        ValueError
            When there is no such file, or it is not a whole encoding of this kind.
        """
        if not isinstance(path, str | os.PathLike):
            raise ValueError(f"path must be that of a tokenizer file, got {path!r}")
        try:
            content = json.loads(Path(path).read_bytes())
        except FileNotFoundError:
            raise ValueError(f"there is no tokenizer file {path}") from None
        except OSError as error:
            raise ValueError(f"{path} cannot be read as a tokenizer file: {error}") from None
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path} is no JSON or only a part of it: {error}") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f"{path} is no file of the format {FORMAT!r}")
        if content.get("pattern") != PATTERN:
            raise ValueError(f"{path} cuts words by another pattern: {content.get('pattern')!r}")
        merges, special = content.get("merges"), content.get("special_tokens")
        if not isinstance(merges, list) or not all(map(_is_pair, merges)):
            raise ValueError(f"{path}: merges must be a list of pairs of whole numbers")
        if not isinstance(special, list) or not all(isinstance(name, str) for name in special):
            raise ValueError(f"{path}: special_tokens must be a list of names")
        try:
            return cls([(first, second) for first, second in merges], special)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None


def _is_pair(merge: object) -> bool:
    return (
        isinstance(merge, list) and len(merge) == 2 and all(type(token) is int for token in merge)
    )


def _n_merges(vocab_size: int, special_tokens: Sequence[str]) -> int:
    """Count the merges that a vocabulary has room for."""
    if isinstance(special_tokens, str):
        raise ValueError(f"special tokens must be different names, got {special_tokens!r}")
    n_merges = count("vocab_size", vocab_size) - 256 - len(special_tokens)
    if n_merges < 0:
        raise ValueError(
            f"vocab_size must be at least {256 + len(special_tokens)} (256 bytes and "
            f"{len(special_tokens)} special tokens), got {vocab_size}"
        )
    return n_merges
