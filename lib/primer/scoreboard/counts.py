"""Models of counts on the scoreboard: uniform, and Kneser–Ney over characters and over tokens."""

from __future__ import annotations

import math

from primer.language_models import END, BytePairEncoding, KneserNey
from primer.scoreboard.rules import Measure, Plays, Score, encoded_plays
from primer.scoreboard.scenes import by_scene, of_characters


def uniform(training: Plays, held_out: Plays) -> Score:
    """Give each character and the end of the play the same probability.

    Examples
    --------
    >>> uniform({"learn": "abc"}, {"judge": "abc"}).bits  # three letters and the end: 2 bits each
    {'judge': array([8.])}
    """
    alphabet, _ = encoded_plays(training)
    each = math.log2(alphabet.vocab_size)
    bits = {title: by_scene(text, [each] * (len(text) + 1)) for title, text in held_out.items()}
    return Score(bits, 0)


def character_ngrams(order: int) -> Measure:
    """Return the measure of a Kneser–Ney model over characters.

    Examples
    --------
    >>> score = character_ngrams(2)({"learn": "abab"}, {"judge": "ab"})
    >>> score.numbers, 0 < float(score.bits["judge"].sum()) < 3 * math.log2(3)
    (7, True)
    """

    def measure(training: Plays, held_out: Plays) -> Score:
        alphabet, texts = encoded_plays(training)
        model = KneserNey.fit(texts, alphabet.vocab_size, order)
        bits = {
            title: by_scene(text, -model.log2_probabilities(alphabet.encode(text)))
            for title, text in held_out.items()
        }
        return Score(bits, model.numbers)

    return measure


def token_ngrams(order: int, vocab_size: int) -> Measure:
    """Return the measure of a Kneser–Ney model over the tokens of a byte-pair encoding.

    The cost of a play is that of its one encoding; the same text could be spelled by other tokens,
    so this is an upper bound of what the model gives to the text.

    Examples
    --------
    >>> score = token_ngrams(1, vocab_size=258)({"learn": "abab ab"}, {"judge": "ab"})
    >>> 0 < float(score.bits["judge"].sum()) < 2 * math.log2(258)
    True
    """

    def measure(training: Plays, held_out: Plays) -> Score:
        tokenizer = BytePairEncoding.train(training.values(), vocab_size)
        # counted texts keep 0 for their ends, which is the last token here
        assert tokenizer.special_tokens[END] == vocab_size - 1
        texts = [[token + 1 for token in tokenizer.encode(text)] for text in training.values()]
        model = KneserNey.fit(texts, vocab_size, order)
        bits = {}
        for title, text in held_out.items():
            ids = tokenizer.encode(text)
            costs = -model.log2_probabilities([token + 1 for token in ids])
            spelled = [tokenizer.tokens[token] for token in ids]
            bits[title] = by_scene(text, of_characters(text, spelled, costs))
        return Score(bits, model.numbers)

    return measure
