"""Checks for the exercises of the chapter *Transformers*: each names the mistake it recognizes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_whole, explain
from primer.notebook.tensors import as_tensor, draw
from primer.notebook.wording import short, word
from primer.transformers import TransformerConfig, layer_norm, route
from primer.transformers.counting import weights


@varied(
    width=(256, 384, 512, 640, 768, 896, 1024, 1280, 1536, 2048),
    wider=(3, 4, 5, 8),
    reads=(512, 1024, 2048),
)
def check_crossing(width: int = 768, wider: int = 4, reads: int = 1024) -> NumberExercise:
    """Ask for the length of text at which scores cost as much as all matrices of a block."""
    d, total = width, 8 + 4 * wider  # the matrices take total · nd² operations
    times = total // 4
    right = times * d
    return NumberExercise(
        "9.1",
        question=f"A model has the width d = {d} and a hidden layer of {wider}d. At how many "
        "tokens of text would its scores cost as much arithmetic as all matrices of a block "
        f"together, with all n² pairs counted? (It reads {reads:,}.)",
        right=right,
        within=0.5,
        low=1,
        high=100_000,
        expects="a whole number of tokens",
        wrong={
            2 * d: "at n = 2d the scores equal the projections of attention; the network's "
            f"{4 * wider}nd² are missing",
            wider * d: f"at n = {wider}d the scores equal the network; the projections' 8nd² are "
            "missing",
            d: f"at n = d the scores cost 4d³ and the matrices {total}d³, {word(times)} times as "
            "much",
            d / times: f"you divided by {times}: the matrices cost {total}nd², so that n is "
            f"{word(times)} times d, not one part in {word(times)} of it",
            2 * right: f"n = {2 * times}d counts half of 4n²d: 4n²d are the scores and the "
            "weighted means together, for all n² pairs, the masked ones too",
        },
        otherwise=f"solve 4n²d = 8nd² + {4 * wider}nd² for n",
        because=f"4n²d = {total}nd² gives n = {times}d = {right}, {short(right / reads, 2)} times "
        "what it can read.",
    )


check_impossible_norm = ChoiceExercise(
    "9.2",
    choices={
        "a": "Two of the numbers are larger than 1 in size.",
        "b": "The numbers do not sum to 0.",
        "c": "Two of them are nearly equal.",
        "d": "The largest entry should have become 1.",
    },
    right="b",
    replies={
        "a": "the mean square is 1, so some entries must exceed 1 unless all have that size: for "
        "(1, 2, 3) they are -1.22, 0 and 1.22",
        "b": "They sum to -1.10, and what has lost its mean sums to 0.",
        "c": "entries that were nearly equal stay so: the 0.1 and 0.3 of the example end 0.0016 "
        "apart",
        "d": "that would be a division by the maximum; layer norm divides by the standard "
        "deviation, and the 200 of the example becomes 1.51",
    },
)


@exercise("9.3")
def check_block(answer: Answer) -> None:
    """Check ``answer(x, norm1, attention, norm2, feed_forward)``: a pre-norm block."""
    x, mix, narrow = draw(5, 6), draw(5, 5, seed=1), draw(6, 6, seed=2)

    def norm1(x: Tensor) -> Tensor:
        return 2 * layer_norm(x)

    def norm2(x: Tensor) -> Tensor:
        return 3 * layer_norm(x) + 1

    def attention(x: Tensor) -> Tensor:
        return mix.tril().softmax(-1) @ x

    def feed_forward(x: Tensor) -> Tensor:
        return torch.tanh(x @ narrow)

    got = as_tensor(answer(x.clone(), norm1, attention, norm2, feed_forward), (5, 6))
    heard = x + attention(norm1(x))
    post = norm1(x + attention(x))
    on_path = norm1(x) + attention(norm1(x))
    alone, bare, behind = attention(norm1(x)), x + attention(x), x + norm1(attention(x))
    other, fed = x + attention(norm2(x)), x + feed_forward(norm1(x))
    explain(
        got,
        heard + feed_forward(norm2(heard)),
        {
            "this is post-norm: here the norm stands before attention and feed-forward": norm2(
                post + feed_forward(post)
            ),
            "there is no residual connection: add x to what attention and feed-forward "
            "return": feed_forward(norm2(attention(norm1(x)))),
            "the residual path itself was normalized: add x, not norm(x)": norm2(on_path)
            + feed_forward(norm2(on_path)),
            "the feed-forward network should read what attention wrote; yours reads x": x
            + attention(norm1(x))
            + feed_forward(norm2(x)),
            "the second residual starts at x again, so what attention found is lost": x
            + feed_forward(norm2(heard)),
            "norm1 was used twice": heard + feed_forward(norm1(heard)),
            "the norms are missing": x + attention(x) + feed_forward(x + attention(x)),
            "the norms are exchanged: attention reads norm1, the network norm2": other
            + feed_forward(norm1(other)),
            "the network came first: attention is the first of the two": fed
            + attention(norm2(fed)),
            "the first residual is forgotten: add x to what attention returns": alone
            + feed_forward(norm2(alone)),
            "the second residual is forgotten: add y to what the network returns": feed_forward(
                norm2(heard)
            ),
            "the norms stand behind attention and network, on what is added; pre-norm has them "
            "before, on what is read": behind + norm2(feed_forward(behind)),
            "attention and network stand side by side and read the same norm; here the network "
            "reads norm2 of what attention has added": heard + feed_forward(norm1(x)),
            "the first norm is missing: attention reads norm1(x)": bare + feed_forward(norm2(bare)),
            "the second norm is missing: the network reads norm2(y)": heard + feed_forward(heard),
        },
        "first y = x + attention(norm1(x)), then z = y + feed_forward(norm2(y))",
    )


@exercise("9.4")
def check_block_parameters(answer: Answer) -> None:
    """Check ``answer(d, d_ff, n_heads, n_kv_heads)``: the matrices of a block as Llama has it."""
    # the first is chosen so that no two plausible counts agree
    for d, d_ff, heads, shared in ((72, 184, 12, 3), (32, 80, 4, 1), (12, 40, 3, 3)):
        config = TransformerConfig(
            vocab_size=2,
            n_layers=1,
            d_model=d,
            n_heads=heads,
            n_kv_heads=shared,
            d_ff=d_ff,
            context_length=8,
        )
        parts = ("attention", "feed-forward")
        right = sum(weight.parameters for weight in weights(config) if weight.part in parts)
        key = d * d // heads * shared
        explain(
            as_whole(answer(d, d_ff, heads, shared)),
            right,
            {
                "keys and values have as many heads as queries in your count: W_K and W_V have "
                "only n_kv_heads · d/n_heads columns": 4 * d * d + 3 * d * d_ff,
                "the output projection of attention is missing": right - d * d,
                "a gated network has three matrices, yours has two": right - d * d_ff,
                "only one of keys and values was counted": right - key,
                "only one key head was counted": 2 * d * d + 2 * d * d // heads + 3 * d * d_ff,
                "W_K and W_V have n_kv_heads columns in your count; each head has d / n_heads of "
                "them": 2 * d * d + 2 * d * shared + 3 * d * d_ff,
                "n_heads / n_kv_heads is the size of a group, the heads that share a key head; W_K "
                "and W_V have n_kv_heads heads": 2 * d * d + 2 * d * d // shared + 3 * d * d_ff,
                "norms have vectors, not matrices; the exercise asks for the matrices": right
                + 2 * d,
            },
            f"for d = {d}, d_ff = {d_ff}, {heads} query and {shared} key heads: queries and output "
            f"{2 * d * d}, keys and values {2 * key}, feed-forward {3 * d * d_ff}",
        )


check_no_attention = ChoiceExercise(
    "9.5",
    choices={
        "a": "To 4.8 bits per character.",
        "b": "To 3.6.",
        "c": "To 2.9, only later.",
        "d": "To 2.4.",
    },
    right="b",
    replies={
        "a": "4.8 is the score of the frequencies alone. It still reads the letter at its own "
        "place, and that letter says much about the next one",
        "b": "Each place knows its own letter and no other, so the best it can learn is the table "
        "of pairs: 3.64.",
        "c": "2.9 is the trained model with attention. No training shows a token a letter that "
        "nothing carries to it: the list of counts says 3.64 for one letter of context",
        "d": "2.4 takes five letters of context; without attention it has one, which is worth 3.64",
    },
)


def _allowed(mask: Any, n: int) -> Tensor:
    """Read the mask that a reader's decoder hands to its layer."""
    given = as_tensor(mask, (n, n), "the mask")
    if not torch.isin(given, given.new_tensor([0, 1])).all():
        raise Mistake(
            "the mask should hold truth values, True where a token may look, not what is added to "
            "the scores"
        )
    blind = ~given.bool().any(dim=1)
    if blind.any():
        raise Mistake(
            f"place {int(blind.nonzero()[0])} may look at nothing: True is where a token may look, "
            "and it may look at itself, so keep the diagonal"
        )
    return given.bool()


@exercise("9.6")
def check_decoder(answer: Answer) -> None:
    """Check ``answer(x, positions, layer, head)``: a decoder without its three silent faults."""
    for n, seed in ((5, 0), (7, 10)):
        x, positions = draw(n, 6, seed=seed), draw(12, 6, seed=seed + 1)
        mix, last = draw(6, 6, seed=seed + 2), draw(6, 4, seed=seed + 3)

        def layer(x: Tensor, mask: Any, mix: Tensor = mix) -> Tensor:
            """Attend as a block does, where the mask allows it."""
            scores = x @ mix @ x.T / 6**0.5
            weights = scores.masked_fill(~_allowed(mask, len(x)), -torch.inf).softmax(-1)
            return layer_norm(x + weights @ x)

        def head(x: Tensor, last: Tensor = last) -> Tensor:
            """Return logits."""
            return x @ last

        given = x.clone()
        got = as_tensor(answer(x, positions, layer, head), (n, 4))
        if not torch.equal(x, given):
            raise Mistake(
                "after the call the caller's x has changed: += writes into the tensor that was "
                "handed over; x = x + … makes a new one"
            )
        causal, everyone = torch.ones(n, n).tril().bool(), torch.ones(n, n).bool()
        placed = x + positions[:n]
        right = head(layer(placed, causal))
        explain(
            got,
            right,
            {
                "every place still sees the tokens after it: the mask has to be causal": head(
                    layer(placed, everyone)
                ),
                "every place still sees the tokens after it, and the loss will apply a second "
                "softmax": head(layer(placed, everyone)).softmax(-1),
                "these are probabilities: cross_entropy applies the softmax itself, so hand over "
                "logits": right.softmax(-1),
                "these are log-probabilities: harmless to cross_entropy, but hand over logits": (
                    right.log_softmax(-1)
                ),
                "these are probabilities over the places: cross_entropy applies the softmax "
                "itself, to each row, so hand over logits": right.softmax(0),
                "the mask is turned around: row i may look at the columns up to i": head(
                    layer(placed, causal.T)
                ),
                "every place still sees the token just after it: the last place that row i may "
                "look at is i": head(layer(placed, torch.ones(n, n).tril(1).bool())),
                "the positions are lost": head(layer(x, causal)),
                "the positions come too late: the layer needs them, so add them before it": head(
                    layer(x, causal) + positions[:n]
                ),
                "the first token stands at place 0: add positions[:n]": head(
                    layer(x + positions[1 : n + 1], causal)
                ),
                "these are the last rows of the table: add positions[:n]": head(
                    layer(x + positions[-n:], causal)
                ),
                "every token gets one and the same position: add positions[:n], a row for "
                "each": head(layer(x + positions[0], causal)),
            },
            "the rest of the decoder was right: positions, layer, head, in this order",
        )


@exercise("9.8")
def check_merge(answer: Answer) -> None:
    """Check ``answer(first, second)``: attention over two halves of the keys, put together."""
    value = draw(10, 3, seed=1)
    # scores near 0; the same ones near 1000, whose exponentials no machine can write down
    for scores, split in ((3 * draw(4, 10), 3), (3 * draw(4, 10, seed=2) + 1000, 6)):
        _check_merged(answer, scores, value, split)
    # each query elsewhere: no one number brings all of them near 0, nor the middle of its halves
    around = torch.tensor([[0, 0], [1000, 1000], [-1000, -1000], [1000, -1000]])
    _check_merged(answer, 3 * draw(4, 10, seed=3) + around.repeat_interleave(5, 1), value, 5)


def _check_merged(answer: Answer, scores: Tensor, value: Tensor, split: int) -> None:
    """Check the merging of attention over the first ``split`` keys with that over the others."""

    def attend(part: slice) -> tuple[Tensor, Tensor]:
        """Return the output over some keys, and the logarithm of the sum of exp(score)."""
        return scores[:, part].softmax(-1) @ value[part], scores[:, part].logsumexp(-1)

    def refuse_infinite(result: Tensor, otherwise: str) -> None:
        """Say why a result of large scores is not finite."""
        lost = ~result.isfinite().reshape(len(result), -1).all(-1)
        if not lost.any():
            return
        if mixed and not lost[3]:
            otherwise = (
                "one maximum for all queries was subtracted: beside a query with scores near 1000 "
                "exp makes 0 of all of another's; take a maximum for each query"
            )
        elif mixed:
            otherwise = (
                "where one half has scores near 1000 and the other near -1000 the result is not "
                "finite: what is subtracted has to be the larger of the two, not their mean"
            )
        raise Mistake(otherwise)

    halves = slice(0, split), slice(split, 10)
    given = answer(*map(attend, halves))
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise Mistake("return two things: the output and the log of the sum")
    large, mixed = bool(scores.max() > 500), bool(scores.min() < -500)
    got = as_tensor(given[0], (4, 3), "the output", allow_nan=large)
    if large:
        refuse_infinite(
            got,
            "with scores near 1000 the result is not finite: exp(1000) is infinite on every "
            "machine; subtract the logarithm of the whole sum before exp",
        )
    (a, log_a), (b, log_b) = map(attend, halves)  # anew: the answer may have changed its own
    by_logarithm = torch.stack([log_a, log_b]) / (log_a + log_b)
    shares = torch.stack([log_a, log_b]).softmax(0)
    keys = split / 10
    explain(
        got,
        scores.softmax(-1) @ value,
        {
            "the two outputs were averaged as if both halves weighed the same": (a + b) / 2,
            "the outputs are means already: adding them counts everything twice": a + b,
            "the halves are weighted by how many keys they have; what counts is the sum of "
            "exp(score)": keys * a + (1 - keys) * b,
            "the weights are the sums themselves, not their logarithms": by_logarithm[0, :, None]
            * a
            + by_logarithm[1, :, None] * b,
            "the weights are swapped": shares[1, :, None] * a + shares[0, :, None] * b,
        },
        "each half should weigh with its share of the sum of all exp(score)",
    )
    log_total = as_tensor(given[1], (4,), "the log of the sum", allow_nan=large)
    if large:
        refuse_infinite(
            log_total,
            "with scores near 1000 the log of the sum is not finite: exp overflows; "
            "torch.logaddexp adds without writing the sums out",
        )
    explain(
        log_total,
        scores.logsumexp(-1),
        {
            "logarithms were added: that multiplies the sums": log_a + log_b,
            "this is the sum itself; return its logarithm": log_a.exp() + log_b.exp(),
            "this is the larger of the two logarithms; add the sums": torch.maximum(log_a, log_b),
            "what was subtracted before exp, the larger of the two logarithms, has to be added to "
            "the log again": torch.logaddexp(log_a, log_b) - torch.maximum(log_a, log_b),
            "what was subtracted before exp, one maximum for all queries, has to be added to the "
            "log again": torch.logaddexp(log_a, log_b) - torch.maximum(log_a, log_b).max(),
        },
        "the second result should be log(exp(a) + exp(b))",
    )


@exercise("9.7")
def check_top_k(answer: Answer) -> None:
    """Check ``answer(scores, k)``: the weight of every expert for every token."""
    for k, seed in ((2, 0), (1, 1), (3, 2)):
        scores = 2 * draw(6, 5, seed=seed)
        got = as_tensor(answer(scores.clone(), k), (6, 5))
        routing = route(scores, k)
        zeros = torch.zeros_like(scores)
        probabilities = scores.softmax(-1)
        kept = zeros.scatter(1, routing.chosen, probabilities.gather(1, routing.chosen))
        worst = scores.topk(k, largest=False)
        explain(
            got,
            zeros.scatter(1, routing.chosen, routing.weights),
            {
                "the weights of the chosen experts should sum to 1: divide by their sum": kept,
                "all experts got a weight; only the k best may compute": probabilities,
                "all chosen experts got the same weight; the router's scores decide": zeros.scatter(
                    1, routing.chosen, 1 / k
                ),
                "the scores of the others were set to 0, and exp(0) = 1 is no small weight: set "
                "them to −∞": zeros.scatter(
                    1, routing.chosen, scores.gather(1, routing.chosen)
                ).softmax(-1),
                "the softmax was taken twice: take it over the scores, not over probabilities": (
                    zeros.scatter(
                        1,
                        routing.chosen,
                        probabilities.gather(1, routing.chosen).softmax(-1),
                    )
                ),
                "the softmax went down the columns; it belongs to one token, a row": zeros.scatter(
                    1, routing.chosen, scores.softmax(0).gather(1, routing.chosen)
                ),
                "the k smallest scores were chosen": zeros.scatter(
                    1, worst.indices, worst.values.softmax(-1)
                ),
            },
            "each row should have k positive numbers that sum to 1, at the places of its k largest "
            "scores: exp(score) divided by the sum of those k",
        )
