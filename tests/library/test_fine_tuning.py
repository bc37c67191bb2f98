"""Low-rank changes, adapters, vectors, pruning and cut updates, against peft, torch and NumPy."""

from __future__ import annotations

import hashlib
import itertools
import random
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_llama import llama
from torch import nn
from torch.nn.utils.prune import l1_unstructured
from transformers import GPT2Config, GPT2LMHeadModel

from primer.fine_tuning import (
    AdapterLinear,
    LoRALinear,
    MovementScores,
    ScaledLinear,
    adapter_parameters,
    add_adapters,
    add_ia3,
    add_lora,
    between,
    completion_loss,
    completion_mask,
    docstring_tokens,
    docstrings,
    fine_tune,
    fold_ia3,
    keep_largest,
    linear_layers,
    load_lora_state,
    lora_parameters,
    lora_state,
    loss_on,
    magnitude_masks,
    matrix_of,
    merge_lora,
    numpy_docstrings,
    principal_factors,
    prune,
    rank_for,
    split_docstrings,
    trainable_numbers,
    truncated_update,
    update_spectrum,
    windows_of,
)
from primer.language_models import BytePairEncoding
from primer.train import token_stream
from primer.transformers import Transformer, TransformerConfig

TINY = TransformerConfig(vocab_size=20, n_layers=2, d_model=16, n_heads=2, context_length=12)
seeds = st.integers(0, 2**31)
ranks = st.integers(1, 4)
TOKENS = torch.arange(12).reshape(1, 12) % 20


def tiny(seed: int = 0) -> Transformer:
    torch.manual_seed(seed)
    return Transformer(TINY).eval()


def gpt2() -> GPT2LMHeadModel:
    torch.manual_seed(0)
    return GPT2LMHeadModel(GPT2Config(vocab_size=20, n_embd=16, n_layer=2, n_head=2)).eval()


@pytest.mark.parametrize("make", [tiny, llama, gpt2])
def test_every_wrap_begins_as_the_model_and_works_in_all_three(make) -> None:
    wraps = {
        tiny: (("query", "down"), ("output", "down"), ("key", "value"), ("down",)),
        llama: (
            ("q_proj", "down_proj"),
            ("o_proj", "down_proj"),
            ("k_proj", "v_proj"),
            ("down_proj",),
        ),
        gpt2: (("c_attn", "c_fc"), ("c_proj",), ("c_attn",), ("c_fc",)),
    }
    lora, behind, outputs, inputs = wraps[make]

    def said(model: nn.Module) -> torch.Tensor:
        result = model(TOKENS)
        return result if isinstance(result, torch.Tensor) else result.logits

    base = make()
    expected = said(base).detach()
    for wrapped in (
        add_lora(make(), 2, targets=lora),
        add_adapters(make(), 4, targets=behind),
        add_ia3(make(), outputs, inputs),
    ):
        torch.testing.assert_close(said(wrapped), expected, atol=1e-6, rtol=1e-5)
        said(wrapped).square().sum().backward()
        assert trainable_numbers(wrapped) < trainable_numbers(base) / 3
        for weight in wrapped.parameters():
            assert (weight.grad is not None) == weight.requires_grad


@pytest.mark.parametrize("make", [tiny, gpt2])
def test_merging_folding_and_unmerging(make) -> None:
    names = ("query", "down") if make is tiny else ("c_attn", "c_fc")
    model = add_lora(make(), 3, targets=names)
    for layer in model.modules():
        if isinstance(layer, LoRALinear):
            layer.B.data.normal_(std=0.1)
    state = lora_state(model)

    def said(model: nn.Module) -> torch.Tensor:
        result = model(TOKENS)
        return (result if isinstance(result, torch.Tensor) else result.logits).detach()

    adapted, plain = said(model), said(make())
    assert (adapted - plain).abs().max() > 1e-3
    layers = [layer for layer in model.modules() if isinstance(layer, LoRALinear)]
    before = [matrix_of(layer.base).clone() for layer in layers]
    for layer in layers:
        layer.merge()
    torch.testing.assert_close(said(model), adapted, atol=1e-5, rtol=1e-4)
    with pytest.raises(ValueError, match="twice"):
        layers[0].merge()
    for layer, matrix in zip(layers, before, strict=True):
        layer.unmerge()
        assert torch.equal(matrix_of(layer.base), matrix)
    with pytest.raises(ValueError, match="nothing is merged"):
        layers[0].unmerge()
    load_lora_state(model, {name: 0 * factor for name, factor in state.items()})
    torch.testing.assert_close(said(model), plain)
    load_lora_state(model, state)
    merged = merge_lora(model)
    torch.testing.assert_close(said(merged), adapted, atol=1e-5, rtol=1e-4)
    assert {type(m) for m in merged.modules()} == {type(m) for m in make().modules()}


def test_swapping_while_merged_leaves_the_new_change() -> None:
    torch.manual_seed(0)
    layer = LoRALinear(nn.Linear(4, 3), 2, start="both random")
    W0 = matrix_of(layer.base).clone()
    layer.merge()
    A, B = torch.randn(4, 2), torch.randn(2, 3)
    layer.swap(A, B)
    torch.testing.assert_close(matrix_of(layer.base), W0 + layer.scale * A @ B)
    with pytest.raises(ValueError, match="do not fit this layer"):
        layer.swap(A[:, :1], B[:1])


@given(seeds, st.sampled_from(["B zero", "A zero", "both random", "both zero"]))
def test_who_gets_a_gradient(seed: int, start: str) -> None:
    torch.manual_seed(seed)
    layer = LoRALinear(nn.Linear(6, 4), 2, start=start)
    x = torch.randn(5, 6)
    layer(x).square().sum().backward()
    zero = {"B zero": "A", "A zero": "B", "both zero": "AB", "both random": ""}[start]
    for name in "AB":
        assert bool((getattr(layer, name).grad == 0).all()) == (name in zero)


@given(seeds)
def test_ia3_folds_and_mixes_tasks(seed: int) -> None:
    model = tiny(seed % 100)
    add_ia3(model)
    vectors = {n: w for n, w in model.named_parameters() if n.endswith("vector")}
    tokens = torch.randint(20, (2, 6))
    with torch.no_grad():
        tasks = [{n: 1 + 0.3 * torch.randn_like(w) for n, w in vectors.items()} for _ in range(2)]
        mixed = {n: torch.stack([t[n] for t in tasks])[:, None] for n in vectors}
        together = torch.func.functional_call(model, mixed, (tokens,))
        for row, task in enumerate(tasks):
            alone = torch.func.functional_call(model, task, (tokens[row : row + 1],))
            torch.testing.assert_close(together[row : row + 1], alone, atol=1e-5, rtol=1e-4)
        for name, vector in tasks[0].items():
            vectors[name].copy_(vector)
        expected = model(tokens)
        torch.testing.assert_close(fold_ia3(model)(tokens), expected, atol=1e-5, rtol=1e-4)
    with pytest.raises(ValueError, match="no vectors"):
        fold_ia3(model)


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 8))
def test_numbers_of_lora(d: int, k: int, rank: int) -> None:
    rank = min(rank, d, k)
    layer = LoRALinear(nn.Linear(d, k, bias=False), rank)
    assert trainable_numbers(layer) == lora_parameters(d, k, rank)


@given(st.integers(3, 40), st.integers(1, 3))
def test_numbers_of_adapters(d: int, r: int) -> None:
    r = min(r, d - 1)
    layer = AdapterLinear(nn.Linear(5, d), r)
    assert 2 * sum(p.numel() for p in layer.added()) == adapter_parameters(d, r, 1)


@given(seeds, st.floats(0, 0.99))
def test_magnitude_is_torchs_pruning(seed: int, sparsity: float) -> None:
    torch.manual_seed(seed)
    layer = nn.Linear(6, 9)
    mask = keep_largest(layer.weight.detach().abs(), sparsity)
    l1_unstructured(layer, "weight", amount=round(sparsity * 54))
    assert torch.equal(mask, layer.weight_mask.bool())


def test_movement_scores_follow_one_step() -> None:
    torch.manual_seed(0)
    model = tiny()
    scores = MovementScores(model, ["up"])
    model(TOKENS).square().mean().backward()
    scores.add()
    up = model.blocks[0].feed_forward.up
    w, gradient = up.weight.detach().double(), up.weight.grad.double()
    moved = (w - 1e-6 * gradient).abs() - w.abs()  # a step of descent
    clear = (w.abs() > 1e-3) & (w * gradient != 0)
    assert torch.equal(moved[clear] > 0, scores.scores["blocks.0.feed_forward.up"][clear] > 0)
    masks = scores.masks(0.25)
    prune(model, masks)
    assert (up.weight == 0).float().mean() == pytest.approx(0.25, abs=0.01)
    with pytest.raises(ValueError, match="mask of"):
        prune(model, {"blocks.0.feed_forward.down": masks["blocks.0.feed_forward.up"]})


@given(seeds, st.integers(1, 5))
def test_the_cut_is_the_nearest_of_its_rank(seed: int, rank: int) -> None:
    torch.manual_seed(seed)
    matrix = torch.randn(5, 8, dtype=torch.float64)
    A, B = principal_factors(matrix, rank)
    values = np.linalg.svd(matrix.numpy(), compute_uv=False)
    error = np.linalg.norm(matrix.numpy() - (A @ B).numpy())
    assert error == pytest.approx(np.sqrt((values[rank:] ** 2).sum()), abs=1e-9)


def test_cut_and_shrunken_updates() -> None:
    before, after = tiny(0), tiny(1)
    spectrum = update_spectrum(before, after)
    name = "blocks.1.attention.value"
    change = after.get_submodule(name).weight - before.get_submodule(name).weight
    values = np.linalg.svd(change.detach().numpy(), compute_uv=False)
    np.testing.assert_allclose(spectrum[name], values, rtol=1e-4, atol=1e-6)
    whole = truncated_update(before, after, 16)(TOKENS)
    torch.testing.assert_close(whole, after(TOKENS), atol=1e-4, rtol=1e-3)
    none = truncated_update(before, after, 0)
    assert torch.equal(none.blocks[0].attention.key.weight, before.blocks[0].attention.key.weight)
    assert torch.equal(none.embed.weight, after.embed.weight)
    torch.testing.assert_close(between(before, after, 0.0)(TOKENS), before(TOKENS))
    torch.testing.assert_close(between(before, after, 1.0)(TOKENS), after(TOKENS))
    assert rank_for(0.99, torch.ones(4)) == 4


@given(seeds, st.integers(1, 6), st.integers(1, 5))
def test_completion_loss_is_the_mean_over_the_answers(seed: int, prompt: int, answer: int) -> None:
    torch.manual_seed(seed)
    prompts, lengths = torch.tensor([prompt, 1]), torch.tensor([prompt + answer, 4])
    width = max(int(lengths.max()), 5)
    tokens, logits = torch.randint(9, (2, width)), torch.randn(2, width, 9)
    mask = completion_mask(prompts, lengths, width)
    surprise = [
        -logits[row, t - 1].log_softmax(0)[tokens[row, t]]
        for row in range(2)
        for t in range(int(prompts[row]), int(lengths[row]))
    ]
    got = completion_loss(logits, tokens, mask)
    torch.testing.assert_close(got, torch.stack(surprise).mean())


def test_fine_tuning_lowers_the_loss_and_only_changes_what_it_may() -> None:
    model = add_lora(tiny(), 2, targets=["up", "down"])
    text = torch.arange(2000, dtype=torch.int32) % 7
    rows = windows_of(text, 4, 12)
    frozen = {n: w.clone() for n, w in model.named_parameters() if not w.requires_grad}
    before = loss_on(model, rows)
    losses = []
    fine_tune(
        model, text, 0.05, steps=20, length=12, after_step=lambda _, loss: losses.append(loss)
    )
    assert loss_on(model, rows) < before - 0.1
    assert len(losses) == 20
    for name, weight in model.named_parameters():
        if name in frozen:
            assert torch.equal(weight, frozen[name])


def test_the_rate_warms_up_for_an_eighth_and_falls_to_zero(monkeypatch) -> None:
    rates: list[float] = []

    def step(self: torch.optim.AdamW) -> None:
        rates.append(self.param_groups[0]["lr"])

    monkeypatch.setattr(torch.optim.AdamW, "step", step)
    fine_tune(tiny(), torch.arange(2000, dtype=torch.int32) % 7, 1.0, steps=80, length=12)
    falling = [(80 - step) / 71 for step in range(9, 80)]
    assert rates == pytest.approx([*(step / 10 for step in range(1, 10)), *falling])


def test_no_docstring_is_nearly_learned() -> None:
    parts = split_docstrings()
    assert len(parts.training) > 250
    learned = {
        flat[i : i + 40]
        for text in parts.training.values()
        for flat in [" ".join(text.split())]
        for i in range(len(flat) - 39)
    }
    for text in [*parts.tuning.values(), *parts.test.values()]:
        flat = " ".join(text.split())
        pieces = {flat[i : i + 40] for i in range(len(flat) - 39)}
        assert len(pieces & learned) < 0.8 * len(pieces)


def test_a_docstring_of_which_more_than_a_quarter_was_seen_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A text of 79 letters has 40 stretches of 40; 49 letters of another hold 10 of its own."""
    letters = iter(random.Random(0).choices("abcdefghijklmnopqrstuvwxyz", k=5000))

    def fresh(n: int) -> str:
        return "".join(itertools.islice(letters, n))

    first = fresh(79)
    texts = {"first": first, "a quarter": first[-49:] + fresh(30), "more": first[-50:] + fresh(29)}
    texts["of 40"] = fresh(40)
    texts |= {f"of {k}": fresh(60) for k in range(1, 15)}
    spaced = fresh(9) + " " + fresh(60)
    texts |= {"spaced": spaced, "lined": spaced.replace(" ", "\n    ")}
    monkeypatch.setattr(docstrings, "numpy_docstrings", lambda: texts)
    found = split_docstrings()
    kept = [name for name in texts if name not in ("more", "lined")]
    everything = found.training | found.tuning | found.test
    assert set(everything) == set(kept)
    assert all(texts[name] == text for name, text in everything.items())
    assert list(found.tuning) == kept[3::8]
    assert list(found.test) == kept[7::8]
    tokens = docstring_tokens(BytePairEncoding([]))
    for row, part in zip(tokens, found, strict=True):
        assert torch.equal(row, token_stream(part, BytePairEncoding([])))


def test_docstrings_are_the_same_on_every_python() -> None:
    """Tables and changes were made from these; another NumPy brings others, so train anew then."""
    texts = "".join(f"{name}\0{text}\0" for name, text in numpy_docstrings().items())
    learned_from = "91d762e1a852b876"
    assert hashlib.sha256(texts.encode()).hexdigest()[:16] == learned_from


def test_docstrings_are_those_of_public_names_long_enough_and_tidied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def thing(text: object) -> object:
        return SimpleNamespace(__doc__=text)

    long = "x" * 100 + "\n\n        " + "y" * 98
    inner = SimpleNamespace(b=thing(long), a=thing("z" * 199), c=thing(3), os=itertools)
    outer = SimpleNamespace(inner=inner, b=thing("w" * 200), _hidden=thing("h" * 300))
    monkeypatch.setattr(docstrings, "np", SimpleNamespace(lib=outer, a=thing("q" * 250)))
    monkeypatch.setattr(docstrings, "NAMESPACES", ("lib.inner", "", "lib"))
    tidy = "x" * 100 + "\n\n" + "y" * 98 + "\n"
    wanted = {"a": "q" * 250 + "\n", "lib.b": "w" * 200 + "\n", "lib.inner.b": tidy}
    assert list(numpy_docstrings().items()) == list(wanted.items())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LoRALinear(nn.Linear(3, 4), 0), "rank must be a whole number ≥ 1"),
        (lambda: LoRALinear(nn.Linear(3, 4), 4), "more than a 3 × 4 matrix can have"),
        (lambda: LoRALinear(nn.Linear(3, 4), 1, alpha=-1), "alpha must be"),
        (lambda: LoRALinear(nn.LayerNorm(3), 1), "a linear layer is needed"),
        (lambda: LoRALinear(nn.Linear(3, 4), 1, scaling="alpha"), "scaling must be one of"),
        (lambda: AdapterLinear(nn.Linear(3, 4), 4), "no bottleneck"),
        (lambda: ScaledLinear(nn.Linear(3, 4), "both"), "side must be one of"),
        (lambda: add_lora(tiny(), 2, targets=["q_proj"]), "no linear layer is called 'q_proj'"),
        (lambda: merge_lora(tiny()), "no LoRA layers"),
        (lambda: load_lora_state(add_lora(tiny(), 2), lora_state(add_lora(tiny(), 3))), "another"),
        (
            lambda: load_lora_state(
                add_lora(tiny(), 2), lora_state(add_lora(tiny(), 2, targets=["up"]))
            ),
            "another model",
        ),
        (lambda: keep_largest(torch.tensor([1.0, torch.nan]), 0.5), "must be finite"),
        (lambda: magnitude_masks(tiny(), 1.5), "sparsity"),
        (lambda: update_spectrum(tiny(), gpt2(), ["query"]), "no linear layer"),
        (lambda: between(tiny(), gpt2(), 0.5), "not the same model"),
        (lambda: rank_for(0.9, torch.zeros(3)), "nothing was changed"),
        (lambda: principal_factors(torch.eye(2), 3), "more than"),
        (lambda: matrix_of(LoRALinear(nn.Linear(3, 4), 1)), "no plain matrix"),
        (lambda: completion_mask(torch.tensor([3]), torch.tensor([3]), 4), "at least one token"),
        (lambda: completion_mask(torch.tensor([3]), torch.tensor([5]), 4), "does not fit"),
        (
            lambda: completion_loss(
                torch.zeros(1, 2, 3), torch.zeros(1, 2).long(), torch.zeros(1, 2).bool()
            ),
            "no token counts",
        ),
        (
            lambda: completion_loss(
                torch.zeros(1, 2, 3), torch.zeros(1, 2).long(), torch.ones(1, 2).bool()
            ),
            "predicted from nothing",
        ),
    ],
)
def test_bad_input_is_refused_in_words(call, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_a_run_that_cannot_learn_says_why() -> None:
    model = tiny()
    model.requires_grad_(False)
    text = torch.arange(500, dtype=torch.int32) % 7
    with pytest.raises(ValueError, match="every parameter is frozen"):
        fine_tune(model, text, 0.01, length=12)
    assert linear_layers(model)
    wild = tiny()
    wild.embed.weight.data.fill_(torch.inf)
    with pytest.raises(ValueError, match=r"no number|must be finite"):
        fine_tune(wild, text, 0.01, length=12)


def test_random_starts_are_even_between_two_equal_bounds() -> None:
    torch.manual_seed(0)
    layer = LoRALinear(nn.Linear(400, 300), 100, start="both random")
    bounds = 1 / 20, 1 / 10  # one over √400, over √100
    for factor, bound in zip((layer.A.detach(), layer.B.detach()), bounds, strict=True):
        assert -bound <= float(factor.min()) < -0.99 * bound
        assert 0.99 * bound < float(factor.max()) <= bound
        assert float(factor.std()) == pytest.approx(bound / 3**0.5, rel=0.02)
