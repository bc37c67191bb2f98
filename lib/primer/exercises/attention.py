"""Checks for the exercises of the chapter *Attention*: each names the mistake it recognizes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from primer.attention import (
    causal_mask,
    head_scores,
    merge_heads,
    scaled_dot_product_attention,
    sliding_window_mask,
    split_heads,
)
from primer.notebook import Mistake, exercise
from primer.notebook.answers import Answer, as_number, same
from primer.notebook.tensors import as_tensor, draw


@exercise("7.1")
def check_weights(answer: Answer) -> None:
    """Check ``answer(query, key)``: the weights of scaled dot-product attention."""
    query, key = draw(3, 4), draw(5, 4, seed=1)
    got = as_tensor(answer(query, key), (3, 5))
    scores = query @ key.T / 2
    if same(got, (query @ key.T).softmax(1)):
        raise Mistake("the scores are not divided by √d, the root of the length of a key")
    if same(got, (query @ key.T / 4).softmax(1)):
        raise Mistake("you divide by d; divide by its square root")
    if same(got, (query @ key.T * 2).softmax(1)):
        raise Mistake("you multiply by √d; divide by it")
    if same(got, scores.softmax(0)):
        raise Mistake("your columns sum to 1; every query, a row, should share out a weight of 1")
    if same(got, scores.exp()):
        raise Mistake("the powers are right, but each row must be divided by its sum")
    if not same(got, scores.softmax(1)):
        raise Mistake("for equal scores all weights of a row should be one over the number of keys")
    large = answer(torch.tensor([[4000.0], [-4000.0]]), torch.tensor([[0.5], [0.25]]))
    first, second = torch.as_tensor(large).isnan().any(dim=-1)
    if first:
        raise Mistake("a score of 2000 gives NaN: e²⁰⁰⁰ is infinite. Subtract the row's maximum")
    if second:
        raise Mistake("scores of −2000 give NaN: subtract from every row its own maximum")
    if not same(as_tensor(large, (2, 2)), [[1, 0], [0, 1]]):
        raise Mistake("with scores 2000 and 1000 the first key should get all the weight")


@exercise("7.2")
def check_mask(answer: Answer) -> None:
    """Check ``answer(n_new, n_keys, window)``: the mask of the newest queries."""
    new, keys, window = 4, 8, 2
    given = as_tensor(answer(new, keys, window), (new, keys))
    if given.isinf().any():
        raise Mistake("return truth values, True where reading is allowed, not what is added")
    got = given.bool()
    right = sliding_window_mask(new, keys, window)
    if torch.equal(got, right):
        return
    if torch.equal(got, ~right):
        raise Mistake("True and False are swapped: True is where reading is allowed")
    if torch.equal(got, causal_mask(new, keys)):
        raise Mistake("the window is missing: tokens farther back than window − 1 are still read")
    if torch.equal(got, sliding_window_mask(new, keys, window + 1)):
        raise Mistake("the window is one too wide: it counts the token itself")
    if torch.equal(got, sliding_window_mask(keys, keys, window)[:new]):
        raise Mistake("your queries stand at positions 0, 1, …; the newest tokens stand at the end")
    distance = torch.arange(keys - new, keys)[:, None] - torch.arange(keys)
    if torch.equal(got, distance < window):
        raise Mistake("the future is allowed: keys after the query have a negative distance")
    if torch.equal(got, distance.abs() < window):
        raise Mistake("the window reaches into the future too; it should only look back")
    raise Mistake("the last query should read the last `window` keys and no others")


@exercise("7.3")
def check_variance(answer: Answer) -> None:
    """Check ``answer(mu, nu, sigma)``: the variance of a score of vectors with means."""
    mu, nu, sigma = draw(6), 2 * draw(6, seed=1), 1.5
    got = as_number(answer(mu, nu, sigma))
    squares = float((mu**2).sum()), float((nu**2).sum())
    noise = len(mu) * sigma**4
    if same(got, noise + sigma**2 * sum(squares)):
        return
    if same(got, noise):
        raise Mistake("this holds for means of 0 only; means add σ²(‖μ‖² + ‖ν‖²)")
    if same(got, noise + 2 * sigma**2 * squares[0]) or same(got, noise + 2 * sigma**2 * squares[1]):
        raise Mistake("queries and keys have different means here: each contributes its own")
    if same(got, noise + 2 * sigma**2 * float(mu @ nu)):
        raise Mistake("the means enter by their squares, ‖μ‖² + ‖ν‖², not by their product")
    if same(got, len(mu) * sigma**2 + sigma**2 * sum(squares)):
        raise Mistake("a product of two entries of variance σ² has variance σ⁴")
    if same(got, sigma**4 + sigma**2 * sum(squares)):
        raise Mistake("the score is a sum of d products: their variances add")
    if same(got, noise + sigma**2 * sum(squares) + float(mu @ nu) ** 2):
        raise Mistake("this is the mean square; subtract the square of the mean")
    raise Mistake("try d = 1 and ν = 0: the lemma gives σ⁴ + σ²μ²")


@exercise("7.4")
def check_cross(answer: Answer) -> None:
    """Check ``answer(x, memory, w_q, w_k, w_v, w_o, n_heads)``: multi-head cross-attention."""
    d, heads = 6, 3
    x, memory = draw(4, d), draw(5, d, seed=1)
    w_q, w_k, w_v, w_o = draw(4, d, d, seed=2)
    got = as_tensor(answer(x, memory, w_q, w_k, w_v, w_o, heads), (4, d))

    def attend(
        asks: Tensor, answers: Tensor, n_heads: int = heads, scale: float = (d / heads) ** -0.5
    ) -> Tensor:
        q, k, v = (
            split_heads(t @ w, n_heads) for t, w in ((asks, w_q), (answers, w_k), (answers, w_v))
        )
        return merge_heads(scaled_dot_product_attention(q, k, v, scale=scale)[0])

    if same(got, attend(x, memory) @ w_o):
        return
    if same(got, attend(x, memory)):
        raise Mistake("the heads are concatenated but not mixed: multiply by w_o")
    if same(got, attend(x, memory) @ w_o.T):
        raise Mistake("w_o is transposed: it multiplies from the right, as it is")
    if same(got, attend(x, memory, scale=1.0) @ w_o):
        raise Mistake("the scores are not divided by √(d/H), the root of the length of a key")
    if same(got, attend(x, memory, scale=d**-0.5) @ w_o):
        raise Mistake("you divide by √d; a key of one head has d/H numbers")
    if same(got, attend(x, memory, n_heads=1, scale=d**-0.5) @ w_o):
        raise Mistake("this is one head of full width: split the projections into heads")
    if same(got, attend(x, x) @ w_o):
        raise Mistake("this is self-attention: keys and values come from the memory")
    raise Mistake("head 0 uses columns 0 to d/H − 1 of each projection, head 1 the next ones")


@exercise("7.5")
def check_previous(answer: Answer) -> None:
    """Check ``answer(n)``: a QK circuit for one-hot positions that looks one step back."""
    n = 12
    circuit = as_tensor(answer(n), (n, n))
    x = torch.eye(n, dtype=torch.float64)
    _, weights = scaled_dot_product_attention(x @ circuit, x, x, causal_mask(n), scale=1.0)
    back = weights.diagonal(-1)
    if (back > 0.99).all():
        return
    if (circuit.diagonal(1) > 1).all():
        raise Mistake("the matrix is transposed: entry (i, j) scores query i with key j = i − 1")
    if (circuit.diagonal() > 1).all():
        raise Mistake(
            "each token looks at itself: the large entries should stand below the diagonal"
        )
    if back.argmax() == 0 and (circuit.diagonal(-1) > 0).all():
        raise Mistake(
            f"the right keys lead, but the weight falls to {back.min():.2f} where many others "
            "compete: make the scores larger"
        )
    raise Mistake(f"query 5 should look at key 4 with weight > 0.99; it has {weights[5, 4]:.3f}")


@exercise("7.6")
def check_writes(answer: Answer) -> None:
    """Check ``answer(a, x, w_v, w_o, head, n_heads)``: what one head adds to the output."""
    d, heads, head = 6, 3, 1
    a, x = draw(4, 5).softmax(1), draw(5, d, seed=1)
    w_v, w_o = draw(2, d, d, seed=2)
    got = as_tensor(answer(a, x, w_v, w_o, head, heads), (4, d))
    size = d // heads
    part = slice(head * size, (head + 1) * size)
    if same(got, a @ x @ w_v[:, part] @ w_o[part]):
        return
    if same(got, a @ x @ w_v @ w_o):
        raise Mistake("this sends all of w_v through one head; it owns d/H columns of it")
    if same(got, a @ x @ w_v[part].T @ w_o[part]) or same(
        got, a @ x @ w_v[part].T @ w_o[:, part].T
    ):
        raise Mistake("you took rows of w_v: with tokens as rows a head owns *columns* of it")
    if same(got, a @ x @ w_v[:, part] @ w_o[:, part].T):
        raise Mistake("you took columns of w_o: a head's results meet *rows* of it")
    if same(got, a @ x @ w_v[:, head::heads] @ w_o[head::heads]):
        raise Mistake("a head owns neighboring coordinates, not every H-th one")
    first = slice(0, size)
    if same(got, a @ x @ w_v[:, first] @ w_o[first]):
        raise Mistake("this is what head 0 writes, whichever head is asked for")
    raise Mistake("move with the weights, project with the head's part of w_v, then of w_o")


@exercise("7.7")
def check_induction(answer: Answer) -> None:
    """Check ``answer(a, tokens)``: the induction score of one head."""
    tokens = [3, 1, 4, 1, 5, 3, 1, 4, 4]
    n = len(tokens)
    a = draw(n, n).masked_fill(~causal_mask(n), -torch.inf).softmax(1)
    got = as_number(answer(a, tokens))

    def score(fits: Callable[[int, int], bool], over_all: bool = False) -> float:
        rows = [[float(a[i, j]) for j in range(n) if fits(i, j)] for i in range(n)]
        return sum(map(sum, rows)) / (n if over_all else sum(map(bool, rows)))

    def induction(i: int, j: int) -> bool:
        return 1 <= j <= i and tokens[j - 1] == tokens[i]

    if same(got, float(head_scores(a[None], torch.tensor(tokens))["induction"])):
        return
    if same(got, score(induction, over_all=True)):
        raise Mistake("you divide by all queries; those without a key of that kind do not count")
    if same(got, score(lambda i, j: j <= i and tokens[j] == tokens[i])):
        raise Mistake("this is the weight on the same token; look at what *followed* it")
    if same(got, score(lambda i, j: j < i and tokens[j] == tokens[i])):
        raise Mistake("this is the weight on earlier copies; look at what *followed* them")
    if same(got, score(lambda i, j: j < i and j + 1 < n and tokens[j + 1] == tokens[i])):
        raise Mistake(
            "you look at what came *before* an earlier copy: key j − 1 must equal query i"
        )
    rows = [[float(a[i, j]) for j in range(n) if induction(i, j)] for i in range(n)]
    means = [sum(row) / len(row) for row in rows if row]
    if same(got, sum(means) / len(means)):
        raise Mistake("where several keys qualify for one query, add their weights: no mean there")
    raise Mistake("for tokens 7, 8, 7 only query 2 counts, with the weight on key 1")


@exercise("7.8")
def check_crossover(answer: Answer) -> None:
    """Check ``answer(d, n_heads, n_kv_heads)``: where scores cost as much as projections."""
    d, heads, kv_heads = 512, 8, 2
    got = as_number(answer(d, heads, kv_heads))
    if same(got, d * (1 + kv_heads / heads)):
        return
    if same(got, 2 * d):
        raise Mistake("this holds when every head has keys and values of its own")
    if same(got, 2 * d * kv_heads / heads):
        raise Mistake("queries and output keep their full d × d matrices; only two of four shrink")
    if same(got, 2 * d * (1 + kv_heads / heads)):
        raise Mistake("twice too long: QKᵀ and AV take 2n²d operations *each*")
    if same(got, d * (1 + kv_heads / heads) / 2):
        raise Mistake("half too short: a d × d projection takes 2nd² operations for n tokens")
    if same(got, d * (1 + heads / kv_heads)):
        raise Mistake("grouping makes keys and values smaller: the ratio is upside down")
    raise Mistake("set 4nd²(1 + n_kv_heads/n_heads), the projections, equal to 4n²d")
