"""Checks for the exercises of the chapter *Attention*: each names the mistake it recognizes."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from primer.attention import causal_mask, scaled_dot_product_attention, sliding_window_mask
from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, same
from primer.notebook.tensors import as_tensor, draw
from primer.notebook.wording import word

_PLACES = {3: "third", 4: "fourth", 5: "fifth", 6: "sixth"}


@varied(keys=(3, 4, 5, 6), score=(1, 2, 3), times=range(2, 10))
def check_softmax(keys: int = 3, score: int = 1, times: int = 3) -> NumberExercise:
    """Ask for a weight among keys of one score, but for the last, whose power is larger."""
    others, last, total = keys - 1, score + math.log(times), keys - 1 + times
    linear = keys * score + math.log(times)
    powers = f"{', '.join(['1'] * others)} and {times}"
    return NumberExercise(
        "7.1",
        question=f"A query's scores with {word(keys)} keys, already divided by √dₖ, are "
        f"{', '.join([str(score)] * others)} and {score} + log {times}. Which weight does the "
        f"{_PLACES[keys]} key get? No computer is needed.",
        right=times / total,
        within=0.005,
        low=0,
        high=1,
        expects="a weight, a number",
        wrong={
            last / linear: f"you divided the scores by their sum, {last:.2f} of {linear:.2f}; the "
            "softmax divides powers of e",
            times / (1 + times): f"{times} against 1 would be right for two keys; there are "
            f"{word(keys)}, with powers {powers}",
            1 / keys: f"equal weights need equal scores; the {_PLACES[keys]} is larger by "
            f"log {times}",
            1 / total: f"this is the weight of the first key, and of every one but the "
            f"{_PLACES[keys]}",
        },
        otherwise=f"subtract {score} from all {word(keys)} scores, which changes nothing; then "
        f"raise e to {', '.join(['0'] * others)} and log {times}, and divide by the sum of the "
        f"{word(keys)} powers",
        because=f"A score larger by log {times} has {word(times)} times the weight, whatever the "
        f"others are: of {powers}, which sum to {total}, it is {times}.",
    )


@varied(root=range(4, 25))
def check_divide(root: int = 8) -> NumberExercise:
    """Ask for the variance of scores that were divided by 1/√d, with d a square."""
    d = root**2
    return NumberExercise(
        "7.2",
        question="In a lecture's slides you read: “In scaled attention the scores are divided by "
        "1/√dₖ, so that their variance stays the same at every width.” A program follows them to "
        f"the letter, with dₖ = {d} and queries and keys whose entries are independent with mean 0 "
        "and variance 1. Which variance do the scores have that it hands to the softmax?",
        right=d**2,
        within=0.5,
        low=0,
        high=500_000,
        expects="a variance, a number",
        wrong={
            1: "that is the variance after dividing by √d, what the slides meant; dividing by "
            f"1/{root} is multiplying by {root}",
            d: "that is the variance before any division; then every score is multiplied by "
            f"{root}",
            d * root: f"the score is multiplied by {root}, so its variance is by {root}², which is "
            f"{d}",
            root: f"{root} is the factor on the standard deviation, which is √{d} to begin with",
        },
        otherwise=f"the variance of the raw score is {d}, and a factor c multiplies a variance by "
        f"c²; which factor is a division by 1/{root}?",
        because="Dividing by 1/√d multiplies by √d, so the variance becomes d², not 1. Say "
        "'multiplied by 1/√d' or 'divided by √d'.",
    )


check_shapes = ChoiceExercise(
    "7.4",
    choices={
        "a": "Query i with key j, as it should.",
        "b": "Coordinate i of all queries with coordinate j of all keys, later tokens included.",
        "c": "Key i with query j: only the roles are swapped.",
    },
    right="b",
    replies={
        "a": "that is entry (i, j) of Q Kᵀ, the product of row i of Q and row j of K; here rows of "
        "the first factor are columns of Q",
        "b": "Each entry sums over all 64 tokens, so the mask hides coordinates, not tokens, and "
        "every output between the first and the last depends on later tokens: a square shape is no "
        "proof of a right formula.",
        "c": "swapped roles would be K Qᵀ, whose entries still belong to two tokens; here the sum "
        "runs over the tokens",
    },
)

check_pair = NumberExercise(
    "7.8",
    right=3.913,
    within=0.005,
    low=-1,
    high=9,
    expects="a rise of the loss in nats, to two decimals",
    wrong={
        0.379: "that is head 0.2 alone; silence both in one `with` block",
        1.844: "that is head 0.3 alone; silence both in one `with` block",
        2.2: "that is the sum of what each costs alone; measure it with both silenced",
        2.223: "that is the sum of what each costs alone; measure it with both silenced",
        3.867: "that is the whole layer 0, all four heads",
        3.9: "to one decimal the pair and the whole layer (3.87) cost the same; give two decimals",
        7.2: "that is the loss itself; subtract the 3.33 of the whole model",
        7.239: "that is the loss itself; subtract the 3.33 of the whole model",
        3.7: "that is the toy; the exercise asks for the model of the plays",
        3.719: "that is the toy; the exercise asks for the model of the plays",
    },
    otherwise="silence heads 2 and 3 of layer 0 together, take the mean loss on the twelve pages, "
    "and subtract that of the whole model, 3.33",
    because="3.9 is far more than the sum, 0.38 + 1.84. While one of them is left, it stands in "
    "for a part of what the other does; the two together are worth as much as the whole layer.",
)


_WHOLE = ("softmax", "softmin", "attention")
"""In the name of a function that does what the exercise asks to be written."""
_DO_IT = "do it without calling a softmax, nor a library's function that calls one"


class _NoSoftmax(TorchFunctionMode):
    """Forbids calling what the exercise asks to be written."""

    def __torch_function__(
        self, function: Any, types: Any, arguments: Any = (), named: Any = None
    ) -> Any:
        """Stop at a softmax; torch's functions and methods all come by here."""
        if any(word in getattr(function, "__name__", "") for word in _WHOLE):
            raise Mistake(_DO_IT)
        return function(*arguments, **(named or {}))


@contextmanager
def _by_hand() -> Iterator[None]:
    """Forbid torch's softmax, and those written in Python in another package, as SciPy's is."""

    def look(frame: FrameType, event: str, argument: Any) -> None:
        called = frame.f_code
        installed = "-packages" in called.co_filename  # a reader's own function may have any name
        if event == "call" and installed and any(word in called.co_name for word in _WHOLE):
            raise Mistake(_DO_IT)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        with _NoSoftmax():
            yield
    finally:
        sys.setprofile(before)


@exercise("7.3")
def check_weights(answer: Answer) -> None:
    """Check ``answer(query, key)``: the weights of scaled dot-product attention."""
    for width, queries, keys in ((4, 3, 5), (9, 2, 4), (1, 4, 3)):
        query, key = draw(queries, width), draw(keys, width, seed=1)
        with _by_hand():
            given = answer(query.clone(), key.clone())
        got = as_tensor(given, (queries, keys))
        products = query @ key.T
        scores = products / width**0.5
        if same(got, scores.softmax(1)):
            continue
        if same(got, products.softmax(1)):
            raise Mistake("the scores are not divided by √d, the root of the length of a key")
        if same(got, (products / width).softmax(1)):
            raise Mistake("you divide by d; divide by its square root")
        if same(got, (products * width**0.5).softmax(1)):
            raise Mistake("you multiply by √d; divide by it")
        if same(got, (products / 2).softmax(1)):
            raise Mistake(f"you always divide by 2; keys of {width} numbers ask for √{width}")
        if any(same(got, (products / n**0.5).softmax(1)) for n in (keys, queries)):
            raise Mistake(
                "you divide by the root of a number of tokens; divide by √d, of the length of a key"
            )
        if same(got, scores) or same(got, products):
            raise Mistake("these are scores; the weights are powers of e, divided by their sum")
        if same(got, scores.softmax(0)):
            raise Mistake(
                "your columns sum to 1; every query, a row, should share out a weight of 1"
            )
        if same(got / got.sum(1, keepdim=True), scores.softmax(1)):
            raise Mistake("the powers are right, but each row must be divided by its own sum")
        row = ", ".join(f"{x:.3f}" for x in scores.softmax(1)[0])
        raise Mistake(
            f"with {queries} queries, {keys} keys and width {width} the first row of weights "
            f"should be {row}: powers of e of the scores q·k/√{width}, divided by their sum"
        )
    # in double precision, as above: in single the log-sum-exp of 2000 and 1990 is 2000
    far = torch.tensor([[4000.0], [-4000.0]], dtype=torch.float64)
    with _by_hand():
        given = answer(far.clone(), torch.tensor([[0.5], [0.4975]], dtype=torch.float64))
    large = as_tensor(given, (2, 2), allow_nan=True)
    first, second = large.isnan().any(dim=-1)
    if first:
        raise Mistake("a score of 2000 gives NaN: e²⁰⁰⁰ is infinite. Subtract the row's maximum")
    if second:
        raise Mistake("scores of −2000 give NaN: subtract from every row its own maximum")
    if not same(large, torch.tensor([[2000.0, 1990], [-2000, -1990]]).softmax(1)):
        raise Mistake("of the scores 2000 and 1990 the first should get nearly all the weight")
    with _by_hand():
        given = answer(far.clone(), torch.tensor([[0.5], [-0.5]], dtype=torch.float64))
    if not same(as_tensor(given, (2, 2), allow_nan=True), [[1, 0], [0, 1]]):
        raise Mistake(
            "of a row with the scores 2000 and −2000 the mean is 0, and subtracting it leaves "
            "e²⁰⁰⁰ infinite: subtract the row's largest score"
        )


@exercise("7.5")
def check_mask(answer: Answer) -> None:
    """Check ``answer(n_new, n_keys, window)``: the mask of the newest queries."""
    # in the last two the windows of some queries reach before the first token
    for new, keys, window in ((4, 8, 2), (3, 7, 4), (5, 5, 1), (1, 6, 3), (5, 5, 3), (2, 4, 9)):
        given = as_tensor(answer(new, keys, window), (new, keys))
        if not torch.isin(given, given.new_tensor([0, 1])).all():
            raise Mistake("return truth values, True where reading is allowed, not what is added")
        got = given.bool()
        right = sliding_window_mask(new, keys, window)
        if torch.equal(got, right):
            continue
        if torch.equal(got, ~right):
            raise Mistake("True and False are swapped: True is where reading is allowed")
        if torch.equal(got, causal_mask(new, keys)):
            raise Mistake(
                "the window is missing: tokens farther back than window − 1 are still read"
            )
        if torch.equal(got, sliding_window_mask(new, keys, window + 1)):
            raise Mistake("the window is one too wide: it counts the token itself")
        if window > 1 and torch.equal(got, sliding_window_mask(new, keys, window - 1)):
            raise Mistake(
                "the window is one too narrow: the token itself and the window − 1 before it"
            )
        if torch.equal(got, sliding_window_mask(keys, keys, window)[:new]):
            raise Mistake(
                "your queries stand at positions 0, 1, …; the newest tokens stand at the end"
            )
        distance = torch.arange(keys - new, keys)[:, None] - torch.arange(keys)
        if torch.equal(got, distance < window):
            raise Mistake("the future is allowed: keys after the query have a negative distance")
        if torch.equal(got, distance.abs() < window):
            raise Mistake("the window reaches into the future too; it should only look back")
        query = int((got != right).any(dim=1).nonzero()[0])
        token = keys - new + query
        raise Mistake(
            f"with {new} new of {keys} tokens and a window of {window}, query {query} is token "
            f"{token}, counted from 0, and should read keys {max(0, token - window + 1)} to {token}"
        )


@exercise("7.6")
def check_previous(answer: Answer) -> None:
    """Check ``answer(n)``: a QK circuit for one-hot positions that looks one step back."""
    for n in (12, 5, 100):
        circuit = as_tensor(answer(n), (n, n))
        if not circuit.isfinite().all():
            raise Mistake(
                "x W xᵀ multiplies infinite entries by 0, which gives NaN; use large finite numbers"
            )
        x = torch.eye(n, dtype=torch.float64)
        _, weights = scaled_dot_product_attention(x @ circuit, x, x, causal_mask(n), scale=1.0)
        back = weights.diagonal(-1)
        if (back > 0.99).all():
            continue
        if _looks_back(circuit.T):
            raise Mistake(
                "the matrix is transposed: entry (i, j) scores query i with key j = i − 1"
            )
        if (circuit != 0).any() and (circuit == circuit[:1]).all():
            raise Mistake(
                "all rows of your matrix are alike, so every query wants the same key, wherever it "
                "stands; row i should favor key i − 1"
            )
        own, previous = circuit.diagonal(), circuit.diagonal(-1)
        if (own > 1).all() and (own[1:] > previous).all():
            raise Mistake(
                "each token looks at itself: the large entries should stand below the diagonal"
            )
        query = int(back.argmin()) + 1
        right = f"{back.min():.3f}"
        rivals = weights[query].clone()
        rivals[query - 1] = 0
        if back.min() > rivals.max():
            raise Mistake(
                f"the right key leads, but for n = {n} its weight falls to {right} for query "
                f"{query}, where others compete: make the scores larger"
            )
        raise Mistake(
            f"query {query} should look at key {query - 1} with weight > 0.99; it has {right}, and "
            "another key has as much or more"
        )


def _looks_back(circuit: torch.Tensor) -> bool:
    """Say whether each row's largest entry that a causal mask leaves is the one before its own."""
    allowed = circuit.masked_fill(~causal_mask(len(circuit)), -torch.inf)
    back = allowed.diagonal(-1)
    allowed = allowed.clone()
    allowed.diagonal(-1).fill_(-torch.inf)
    return bool((back > allowed[1:].amax(dim=1)).all())


@exercise("7.7")
def check_writes(answer: Answer) -> None:
    """Check ``answer(a, x, w_v, w_o, head, n_heads)``: what one head adds to the output."""
    for d, heads, head in ((6, 3, 1), (8, 2, 0), (8, 4, 3)):
        a, x = draw(4, 5).softmax(1), draw(5, d, seed=1)
        w_v, w_o = draw(2, d, d, seed=2)
        got = as_tensor(answer(a, x, w_v, w_o, head, heads), (4, d))
        size = d // heads
        part = slice(head * size, (head + 1) * size)
        if same(got, a @ x @ w_v[:, part] @ w_o[part]):
            continue
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
        cut = slice(head * heads, (head + 1) * heads)
        if same(got, a @ x @ w_v[:, cut] @ w_o[cut]):
            raise Mistake("a head is d/H wide; you cut pieces of H columns")
        first = slice(0, size)
        if same(got, a @ x @ w_v[:, first] @ w_o[first]):
            raise Mistake("this is what head 0 writes, whichever head is asked for")
        raise Mistake("move with the weights, project with the head's part of w_v, then of w_o")
