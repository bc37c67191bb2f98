"""Norms, feed-forward networks, experts, blocks of attention and patches against other code."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.autograd import gradcheck
from torch.nn import functional
from transformers import GPT2Config, LlamaConfig, MixtralConfig, ViTConfig
from transformers.models.gpt2.modeling_gpt2 import GPT2MLP
from transformers.models.llama.modeling_llama import LlamaMLP, LlamaRMSNorm
from transformers.models.mixtral import modeling_mixtral
from transformers.models.vit.modeling_vit import ViTEmbeddings

from primer.transformers import feed_forward, mixture, norms, online_softmax, patches

F64 = torch.float64
seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 12)


def normal(seed: int, *shape: int) -> torch.Tensor:
    """Draw a double-precision tensor."""
    return torch.randn(shape, dtype=F64, generator=torch.Generator().manual_seed(seed))


def close(got: torch.Tensor, wanted: torch.Tensor, tolerance: float = 1e-10) -> None:
    torch.testing.assert_close(got, wanted, rtol=tolerance, atol=tolerance)


# Norms -------------------------------------------------------------------------------------------


@given(seeds, sizes, sizes, st.sampled_from([0.0, 1e-5, 0.1]))
def test_layer_norm_is_torchs(seed, tokens, dim, eps):
    eps = eps if dim > 1 else 0.1  # one feature has variance 0
    x, weight, bias = normal(seed, tokens, dim), normal(seed + 1, dim), normal(seed + 2, dim)
    close(
        norms.layer_norm(x, weight, bias, eps),
        nn.functional.layer_norm(x, (dim,), weight, bias, eps),
    )
    close(norms.layer_norm(x, eps=eps), nn.functional.layer_norm(x, (dim,), eps=eps))


@given(seeds, sizes, sizes, st.sampled_from([1e-6, 1e-5, 0.1]))
def test_rms_norm_is_torchs_and_hugging_faces(seed, tokens, dim, eps):
    x, weight = normal(seed, tokens, dim), normal(seed + 1, dim)
    theirs = LlamaRMSNorm(dim, eps=eps).double()
    ours = norms.RMSNorm(dim, eps=eps).double()
    with torch.no_grad():
        theirs.weight.copy_(weight)
        ours.weight.copy_(weight)
    explicit = norms.rms_norm(x, weight, eps)
    close(explicit, nn.functional.rms_norm(x, (dim,), weight, eps))
    close(ours(x), explicit)
    torch.testing.assert_close(theirs(x), explicit, rtol=1e-5, atol=1e-5)  # single inside


@given(seeds, st.integers(2, 12), st.floats(0.1, 100), st.floats(-50, 50))
def test_what_norms_forget(seed, dim, scale, shift):
    x = normal(seed, 4, dim)
    close(norms.layer_norm(scale * x + shift, eps=0.0), norms.layer_norm(x, eps=0.0), 1e-6)
    close(norms.rms_norm(scale * x, eps=0.0), norms.rms_norm(x, eps=0.0), 1e-8)
    centered = x - x.mean(-1, keepdim=True)
    close(norms.rms_norm(centered), norms.layer_norm(x))


def test_gradients_of_norms():
    x, weight, bias = (t.requires_grad_() for t in (normal(0, 2, 5), normal(1, 5), normal(2, 5)))
    assert gradcheck(norms.layer_norm, (x, weight, bias))
    assert gradcheck(norms.rms_norm, (x, weight))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: norms.layer_norm(torch.zeros(0)), "features"),
        (lambda: norms.layer_norm(torch.ones(3), torch.ones(2)), "each of the 3 features"),
        (lambda: norms.rms_norm(torch.ones(3), eps=-1.0), "0 or larger"),
        (lambda: norms.rms_norm(torch.ones(3), eps=float("nan")), "eps must be one finite number"),
        (lambda: norms.RMSNorm(0), "dim must be a whole number ≥ 1"),
        (lambda: norms.RMSNorm(3, eps=-1.0), "0 or larger"),
    ],
)
def test_norms_refuse(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# Feed-forward ------------------------------------------------------------------------------------


@given(seeds, st.integers(1, 4))
def test_swiglu_is_hugging_faces(seed, tokens):
    theirs = LlamaMLP(
        LlamaConfig(hidden_size=8, intermediate_size=20, num_attention_heads=2)
    ).double()
    ours = feed_forward.SwiGLU(8, 20).double()
    ours.load_state_dict(
        {name.replace("_proj", ""): weight for name, weight in theirs.state_dict().items()}
    )
    x = normal(seed, tokens, 8)
    close(ours(x), theirs(x))


def test_gelu_tanh_is_gpt2s():
    theirs = GPT2MLP(32, GPT2Config(n_embd=8, resid_pdrop=0.0)).double()
    ours = feed_forward.FeedForward(8, 32, "gelu_tanh").double()
    for layer, name in ((ours.up, "c_fc"), (ours.down, "c_proj")):
        source = getattr(theirs, name)  # stores W, not its transpose
        layer.load_state_dict({"weight": source.weight.T, "bias": source.bias})
    x = normal(0, 5, 8)
    close(ours(x), theirs(x))


@pytest.mark.parametrize("kind", feed_forward.KINDS)
def test_each_token_alone(kind):
    network = feed_forward.make_feed_forward(kind, 6, 10, bias=True).double()
    x = normal(0, 2, 3, 6)
    close(network(x)[1, 2], network(x[1, 2]))


def test_relu_is_the_formula_and_a_sum_over_memories():
    network = feed_forward.FeedForward(4, 9).double()
    keys, values = network.up.weight, network.down.weight.T  # row i of each belongs to unit i
    x = normal(0, 4)
    recalled = sum(
        functional.relu(x @ key + bias) * value
        for key, bias, value in zip(keys, network.up.bias, values, strict=True)
    )
    close(network(x), recalled + network.down.bias)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: feed_forward.FeedForward(4, 8, "tanh"),
            "activation must be one of 'relu', 'gelu', 'gelu_tanh'",
        ),
        (lambda: feed_forward.FeedForward(0, 8), "d_model must be a whole number ≥ 1"),
        (lambda: feed_forward.SwiGLU(4, 0), "d_ff must be a whole number ≥ 1"),
        (lambda: feed_forward.make_feed_forward("glu", 4, 8, bias=False), "swiglu"),
    ],
)
def test_feed_forward_refuses(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# Mixture of experts ------------------------------------------------------------------------------


def mixture_of_swiglu(d_model: int, d_ff: int, n_experts: int, k: int) -> mixture.MixtureOfExperts:
    return mixture.MixtureOfExperts(
        lambda: feed_forward.SwiGLU(d_model, d_ff), d_model, n_experts, k
    ).double()


@given(seeds, st.integers(1, 4))
def test_mixture_is_mixtrals(seed, k):
    config = MixtralConfig(
        hidden_size=8, intermediate_size=12, num_local_experts=4, num_experts_per_tok=k
    )
    theirs = modeling_mixtral.MixtralSparseMoeBlock(config).double()
    for place, weight in enumerate(theirs.parameters()):
        weight.data = normal(seed + place, *weight.shape) / 3
    ours = mixture_of_swiglu(8, 12, 4, k)
    with torch.no_grad():
        ours.router.weight.copy_(theirs.gate.weight)
        for number, expert in enumerate(ours.experts):
            gate, up = theirs.experts.gate_up_proj[number].chunk(2)
            expert.gate.weight.copy_(gate)
            expert.up.weight.copy_(up)
            expert.down.weight.copy_(theirs.experts.down_proj[number])
    x = normal(seed, 2, 5, 8)
    close(ours(x), theirs(x), 1e-5)  # their router's softmax runs in single precision
    scores = ours.router(x.flatten(0, 1))
    penalty = modeling_mixtral.load_balancing_loss_func((scores.float(),), 4, k)
    close(k * mixture.load_balancing_loss(ours.routing).float(), penalty, 1e-5)


@given(seeds, st.integers(1, 6), st.integers(1, 20))
def test_routing(seed, n_experts, tokens):
    k = 1 + seed % n_experts
    routing = mixture.route(normal(seed, tokens, n_experts), k)
    close(routing.weights.sum(-1), torch.ones(tokens, dtype=F64))
    close(routing.probabilities.sum(-1), torch.ones(tokens, dtype=F64))
    assert all(len(set(row)) == k for row in routing.chosen.tolist())
    taken = routing.probabilities.gather(1, routing.chosen)
    close(taken / taken.sum(-1, keepdim=True), routing.weights)
    load = mixture.expert_load(routing.chosen, n_experts)
    assert load.sum().item() == pytest.approx(1)
    assert load.max() <= 1 / k + 1e-6  # an expert is chosen at most once by each token


def test_all_experts_alike_are_one_dense_layer():
    layer = mixture_of_swiglu(6, 10, 4, 2)
    for expert in layer.experts:
        expert.load_state_dict(layer.experts[0].state_dict())
    x = normal(0, 3, 5, 6)
    close(layer(x), layer.experts[0](x))


def test_gradients_reach_the_chosen_experts_and_the_router_only():
    layer = mixture_of_swiglu(6, 10, 4, 2)
    layer(normal(0, 1, 6)).sum().backward()
    chosen = set(layer.routing.chosen[0].tolist())
    for number, expert in enumerate(layer.experts):
        gradient = expert.down.weight.grad
        reached = gradient is not None and bool(gradient.any())
        assert reached == (number in chosen)
    assert layer.router.weight.grad.any()


def test_balance_loss_evens_the_load():
    """Descent on the penalty alone spreads tokens that all went to one expert."""
    x = normal(0, 200, 6) + 2.0  # a common direction: one expert wins everywhere
    router = normal(1, 6, 4).requires_grad_()
    before = mixture.expert_load(mixture.route(x @ router, 1).chosen, 4).max()
    optimizer = torch.optim.Adam([router], lr=0.02)
    for _ in range(200):
        optimizer.zero_grad()
        mixture.load_balancing_loss(mixture.route(x @ router, 1)).backward()
        optimizer.step()
    after = mixture.expert_load(mixture.route(x @ router, 1).chosen, 4).max()
    assert before > 0.8
    assert after < 0.5


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mixture.route(torch.zeros(2, 4), 5), "1 to 4"),
        (lambda: mixture.route(torch.zeros(2, 4), 0), "1 to 4"),
        (lambda: mixture.expert_load(torch.zeros(0, 2, dtype=torch.long), 4), "empty"),
        (lambda: mixture.expert_load(torch.tensor([[4]]), 4), "0 to 3"),
        (lambda: mixture_of_swiglu(4, 4, 2, 3), "between 1 and n_experts = 2"),
        (lambda: mixture_of_swiglu(4, 4, 0, 0), "n_experts must be a whole number ≥ 1, got 0"),
    ],
)
def test_mixture_refuses(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# Attention in blocks -----------------------------------------------------------------------------


@given(seeds, st.integers(1, 40), st.integers(0, 40), st.integers(1, 50), st.booleans())
def test_blockwise_attention_is_attention(seed, n_queries, more, block_size, causal):
    n_keys = n_queries + more
    query, key = normal(seed, 2, n_queries, 6), normal(seed + 1, 2, n_keys, 6)
    value = normal(seed + 2, 2, n_keys, 3)
    mask = torch.ones(n_queries, n_keys, dtype=torch.bool).tril(more) if causal else None
    close(
        online_softmax.blockwise_attention(query, key, value, block_size, causal),
        functional.scaled_dot_product_attention(query, key, value, attn_mask=mask),
    )


def test_blocks_survive_scores_that_overflow_exp():
    query = torch.full((1, 1), 1000.0)
    key = torch.tensor([[-1.0], [1.0], [0.5]])
    got = online_softmax.blockwise_attention(query, key, torch.eye(3), block_size=1)
    assert got.tolist() == [[0.0, 1.0, 0.0]]


def test_gradients_of_blocks():
    query, key, value = (normal(place, 3, 2).requires_grad_() for place in range(3))
    assert gradcheck(
        lambda *inputs: online_softmax.blockwise_attention(*inputs, block_size=2, causal=True),
        (query, key, value),
    )


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda x: online_softmax.blockwise_attention(x, x, x, block_size=0),
            "block_size must be a whole number ≥ 1",
        ),
        (lambda x: online_softmax.blockwise_attention(x, x[:0], x[:0]), "there must be one"),
        (
            lambda x: online_softmax.blockwise_attention(x, x[:1], x[:1], causal=True),
            "as many keys",
        ),
    ],
)
def test_blocks_refuse(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(torch.ones(2, 3))


# Patches -----------------------------------------------------------------------------------------


@given(seeds, st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(1, 4))
def test_patches_are_a_convolution(seed, channels, rows, columns, patch):
    images = normal(seed, 2, channels, rows * patch, columns * patch)
    kernel = normal(seed + 1, 5, channels, patch, patch)
    convolved = functional.conv2d(images, kernel, stride=patch).flatten(2).mT
    close(patches.patchify(images, patch) @ kernel.flatten(1).T, convolved)


def test_patch_embedding_is_hugging_faces():
    config = ViTConfig(
        image_size=12, patch_size=4, num_channels=3, hidden_size=8, hidden_dropout_prob=0.0
    )
    theirs = ViTEmbeddings(config)
    ours = patches.PatchEmbedding(image_size=12, patch=4, channels=3, d_model=8)
    with torch.no_grad():
        projection = theirs.patch_embeddings.projection
        ours.project.weight.copy_(projection.weight.flatten(1))
        ours.project.bias.copy_(projection.bias)
        ours.class_token.copy_(theirs.cls_token[0, 0])
        ours.positions.copy_(theirs.position_embeddings[0])
    images = normal(0, 2, 3, 12, 12).float()
    close(ours(images), theirs(images), 1e-5)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: patches.patchify(torch.zeros(1, 3, 10, 8), 4), "do not cover 10 × 8"),
        (lambda: patches.patchify(torch.zeros(1, 3, 8, 8), 0), "do not cover"),
        (lambda: patches.PatchEmbedding(10, 4, 3, 8), "must divide image_size"),
        (lambda: patches.PatchEmbedding(8, 4, 0, 8), "channels must be a whole number ≥ 1, got 0"),
    ],
)
def test_patches_refuse(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
