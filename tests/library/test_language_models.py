"""Byte-pair encoding against Hugging Face's tokenizers, the textbook's loop and JavaScript."""

import errno
import json
import os
import random
import re
import unicodedata

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers, trainers

from primer import language_models as lm
from primer.datasets import split_plays
from primer.language_models import byte_pairs, merges
from primer.language_models.words import count_words
from primer.transformers import load_pretrained

texts = st.text() | st.text("ab' \n1.é") | st.text("aA'ſ\u0301\u00a0\u200b\u2028\x1c\x85文😀\ufeff")
# Libraries disagree on characters that only the newest of their Unicode tables know.
assigned = st.characters(exclude_categories=("Cn", "Cs"))
corpora = st.lists(
    st.text("abc ", max_size=60) | st.text(assigned, max_size=30), min_size=1, max_size=4
)


@pytest.fixture(scope="module")
def plays():
    return split_plays()


@pytest.fixture(scope="module")
def encoding(plays):
    return lm.BytePairEncoding.train(plays[0].values(), vocab_size=1024)


# Words --------------------------------------------------------------------------------------------


@given(texts)
def test_words_joined_are_the_text(text):
    assert "".join(lm.split_words(text)) == text


def test_words_are_the_same_in_javascript(javascript, tmp_path):
    module = tmp_path / "split.mjs"
    module.write_text("export const split = (p, t) => t.match(new RegExp(p, 'gu'));")
    # every character that is assigned, among spaces and apostrophes; the rest changes with Unicode
    characters = [
        c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in ("Cn", "Cs")
    ]
    assert len(characters) > 250_000
    draw = random.Random(0)
    draw.shuffle(characters)
    text = "".join(c + draw.choice(["", "", " ", "'", "\n", "a", "1"]) for c in characters)
    assert javascript(module, "split", lm.PATTERN, text) == lm.split_words(text)


@pytest.mark.parametrize("text", ["\ud800", "to be \udcff", "\ude00\ud83d"])
def test_half_a_character_is_refused(encoding, text):
    for own in (encoding, lm.BytePairEncoding([])):
        with pytest.raises(ValueError, match=r"lone surrogate U\+D[8-F]"):
            own.encode(text)


@pytest.mark.parametrize("texts", ["to be", {"Hamlet": "to be"}])
def test_one_text_is_no_corpus(texts):
    with pytest.raises(ValueError, match="need several texts"):
        lm.BytePairEncoding.train(texts, 257)


# Training -----------------------------------------------------------------------------------------


def hugging_face(corpus, vocab_size):
    """Train Hugging Face's byte-level encoding on the same words."""
    words = pre_tokenizers.Split(tokenizers.Regex(lm.PATTERN), "isolated")
    as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, as_bytes])
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[lm.END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus, trainer)
    return tokenizer


def their_bytes(tokens):
    """Undo the alphabet in which Hugging Face writes bytes."""
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in visible]
    table = {chr(byte): byte for byte in visible}
    table |= {chr(256 + place): byte for place, byte in enumerate(hidden)}
    return [bytes(table[character] for character in token) for token in tokens]


def their_merges(tokenizer):
    return [tuple(their_bytes(pair)) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


@pytest.fixture(scope="module")
def theirs(plays):
    return hugging_face(plays[0].values(), 1024)


def our_merges(encoding):
    return [(encoding.tokens[first], encoding.tokens[second]) for first, second in encoding.merges]


@given(corpora, st.integers(1, 60))
def test_merges_equal_those_of_the_rescan_and_of_hugging_face(corpus, n_merges):
    theirs = their_merges(hugging_face(corpus, 257 + n_merges))
    # Hugging Face stops without a word when no pair is left
    ours = lm.BytePairEncoding.train(corpus, 257 + len(theirs))
    assert our_merges(ours) == theirs
    words = count_words(corpus)
    assert lm.learn_merges_by_rescan(words, len(theirs)) == ours.merges
    assert len(set(ours.tokens)) == ours.vocab_size == 257 + len(theirs)
    if len(theirs) < n_merges:
        for learn in (lm.learn_merges, lm.learn_merges_by_rescan):
            with pytest.raises(ValueError, match=f"after {len(theirs)} merges every word"):
                learn(words, n_merges)


def test_merges_of_the_plays_equal_those_of_hugging_face(encoding, theirs):
    assert our_merges(encoding) == their_merges(theirs)


def test_tokens_of_the_books_model_are_those_of_the_plays(encoding):
    _, published = load_pretrained("plays")
    assert (published.merges, published.tokens) == (encoding.merges, encoding.tokens)


def test_merges_of_a_play_equal_those_of_the_rescan(plays):
    corpus = [plays[1]["Macbeth"][:20_000]]
    rescanned = lm.learn_merges_by_rescan(count_words(corpus), 400 - 257)
    assert lm.BytePairEncoding.train(corpus, 400).merges == rescanned


def test_training_merges_only_in_words_that_change(plays, monkeypatch):
    touched = 0

    def merge_pair(*given):
        nonlocal touched
        touched += 1
        return lm.merge_pair(*given)

    monkeypatch.setattr(merges, "merge_pair", merge_pair)
    counts = lm.count_words([plays[1]["Macbeth"]])
    lm.learn_merges(counts, 767)
    assert touched < len(counts) * 767 / 100  # the rescan merges every word every time


def test_a_negative_number_of_merges_is_refused():
    for learn in (lm.learn_merges, lm.learn_merges_by_rescan):
        with pytest.raises(ValueError, match=r"n_merges must be .*, got -1"):
            learn({b"ab": 1}, -1)


def learn_up_to(counts, n_merges):
    """Learn as many merges as asked for, or as there are: the error says how many."""
    try:
        return lm.learn_merges(counts, n_merges)
    except ValueError as error:
        return lm.learn_merges(counts, int(re.match(r"after (\d+) merges", str(error))[1]))


@given(corpora, st.integers(0, 40), st.randoms(use_true_random=False))
def test_the_order_of_words_does_not_matter(corpus, n_merges, draw):
    counts = lm.count_words(corpus)
    shuffled = dict(draw.sample(sorted(counts.items()), len(counts)))
    assert learn_up_to(counts, n_merges) == learn_up_to(shuffled, n_merges)


def test_a_vocabulary_needs_all_bytes_and_special_tokens():
    assert lm.BytePairEncoding.train([], 256, special_tokens=()).vocab_size == 256
    assert lm.BytePairEncoding.train([], 258, special_tokens=("<a>", "<b>")).merges == []
    with pytest.raises(ValueError, match=r"at least 258 .* got 257"):
        lm.BytePairEncoding.train(["to be"], 257, special_tokens=("<a>", "<b>"))


# Encoding and decoding ----------------------------------------------------------------------------


@settings(max_examples=300)
@given(text=texts)
def test_every_text_comes_back(encoding, text):
    ids = encoding.encode(text)
    assert encoding.decode(ids) == text
    assert b"".join(encoding.tokens[token] for token in ids) == text.encode()
    assert len(ids) <= len(text.encode())


@given(corpora, texts)
def test_a_text_comes_back_whatever_was_learned(corpus, text):
    encoding = lm.BytePairEncoding(learn_up_to(lm.count_words([*corpus, text]), 40))
    assert encoding.decode(encoding.encode(text)) == text


def test_held_out_plays_are_encoded_as_by_hugging_face(plays, encoding, theirs):
    for title, text in plays[1].items():
        ours = [encoding.tokens[token] for token in encoding.encode(text)]
        assert ours == their_bytes(theirs.encode(text).tokens), title


@given(corpora, st.text("abc", max_size=80))
def test_encoding_is_the_merges_one_after_the_other(corpus, word):
    encoding = lm.BytePairEncoding(learn_up_to(lm.count_words([*corpus, word]), 40))
    expected = list(word.encode())
    for number, pair in enumerate(encoding.merges):
        expected = lm.merge_pair(expected, pair, 256 + number)
    assert encoding.encode(word) == expected


def test_the_cache_changes_nothing_when_it_starts_anew(monkeypatch, encoding, plays):
    text = plays[1]["Macbeth"][:5000]
    expected = encoding.encode(text)
    monkeypatch.setattr(byte_pairs, "CACHED_WORDS", 3)
    assert lm.BytePairEncoding(encoding.merges).encode(text) == expected


def test_a_special_token_cannot_be_typed(encoding):
    ids = encoding.encode(lm.END)
    assert encoding.special_tokens == {lm.END: 1023}
    assert 1023 not in ids
    assert encoding.decode([*ids, 1023]) == 2 * lm.END


def test_bytes_that_are_no_text_are_replaced(encoding):
    assert encoding.decode([]) == ""
    assert encoding.decode([0xFF, ord("a")]) == "\N{REPLACEMENT CHARACTER}a"
    assert encoding.decode("😀".encode()[:3]) == "\N{REPLACEMENT CHARACTER}"  # one beginning
    assert encoding.decode([0xEF, 0xBB, 0xBF]) == "\ufeff"


@pytest.mark.parametrize("bad", [-1, 1024, 10**30])
def test_unknown_ids_are_refused(encoding, bad):
    with pytest.raises(ValueError, match=rf"token ids are 0 to 1023, got {bad}"):
        encoding.decode([0, bad])


# Building, saving and loading ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("merges", "special", "sentence"),
    [
        ([(97, 256)], (), "merge 0 joins tokens 97 and 256, but only 0 to 255"),
        ([(97, 98), (-1, 98)], (), "merge 1 joins tokens -1 and 98"),
        ([(97, 98), (97, 98)], (), "merge 1 makes b'ab', which is a token already"),
        ([(97, 98), (98, 99), (97, 257), (256, 99)], (), "merge 3 makes b'abc'"),
        ([], ("<a>", "<a>"), "must be different names"),
        ([], "<a>", "must be different names"),
        ([], ("",), "not empty"),
    ],
)
def test_impossible_merges_and_names_are_refused(merges, special, sentence):
    with pytest.raises(ValueError, match=sentence):
        lm.BytePairEncoding(merges, special)


def test_a_saved_encoding_is_the_same(encoding, tmp_path):
    named = lm.BytePairEncoding(encoding.merges, ("<é>", lm.END))
    named.save(tmp_path / "bpe.json")
    loaded = lm.BytePairEncoding.load(tmp_path / "bpe.json")
    assert (loaded.merges, loaded.tokens) == (named.merges, named.tokens)
    assert loaded.special_tokens == {"<é>": 1023, lm.END: 1024}
    assert os.listdir(tmp_path) == ["bpe.json"]
    assert '"<é>"' in (tmp_path / "bpe.json").read_text("utf-8")  # who opens the file can read it


def test_a_full_disk_loses_nothing(monkeypatch, encoding, tmp_path):
    path = tmp_path / "bpe.json"
    encoding.save(path)

    def full(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        lm.BytePairEncoding([]).save(path)
    monkeypatch.undo()
    assert lm.BytePairEncoding.load(path).merges == encoding.merges
    assert os.listdir(tmp_path) == ["bpe.json"]


@given(cut=st.floats(0, 1, exclude_max=True))
def test_a_truncated_file_is_refused(encoding, tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("cut") / "bpe.json"
    encoding.save(path)
    whole = path.read_bytes().rstrip()
    path.write_bytes(whole[: int(cut * len(whole))])
    with pytest.raises(ValueError, match="no JSON or only a part of it"):
        lm.BytePairEncoding.load(path)


WHOLE = {
    "format": byte_pairs.FORMAT,
    "pattern": lm.PATTERN,
    "special_tokens": [lm.END],
    "merges": [[97, 98]],
}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": "gpt2"}, "no file of the format"),
        ({"pattern": r"\S+"}, "by another pattern"),
        ({"merges": None}, "list of pairs of whole numbers"),
        ({"merges": ["ab"]}, "list of pairs of whole numbers"),
        ({"merges": [[97, 98, 99]]}, "list of pairs of whole numbers"),
        ({"merges": [[97, 98.0]]}, "list of pairs of whole numbers"),
        ({"merges": [[True, 98]]}, "list of pairs of whole numbers"),
        ({"merges": [[97, 300]]}, "merge 0 joins tokens 97 and 300"),
        ({"merges": [[97, 98], [97, 98]]}, "a token already"),
        ({"special_tokens": {"<a>": 3}}, "list of names"),
        ({"special_tokens": [3]}, "list of names"),
        ({"special_tokens": ["<a>", "<a>"]}, "different names"),
        ({"special_tokens": ["\ud800"]}, "lone surrogate"),
    ],
)
def test_a_foreign_or_corrupt_file_is_refused(tmp_path, change, sentence):
    path = tmp_path / "bpe.json"
    path.write_text(json.dumps(WHOLE))
    assert lm.BytePairEncoding.load(path).tokens[256] == b"ab"
    path.write_text(json.dumps(WHOLE | change))
    with pytest.raises(ValueError, match=sentence) as caught:
        lm.BytePairEncoding.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"\xff\xfe\x00", b"[" * 10**5, b"null", b"1" * 5000]
)
def test_what_is_no_encoding_is_refused(tmp_path, content):
    path = tmp_path / "bpe.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"no JSON|no file of the format"):
        lm.BytePairEncoding.load(path)
    with pytest.raises(ValueError, match="there is no tokenizer file"):
        lm.BytePairEncoding.load(tmp_path / "none.json")
