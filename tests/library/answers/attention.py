"""Answers to the exercises on attention."""

import scipy.special
import torch
from torch.nn import functional

from primer.attention import causal_mask
from primer.exercises import attention as checks


def softmax_scores(scale=None, dim=1):
    def weights(query, key):
        factor = query.shape[1] ** -0.5 if scale is None else scale(query.shape[1])
        return normed(query @ key.T * factor, dim)

    return weights


def normed(scores, dim=1):
    powers = (scores - scores.amax(dim, keepdim=True)).exp()
    return powers / powers.sum(dim, keepdim=True)


def in_place(query, key):
    query /= key.shape[1] ** 0.5
    scores = query @ key.T
    scores -= scores.amax(1, keepdim=True)
    return scores.exp_() / scores.sum(1, keepdim=True)


def by_log_sum_exp(query, key):
    scores = query @ key.T / query.shape[1] ** 0.5
    return (scores - scores.logsumexp(1, keepdim=True)).exp()


def by_whole_sum(query, key):
    scores = query @ key.T / query.shape[1] ** 0.5
    powers = (scores - scores.amax(1, keepdim=True)).exp()
    return powers / powers.sum()


def unstable(query, key):
    powers = (query @ key.T / query.shape[1] ** 0.5).exp()
    return powers / powers.sum(1, keepdim=True)


def one_maximum(query, key):
    scores = query @ key.T / query.shape[1] ** 0.5
    powers = (scores - scores.max()).exp()
    return powers / powers.sum(1, keepdim=True)


def less_the_mean(query, key):
    scores = query @ key.T / query.shape[1] ** 0.5
    powers = (scores - scores.mean(1, keepdim=True)).exp()
    return powers / powers.sum(1, keepdim=True)


def by_scipy(query, key):
    return scipy.special.softmax((query @ key.T / query.shape[1] ** 0.5).numpy(), axis=1)


def softmax(scores):  # a reader's own, of that name
    return normed(scores)


def distances(new, keys):
    return torch.arange(keys - new, keys)[:, None] - torch.arange(keys)


def window_mask(new, keys, window, start=None):
    distance = distances(new, keys) if start is None else distances(new, keys) + new - keys
    return (distance >= 0) & (distance < window)


def painted(new, keys, window):
    """Mark each query's window, without asking whether it begins before the first token."""
    mask = torch.zeros(new, keys, dtype=torch.bool)
    for query in range(new):
        token = keys - new + query
        mask[query, token - window + 1 : token + 1] = True
    return mask


def one_row_missing(n):
    circuit = below(n)
    circuit[4] = 0
    return circuit


def below(n, size=20.0):
    return size * torch.eye(n).roll(-1, dims=1).tril()


def writes(a, x, w_v, w_o, head, heads):
    size = len(w_v) // heads
    part = slice(head * size, (head + 1) * size)
    return a @ x @ w_v[:, part] @ w_o[part]


def of_width_n_heads(a, x, w_v, w_o, head, heads):
    part = slice(head * heads, (head + 1) * heads)
    return a @ x @ w_v[:, part] @ w_o[part]


RIGHT = [
    (checks.check_weights, softmax_scores()),
    (checks.check_weights, in_place),
    (checks.check_weights, by_log_sum_exp),
    (checks.check_weights, lambda q, k: list(softmax_scores()(q, k))),
    (checks.check_weights, lambda q, k: softmax_scores()(q, k).numpy()),
    (checks.check_weights, lambda q, k: softmax(q @ k.T / q.shape[1] ** 0.5)),
    (checks.check_mask, window_mask),
    (checks.check_mask, lambda *n: window_mask(*n).double().tolist()),
    (checks.check_previous, below),
    (checks.check_writes, writes),
]

WRONG = [
    (checks.check_weights, softmax_scores(lambda d: 1.0), "not divided by √d"),
    (checks.check_weights, softmax_scores(lambda d: 1 / d), "divide by its square root"),
    (checks.check_weights, softmax_scores(lambda d: d**0.5), "you multiply by √d"),
    (checks.check_weights, softmax_scores(dim=0), "columns sum to 1"),
    (checks.check_weights, softmax_scores(lambda d: 0.5), "you always divide by 2"),
    (checks.check_weights, lambda q, k: (q @ k.T / q.shape[1] ** 0.5).exp(), "by its own sum"),
    (checks.check_weights, by_whole_sum, "by its own sum"),
    (checks.check_weights, lambda q, k: (q @ k.T).softmax(1), "without calling a softmax"),
    (checks.check_weights, lambda q, k: torch.softmax(q @ k.T, 1), "without calling a softmax"),
    (checks.check_weights, lambda q, k: (q @ k.T).log_softmax(1).exp(), "calling a softmax"),
    (checks.check_weights, lambda q, k: torch.nn.Softmax(1)(q @ k.T), "calling a softmax"),
    (checks.check_weights, lambda q, k: list(unstable(q, k)), "e²⁰⁰⁰ is infinite"),
    (checks.check_weights, unstable, "e²⁰⁰⁰ is infinite"),
    (checks.check_weights, one_maximum, "its own maximum"),
    (checks.check_weights, lambda q, k: torch.ones(5, 3), r"numbers of shape \(3, 5\)"),
    (checks.check_weights, lambda q, k: torch.ones(len(q), len(k)), "the first row of weights"),
    (checks.check_weights, less_the_mean, "the mean is 0, .* subtract the row's largest score"),
    (checks.check_weights, by_scipy, "nor a library's function"),
    (
        checks.check_weights,
        lambda q, k: functional.scaled_dot_product_attention(q, k, torch.eye(len(k)).double()),
        "nor a library's function",
    ),
    (checks.check_weights, lambda q, k: normed(q @ k.T / len(k) ** 0.5), "a number of tokens"),
    (checks.check_weights, lambda q, k: normed(q @ k.T / len(q) ** 0.5), "a number of tokens"),
    (checks.check_weights, lambda q, k: q @ k.T / q.shape[1] ** 0.5, "these are scores"),
    (checks.check_weights, lambda q, k: q @ k.T, "these are scores"),
    (checks.check_mask, lambda n, k, w: ~window_mask(n, k, w), "swapped"),
    (checks.check_mask, lambda n, k, w: window_mask(n, k, w).log(), "truth values"),
    (checks.check_mask, lambda n, k, w: -1e9 * ~window_mask(n, k, w), "truth values"),
    (checks.check_mask, lambda n, k, w: window_mask(n, k, w) * 0.5, "truth values"),
    (checks.check_mask, lambda n, k, w: causal_mask(n, k), "window is missing"),
    (checks.check_mask, lambda n, k, w: window_mask(n, k, w + 1), "one too wide"),
    (checks.check_mask, lambda n, k, w: window_mask(n, k, w - 1), "one too narrow"),
    (checks.check_mask, painted, "query 0 is token 0, counted from 0, and should read keys 0 to 0"),
    (checks.check_mask, lambda n, k, w: window_mask(n, k, w, start=0), "stand at the end"),
    (checks.check_mask, lambda n, k, w: window_mask(4, 8, 2), r"numbers of shape \(3, 7\)"),
    (checks.check_mask, lambda n, k, w: window_mask(n, k, 2), "a window of 4"),
    (checks.check_mask, lambda n, k, w: distances(n, k) < w, "future is allowed"),
    (checks.check_mask, lambda n, k, w: distances(n, k).abs() < w, "only look back"),
    (checks.check_previous, lambda n: below(n).T, "transposed"),
    (checks.check_previous, lambda n: below(n, 3.0).T, "transposed"),
    (checks.check_previous, lambda n: 20.0 * torch.arange(n).expand(n, n), "rows .* are alike"),
    (checks.check_previous, lambda n: 20.0 * torch.arange(n)[:, None].expand(n, n), "as much"),
    (checks.check_previous, lambda n: 20 * torch.eye(n), "looks at itself"),
    (checks.check_previous, lambda n: below(n, 3.0), "make the scores larger"),
    (checks.check_previous, lambda n: below(12), r"numbers of shape \(5, 5\)"),
    (checks.check_previous, lambda n: below(n, 7.5), "for n = 100 its weight falls to 0.948"),
    (checks.check_previous, lambda n: below(n, 9.0), "falls to 0.988"),
    (checks.check_previous, lambda n: torch.zeros(n, n), "query 11 should look at key 10"),
    (checks.check_previous, one_row_missing, "query 4 should look at key 3 .* has 0.200"),
    (checks.check_previous, lambda n: 20 * torch.ones(n, n).tril(-1), "as much or more"),
    (checks.check_previous, lambda n: below(n).where(below(n) > 0, -torch.inf), "large finite"),
    (checks.check_writes, lambda a, x, v, o, h, n: a @ x @ v @ o, "owns d/H columns"),
    (checks.check_writes, lambda a, x, v, o, h, n: writes(a, x, v.T, o, h, n), "rows of w_v"),
    (checks.check_writes, lambda a, x, v, o, h, n: writes(a, x, v, o.T, h, n), "columns of w_o"),
    (checks.check_writes, lambda a, x, v, o, h, n: a @ x @ v[:, h::n] @ o[h::n], "every H-th"),
    (checks.check_writes, lambda a, x, v, o, h, n: writes(a, x, v, o, 0, n), "head 0 writes"),
    (checks.check_writes, of_width_n_heads, "pieces of H columns"),
    (checks.check_writes, lambda a, x, v, o, h, n: writes(a, x, v, o, 1, n), "move"),
    (checks.check_writes, lambda a, x, v, o, h, n: a @ x, "move with the weights"),
    (checks.check_pair, 3.87, "the whole layer 0"),
    (checks.check_pair, 3.9, "give two decimals"),
    (checks.check_pair, 3.72, "that is the toy"),
    (checks.check_pair, 3.7, "that is the toy"),
    (checks.check_pair, 2.2, "the sum of what each"),
    (checks.check_pair, 7.2, "the loss itself"),
]
