"""Answers to the exercises of the chapter *Pretraining*."""

import itertools

import numpy as np
import torch

from primer.exercises import pretraining as checks
from primer.pretraining import viterbi


def mask(
    tokens, mask_id, vocab_size, special, random, rate=0.15, split=(0.8, 0.1), words=None, one=False
):
    ordinary = ~np.isin(tokens, special)
    counted = ordinary & (random.random(len(tokens)) < rate)
    fate = random.random(len(tokens))
    drawn = random.integers(words or vocab_size, size=1 if one else len(tokens))
    inputs = np.where(counted & (fate < split[0]), mask_id, tokens)
    changed = counted & (fate >= split[0]) & (fate < sum(split))
    return np.where(changed, drawn, inputs), counted


def mask_in_place(tokens, mask_id, *rest):
    inputs, counted = mask(tokens, mask_id, *rest)
    tokens[:] = inputs
    return tokens, counted


def forget_the_kept(tokens, *rest):
    inputs, counted = mask(tokens, *rest)
    return inputs, counted & (inputs != tokens)


def mask_from_the_text(tokens, mask_id, vocab_size, special, random):
    """The random words are those of other places."""
    inputs, counted = mask(tokens, mask_id, vocab_size, special, random)
    changed = (inputs != tokens) & (inputs != mask_id)
    return np.where(changed, random.permutation(tokens), inputs), counted


def everything_but_the_counted(*given):
    inputs, counted = mask(*given)
    return inputs, ~counted


def count_separators(tokens, *rest):
    inputs, counted = mask(tokens, *rest)
    return inputs, counted | (tokens == 0)


def mask_everything_special(tokens, mask_id, vocab_size, special, random):
    return mask(tokens, mask_id, vocab_size, (), random)


def best_path(scores, transitions):
    return viterbi(torch.tensor(scores), torch.tensor(transitions)).tags


def greedy(scores, transitions):
    path = [scores[0].argmax()]
    for z in scores[1:]:
        path.append((z + transitions[path[-1]]).argmax())
    return path


def best_so_far(scores, transitions):
    best = scores[0]
    path = [best.argmax()]
    for z in scores[1:]:
        best = z + (best[:, None] + transitions).max(axis=0)
        path.append(best.argmax())
    return path


def greedy_from_behind(scores, transitions):
    return greedy(scores[::-1], transitions.T)[::-1]


def likeliest(scores, transitions):
    """Each word's most probable tag, by all paths."""
    paths = np.array([*itertools.product(range(scores.shape[1]), repeat=len(scores))])
    worth = scores[np.arange(len(scores)), paths].sum(axis=1)
    worth = np.exp(worth + transitions[paths[:, :-1], paths[:, 1:]].sum(axis=1))
    of_tag = [
        [worth[paths[:, i] == k].sum() for k in range(scores.shape[1])] for i in range(len(scores))
    ]
    return np.argmax(of_tag, axis=1)


def by_stored_paths(scores, transitions):
    """Keep the whole best path into every tag, in place of pointers."""
    best = [(z, [k]) for k, z in enumerate(scores[0])]
    for row in scores[1:]:
        best = [
            max((worth + transitions[path[-1], k] + z, [*path, k]) for worth, path in best)
            for k, z in enumerate(row)
        ]
    return max(best)[1]


def word_list(directions):
    ordinary = {
        w for words, names in directions for w, n in zip(words, names, strict=True) if not n
    }
    return lambda words: [word not in ordinary for word in words]


FEW = {"a", "an", "the", "and", "of", "to", "with", "in", "from", "at", "on", "his", "her", "their"}


def word_list_with_neighbors(directions):
    """A word that never stood outside a name is one, unless an article or 'with' leads to it."""
    ordinary = {
        w for words, names in directions for w, n in zip(words, names, strict=True) if not n
    }

    def tag(words):
        names = []
        for before, word in zip(["", *words], words, strict=False):
            plural = word.endswith(("s", "ed", "ing", "ly", "men", "er")) and before != "enter"
            names.append(
                word not in ordinary | FEW
                and before not in ("a", "an", "the", "his")
                and not plural
            )
        return names

    return tag


RIGHT = [
    (checks.check_mask, mask),
    (checks.check_mask, mask_from_the_text),
    (checks.check_mask, lambda *given: np.array(mask(*given))),
    (checks.check_rate, lambda n, d, noise: n / (n + d + 1 + noise**2)),
    (checks.check_path, best_path),
    (checks.check_path, by_stored_paths),
    (checks.check_tagger, word_list_with_neighbors),
    (
        checks.check_tagger,
        lambda all_: lambda words: np.array(word_list_with_neighbors(all_)(words)),
    ),
]

WRONG = [
    (checks.check_doubt, 1.71, "round once, at the end"),
    (checks.check_mask, lambda *given: mask(*given, rate=0.8), "are of the 15 %"),
    (checks.check_mask, lambda *given: mask(*given, split=(1.0, 0.0)), "its own face"),
    (checks.check_mask, lambda *given: mask(*given, one=True), "the same random word"),
    (checks.check_mask, mask_in_place, "work on a copy"),
    (checks.check_mask, forget_the_kept, "its own face"),
    (checks.check_mask, mask_everything_special, "special tokens alone"),
    (checks.check_mask, lambda *given: mask(*given, rate=0.2), "not 15 %"),
    (checks.check_mask, lambda *given: mask(*given, words=600), "from 0 to 499"),
    (checks.check_mask, lambda *given: mask(*given, words=250), "part of the vocabulary"),
    (checks.check_mask, lambda *given: mask(*given)[::-1], "the inputs first"),
    (checks.check_mask, everything_but_the_counted, "special tokens are counted"),
    (checks.check_mask, count_separators, "special tokens are counted"),
    (checks.check_mask, lambda *given: mask(*given)[1].mean(), "two arrays"),
    (checks.check_mask, lambda *given: dict(zip("ab", mask(*given), strict=True)), "two arrays"),
    (checks.check_mask, lambda *given: None, "two arrays"),
    (checks.check_rate, lambda n, d, noise: n / (n + d + 1), "noise is missing"),
    (checks.check_rate, lambda n, d, noise: n / (n + d + 1 + noise), "its square"),
    (checks.check_rate, lambda n, d, noise: n / (n + d + noise**2), "the 1 is missing"),
    (checks.check_rate, lambda n, d, noise: n / (n + d - 1 + noise**2), "has mean 3, not 1"),
    (checks.check_rate, lambda n, d, s: n / (n + d + 1 + d * s**2), "d/n out of both"),
    (checks.check_rate, lambda n, d, s: n / (n + d + 1 + s**2 / d), "d σ²/n, not σ²/n"),
    (
        checks.check_rate,
        lambda n, d, s: n / (n + d + 1 + s**2) + (n == 32) / 10,
        "for n = 32, d = 3, noise = 2.0 the best rate is 0.8, yours is 0.9",
    ),
    (checks.check_path, lambda scores, transitions: scores.argmax(1), "transitions are not used"),
    (checks.check_path, greedy, "greedy"),
    (checks.check_path, best_so_far, "walk back"),
    (checks.check_path, greedy_from_behind, "greedy, too"),
    (checks.check_path, likeliest, "need not be one good path"),
    (checks.check_path, lambda scores, T: best_path(scores, T).flip(0), "backwards"),
    (checks.check_path, lambda scores, T: best_path(scores, T.T.copy()), "turned around"),
    (
        checks.check_path,
        lambda scores, T: best_path(scores * (np.arange(len(scores)) == 0)[:, None], T),
        "its row of scores is missing",
    ),
    (checks.check_tagger, lambda directions: lambda words: True, "words got one tag, True"),
    (checks.check_tagger, word_list, "is 0.79; 0.85 is asked for"),
    (checks.check_tagger, lambda directions: lambda words: [True] * len(words), "the same tag"),
    (checks.check_tagger, lambda directions: lambda words: [0] * len(words), "none is a name"),
    (checks.check_tagger, lambda directions: lambda words: [True], "each needs one"),
    (checks.check_tagger, lambda directions: lambda words: None, "returned nothing"),
    (checks.check_tagger, lambda directions: lambda words: ["O"] * len(words), "not 'O'"),
    (checks.check_tagger, lambda directions: lambda words: [0.7] * len(words), "a probability"),
]
