"""Checks for the exercises of the chapter *Transformers*: each names the mistake it recognizes."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import sigmoid, silu

from primer.notebook import Mistake, exercise
from primer.notebook.answers import Answer, as_whole, explain
from primer.notebook.tensors import as_tensor, draw
from primer.transformers import TransformerConfig, cache_bytes, layer_norm, rms_norm, route
from primer.transformers.counting import weights


@exercise("9.1")
def check_rms_norm(answer: Answer) -> None:
    """Check ``answer(x, weight, eps)``: RMSNorm of the rows of ``x``."""
    x, weight, eps = 3 * draw(4, 6) + 1, draw(6, seed=1), 0.5
    got = as_tensor(answer(x, weight, eps), (4, 6))
    square = x.square()
    explain(
        got,
        rms_norm(x, weight, eps),
        {
            "the mean was subtracted: that is layer norm without its shift": layer_norm(
                x, weight, None, eps
            ),
            "the squares are to be averaged, not added": x
            / (square.sum(-1, keepdim=True) + eps).sqrt()
            * weight,
            "ε belongs under the root, added to the mean square": x
            / (square.mean(-1, keepdim=True).sqrt() + eps)
            * weight,
            "divide by the root of the mean square": x
            / (square.mean(-1, keepdim=True) + eps)
            * weight,
            "the rows are normalized, but not multiplied with the weight": rms_norm(x, None, eps),
            "all rows were normalized together; each token has a scale of its own": x
            / (square.mean() + eps).sqrt()
            * weight,
            "the columns were normalized; a token is a row": x
            / (square.mean(0) + eps).sqrt()
            * weight,
        },
        "before the weight is applied, each row should have the mean square m / (m + ε), with m "
        "its mean square before",
    )


@exercise("9.2")
def check_swiglu(answer: Answer) -> None:
    """Check ``answer(x, w1, w2, w3)``: SwiGLU with matrices that stand on the right."""
    x, w1, w3, w2 = draw(5, 4), draw(4, 7, seed=1), draw(4, 7, seed=2), draw(7, 4, seed=3)
    got = as_tensor(answer(x, w1, w2, w3), (5, 4))
    explain(
        got,
        (silu(x @ w1) * (x @ w3)) @ w2,
        {
            "Swish belongs on the branch of W₁, and you put it on that of W₃": (
                (x @ w1) * silu(x @ w3)
            )
            @ w2,
            "Swish is z·σ(z); yours is σ(z) alone, which makes the layer a GLU": (
                sigmoid(x @ w1) * (x @ w3)
            )
            @ w2,
            "the two branches are multiplied entry by entry, not added": (silu(x @ w1) + x @ w3)
            @ w2,
            "both branches went through Swish; the one of W₃ stays linear": (
                silu(x @ w1) * silu(x @ w3)
            )
            @ w2,
            "the gate is missing: this is a plain network with Swish": silu(x @ w1) @ w2,
        },
        "compute the hidden vector Swish(xW₁) ⊙ xW₃ first, then multiply it with W₂ on the right",
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

    got = as_tensor(answer(x, norm1, attention, norm2, feed_forward), (5, 6))
    heard = x + attention(norm1(x))
    post = norm1(x + attention(x))
    on_path = norm1(x) + attention(norm1(x))
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
        },
        "first y = x + attention(norm1(x)), then z = y + feed_forward(norm2(y))",
    )


@exercise("9.4")
def check_block_parameters(answer: Answer) -> None:
    """Check ``answer(d, d_ff, n_heads, n_kv_heads)``: the matrices of a block as Llama has it."""
    d, d_ff, heads, shared = 24, 64, 6, 2
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
            "keys and values have as many heads as queries in your count: W_K and W_V have only "
            "n_kv_heads · d/n_heads columns": 4 * d * d + 3 * d * d_ff,
            "the output projection of attention is missing": right - d * d,
            "a gated network has three matrices, yours has two": right - d * d_ff,
            "only one of keys and values was counted": right - key,
            "W_K and W_V have n_kv_heads columns in your count; each head has d / n_heads of "
            "them": 2 * d * d + 2 * d * shared + 3 * d * d_ff,
            "norms have vectors, not matrices; the exercise asks for the matrices": right + 2 * d,
        },
        f"for d = {d}, d_ff = {d_ff}, {heads} query and {shared} key heads: queries and output "
        f"{2 * d * d}, keys and values {2 * key}, feed-forward {3 * d * d_ff}",
    )


@exercise("9.5")
def check_receptive_field(answer: Answer) -> None:
    """Check ``answer(n_layers, window)``: how many tokens the newest one can depend on."""
    for n_layers, window in ((1, 4), (3, 4), (32, 4096), (5, 1)):
        explain(
            as_whole(answer(n_layers, window)),
            n_layers * (window - 1) + 1,
            {
                "the token itself was counted again in every layer: each one adds window − 1 new "
                "tokens": n_layers * window,
                "the newest token sees itself, too": n_layers * (window - 1),
                "windows add up, they do not multiply: a layer moves information by at most "
                "window − 1 places": window**n_layers,
                "more layers reach farther: what a token sees in layer 2 has already seen "
                "others in layer 1": window,
            },
            f"with {n_layers} layers and a window of {window} the oldest visible token stands "
            f"{n_layers} × {window - 1} places back",
        )


@exercise("9.6")
def check_context_for(answer: Answer) -> None:
    """Check ``answer(n_bytes, n_layers, n_kv_heads, d_head)``: tokens that a cache can hold."""
    config = TransformerConfig(
        vocab_size=2, n_layers=5, d_model=48, n_heads=6, n_kv_heads=3, context_length=8
    )
    n_bytes = 100_000
    layers, heads, width = config.n_layers, config.kv_heads, config.d_head
    per_token = cache_bytes(config, 1)
    explain(
        as_whole(answer(n_bytes, layers, heads, width)),
        n_bytes // per_token,
        {
            "a token leaves a key and a value, twice as many numbers, and each takes 2 bytes: you "
            "forgot one of the two": 2 * n_bytes // per_token,
            "a number in half precision takes 2 bytes, not 4": n_bytes // (2 * per_token),
            "every layer keeps keys and values of its own": layers * n_bytes // per_token,
            "every key head keeps keys and values of its own": heads * n_bytes // per_token,
            "the last token does not fit: round down": -(-n_bytes // per_token),
        },
        f"one token takes 2 · {layers} layers · {heads} heads · {width} numbers · 2 bytes "
        f"= {per_token} bytes",
    )


@exercise("9.8")
def check_merge(answer: Answer) -> None:
    """Check ``answer(first, second)``: attention over two halves of the keys, put together."""
    scores, value = 3 * draw(4, 10), draw(10, 3, seed=1)

    def attend(part: slice) -> tuple[Tensor, Tensor]:
        """Return the output over some keys, and the logarithm of the sum of exp(score)."""
        return scores[:, part].softmax(-1) @ value[part], scores[:, part].logsumexp(-1)

    first, second = attend(slice(0, 3)), attend(slice(3, 10))
    try:
        output, log_total = answer(first, second)
    except (TypeError, ValueError):
        raise Mistake("return two things: the output and the log of the sum") from None
    got = as_tensor(output, (4, 3), "the output")
    (a, log_a), (b, log_b) = first, second
    by_logarithm = torch.stack([log_a, log_b]) / (log_a + log_b)
    shares = torch.stack([log_a, log_b]).softmax(0)
    explain(
        got,
        scores.softmax(-1) @ value,
        {
            "the two outputs were averaged as if both halves weighed the same": (a + b) / 2,
            "the outputs are means already: adding them counts everything twice": a + b,
            "the halves are weighted by how many keys they have; what counts is the sum of "
            "exp(score)": 0.3 * a + 0.7 * b,
            "the weights are the sums themselves, not their logarithms": by_logarithm[0, :, None]
            * a
            + by_logarithm[1, :, None] * b,
            "the weights are swapped": shares[1, :, None] * a + shares[0, :, None] * b,
        },
        "each half should weigh with its share of the sum of all exp(score)",
    )
    explain(
        as_tensor(log_total, (4,), "the log of the sum"),
        scores.logsumexp(-1),
        {
            "logarithms were added: that multiplies the sums": log_a + log_b,
            "this is the sum itself; return its logarithm": log_a.exp() + log_b.exp(),
            "this is the larger of the two logarithms; add the sums": torch.maximum(log_a, log_b),
        },
        "the second result should be log(exp(a) + exp(b))",
    )


@exercise("9.7")
def check_top_k(answer: Answer) -> None:
    """Check ``answer(scores, k)``: the weight of every expert for every token."""
    scores, k = 2 * draw(6, 5), 2
    got = as_tensor(answer(scores, k), (6, 5))
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
            "the scores of the others were set to 0, and exp(0) = 1 is no small weight: set them "
            "to −∞": zeros.scatter(1, routing.chosen, scores.gather(1, routing.chosen)).softmax(-1),
            "the softmax went down the columns; it belongs to one token, a row": zeros.scatter(
                1, routing.chosen, scores.softmax(0).gather(1, routing.chosen)
            ),
            "the k smallest scores were chosen": zeros.scatter(
                1, worst.indices, worst.values.softmax(-1)
            ),
        },
        "each row should have k positive numbers that sum to 1, at the places of its k largest "
        "scores",
    )
