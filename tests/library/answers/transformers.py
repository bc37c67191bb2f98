"""Answers to the exercises on transformers."""

import math

import numpy as np
import torch

from primer.exercises import transformers as checks


def block(x, norm1, attention, norm2, feed_forward):
    y = x + attention(norm1(x))
    return y + feed_forward(norm2(y))


def block_in_place(x, norm1, attention, norm2, feed_forward):
    x += attention(norm1(x))
    x += feed_forward(norm2(x))
    return x


def post_norm(x, norm1, attention, norm2, feed_forward):
    y = norm1(x + attention(x))
    return norm2(y + feed_forward(y))


def merge(first, second):
    (a, log_a), (b, log_b) = first, second
    share = torch.sigmoid(log_a - log_b)[:, None]
    return share * a + (1 - share) * b, torch.logaddexp(log_a, log_b)


def merge_in_place(first, second):
    (a, log_a), (b, log_b) = first, second
    total = torch.logaddexp(log_a, log_b)
    a *= (log_a - total).exp()[:, None]
    b *= (log_b - total).exp()[:, None]
    a += b
    return a, total


def top_k_in_place(scores, k):
    scores[scores < scores.topk(k).values[:, -1:]] = -math.inf
    return scores.softmax(-1)


def top_k_twice(scores, k):
    return top_k(scores.softmax(-1), k)


def top_k(scores, k):
    edge = scores.topk(k).values[:, -1:]
    return scores.masked_fill(scores < edge, -torch.inf).softmax(-1)


def bottom_k(scores, k):
    edge = scores.topk(k, largest=False).values[:, -1:]
    return scores.masked_fill(scores > edge, -torch.inf).softmax(-1)


def llama(d, d_ff, heads, shared):
    return 2 * d * d + 2 * d * (d // heads) * shared + 3 * d * d_ff


def naive_merge(first, second):
    (a, log_a), (b, log_b) = first, second
    total = log_a.exp() + log_b.exp()
    return (log_a.exp() / total)[:, None] * a + (log_b.exp() / total)[:, None] * b, total.log()


def merge_around(middle):
    """Merge with exp of what is left after subtracting ``middle(log_a, log_b)``."""

    def answer(first, second):
        (a, log_a), (b, log_b) = first, second
        m = middle(log_a, log_b)
        sum_a, sum_b = (log_a - m).exp(), (log_b - m).exp()
        total = sum_a + sum_b
        return (sum_a[:, None] * a + sum_b[:, None] * b) / total[:, None], m + total.log()

    return answer


def forget_to_add(middle):
    return lambda a, b: (merge(a, b)[0], merge(a, b)[1] - middle(a[1], b[1]))


def largest_of_all(a, b):
    return torch.maximum(a, b).max()


def decoder(in_place=False, mask="tril", softmax=False, placed=True):
    def decode(x, positions, layer, head):
        n = x.shape[0]
        if in_place:
            x += positions[:n]
        elif placed:
            x = x + positions[:n]
        allowed = torch.ones(n, n)
        x = layer(x, (getattr(allowed, mask)() if mask else allowed).bool())
        return head(x).softmax(-1) if softmax else head(x)

    return decode


def placed_at(rows):
    """Take other rows of the table of positions."""

    def decode(x, positions, layer, head):
        n = len(x)
        return head(layer(x + positions[rows(n)], torch.ones(n, n).tril()))

    return decode


def places_late(x, positions, layer, head):
    n = len(x)
    return head(layer(x, torch.ones(n, n).tril()) + positions[:n])


def decode_with(mask):
    """Write the right decoder with another kind of mask."""

    def decode(x, positions, layer, head):
        return head(layer(x + positions[: len(x)], mask(len(x))))

    return decode


RIGHT = [
    (checks.check_block, block),
    (checks.check_block, block_in_place),
    (checks.check_block_parameters, llama),
    (checks.check_decoder, decoder()),
    (checks.check_decoder, decode_with(lambda n: np.tril(np.ones((n, n))))),
    (checks.check_decoder, decode_with(lambda n: np.tri(n, dtype=bool).tolist())),
    (checks.check_merge, merge),
    (checks.check_merge, merge_in_place),
    (checks.check_merge, merge_around(torch.maximum)),
    (checks.check_merge, merge_around(torch.logaddexp)),
    (checks.check_merge, lambda a, b: [list(part) for part in merge(a, b)]),
    (checks.check_top_k, top_k),
    (checks.check_top_k, top_k_in_place),
]

WRONG = [
    (checks.check_block, post_norm, "post-norm"),
    (checks.check_block, lambda x, n1, a, n2, f: f(n2(a(n1(x)))), "no residual"),
    (
        checks.check_block,
        lambda x, n1, a, n2, f: block(n1(x), lambda y: y, a, n2, f),
        "first y = x",
    ),
    (checks.check_block, lambda x, n1, a, n2, f: x + a(n1(x)) + f(n2(x)), "yours reads x"),
    (checks.check_block, lambda x, n1, a, n2, f: x + f(n2(x + a(n1(x)))), "is lost"),
    (checks.check_block, lambda x, n1, a, n2, f: block(x, n1, a, n1, f), "used twice"),
    (
        checks.check_block,
        lambda x, n1, a, n2, f: a(n1(x)) + f(n2(a(n1(x)))),
        "first residual is forgotten",
    ),
    (checks.check_block, lambda x, n1, a, n2, f: f(n2(x + a(n1(x)))), "second residual"),
    (
        checks.check_block,
        lambda x, n1, a, n2, f: block(
            x, lambda y: y, lambda y: n1(a(y)), lambda y: y, lambda y: n2(f(y))
        ),
        "on what is added",
    ),
    (checks.check_block, lambda x, n1, a, n2, f: x + a(n1(x)) + f(n1(x)), "side by side"),
    (checks.check_block, lambda x, n1, a, n2, f: block(x, lambda y: y, a, n2, f), "first norm"),
    (checks.check_block, lambda x, n1, a, n2, f: block(x, n1, a, lambda y: y, f), "second norm"),
    (
        checks.check_block_parameters,
        lambda d, d_ff, h, k: 4 * d * d + 3 * d * d_ff,
        "as many heads as queries",
    ),
    (checks.check_block_parameters, lambda *n: llama(*n) - n[0] ** 2, "output projection"),
    (checks.check_block_parameters, lambda *n: llama(*n) - n[0] * n[1], "three matrices"),
    (checks.check_block_parameters, lambda *n: llama(24, 64, 6, 2), "queries and output"),
    (checks.check_block_parameters, lambda d, f, h, k: llama(d, f, h, 1), "only one key head"),
    (
        checks.check_block_parameters,
        lambda d, f, h, k: llama(d, f, h, k) - d * d // h * k,
        "only one of keys and values",
    ),
    (checks.check_block_parameters, lambda d, f, h, k: 8 * d * d, "queries and output"),
    (checks.check_block_parameters, lambda d, f, h, k: 12 * d * d, "queries and output"),
    (
        checks.check_block_parameters,
        lambda d, f, h, k: 2 * d * d + 2 * d * d // (h * k) + 3 * d * f,
        "queries and output",
    ),
    (checks.check_block_parameters, lambda *n: 0.5, "whole number"),
    (
        checks.check_block_parameters,
        lambda d, f, h, k: llama(d, f, h, h / k),
        "size of a group",
    ),
    (checks.check_decoder, decoder(in_place=True), "caller's x has changed"),
    (checks.check_decoder, decoder(mask=None), "causal"),
    (checks.check_decoder, decoder(mask=None, softmax=True), "second softmax"),
    (checks.check_decoder, decoder(softmax=True), "hand over logits"),
    (checks.check_decoder, decoder(mask="triu"), "turned around"),
    (checks.check_decoder, lambda *a: decoder()(*a).log_softmax(-1), "log-probabilities"),
    (checks.check_decoder, decode_with(lambda n: torch.ones(n, n).tril(-1)), "place 0 may look"),
    (checks.check_decoder, decode_with(lambda n: ~torch.ones(n, n).tril().bool()), "place 4 may"),
    (checks.check_decoder, decode_with(lambda n: torch.ones(n, n).tril().log()), "what is added"),
    (checks.check_decoder, decode_with(lambda n: torch.ones(n)), r"the mask should .* \(5, 5\)"),
    (checks.check_decoder, decoder(placed=False), "positions are lost"),
    (checks.check_decoder, lambda *a: decoder()(*a).softmax(0), "over the places"),
    (checks.check_decoder, decode_with(lambda n: torch.ones(n, n).tril(1)), "just after it"),
    (checks.check_decoder, placed_at(lambda n: slice(1, n + 1)), "stands at place 0"),
    (checks.check_decoder, placed_at(lambda n: slice(-n, None)), "last rows of the table"),
    (checks.check_decoder, placed_at(lambda n: 0), "one and the same position"),
    (checks.check_decoder, places_late, "come too late"),
    (checks.check_block, lambda x, n1, a, n2, f: block(x, n2, a, n1, f), "are exchanged"),
    (checks.check_block, lambda x, n1, a, n2, f: block(x, n1, f, n2, a), "the network came first"),
    (checks.check_merge, lambda a, b: ((a[0] + b[0]) / 2, a[1]), "averaged"),
    (checks.check_merge, lambda a, b: (0.3 * a[0] + 0.7 * b[0], a[1]), "how many keys"),
    (checks.check_merge, lambda a, b: merge((a[0], b[1]), (b[0], a[1])), "swapped"),
    (checks.check_merge, lambda a, b: (merge(a, b)[0], a[1] + b[1]), "multiplies the sums"),
    (checks.check_merge, lambda a, b: (merge(a, b)[0], a[1].exp() + b[1].exp()), "its logarithm"),
    (checks.check_merge, lambda a, b: merge(a, b)[0], "return two things"),
    (checks.check_merge, lambda a, b: 1 + None, "your code stopped with TypeError"),
    (checks.check_merge, lambda a, b: int("two"), "your code stopped with ValueError"),
    (checks.check_merge, lambda a, b: (merge(a, b)[0], None), "log of the sum should be numbers"),
    (checks.check_merge, lambda a, b: (None, merge(a, b)[1]), "the output should be numbers"),
    (checks.check_merge, lambda a, b: {"a": merge(a, b)[0], "b": 1}, "return two things"),
    (checks.check_merge, lambda a, b: "ab", "return two things"),
    (checks.check_merge, lambda a, b: (0 * a[0] / 0, a[1]), "output holds NaN: was something"),
    (checks.check_merge, naive_merge, "not finite"),
    (
        checks.check_merge,
        merge_around(largest_of_all),
        "one maximum for all queries was subtracted",
    ),
    (checks.check_merge, merge_around(lambda a, b: (a + b) / 2), "not their mean"),
    (checks.check_merge, forget_to_add(torch.maximum), "the larger of the two logarithms, has to"),
    (checks.check_merge, forget_to_add(largest_of_all), "one maximum for all queries, has to"),
    (
        checks.check_merge,
        lambda a, b: (merge(a, b)[0], naive_merge(a, b)[1]),
        "log of the sum is not finite",
    ),
    (checks.check_top_k, lambda s, k: s.softmax(-1), "only the k best"),
    (checks.check_top_k, lambda s, k: s.softmax(-1) * (top_k(s, k) > 0), "divide by their sum"),
    (checks.check_top_k, lambda s, k: (top_k(s, k) > 0) / k, "same weight"),
    (checks.check_top_k, lambda s, k: (s * (top_k(s, k) > 0)).softmax(-1), "exp\\(0\\)"),
    (checks.check_top_k, bottom_k, "smallest"),
    (checks.check_top_k, lambda s, k: top_k(s, 2), "k positive numbers"),
    (checks.check_top_k, top_k_twice, "taken twice"),
    (checks.check_top_k, lambda s, k: top_k(2 * s, k), "divided by the sum of those k"),
]
