"""Changes of weights that two layers share, states for another scale, codes of half precision."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from primer.fine_tuning import (
    FP4_E2M1,
    FP8_E4M3,
    NF4,
    Codebook,
    add_adapters,
    add_ia3,
    add_lora,
    completion_loss,
    dequantize_layers,
    double_quantize,
    fold_ia3,
    integer_codebook,
    load_lora_state,
    lora_layers,
    lora_state,
    magnitude_masks,
    merge_lora,
    prune,
    quantize,
    quantize_layers,
    rank_for,
    truncated_update,
)
from primer.fine_tuning.stored import turned
from primer.transformers import Transformer, TransformerConfig

TEXT = torch.tensor([[1, 2, 3, 4]])


def tiny(tied: bool = True) -> Transformer:
    """Build a small model whose output layer is the embedding, or is not."""
    torch.manual_seed(0)
    return Transformer(
        TransformerConfig(
            vocab_size=11,
            n_layers=1,
            d_model=8,
            n_heads=2,
            context_length=9,
            tied_embeddings=tied,
        )
    ).eval()


def with_lora(model: Transformer, **settings: object) -> nn.Module:
    """Give the output layer a change that is not 0."""
    add_lora(model, 4, targets=["head"], **settings)  # type: ignore[arg-type]
    for layer in lora_layers(model).values():
        layer.B.data.normal_()
    return model


def factors() -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """Give a change of the output layer, as it is stored."""
    return {"head": (torch.ones(8, 1), torch.ones(1, 11))}


CHANGES: dict[str, Callable[[Transformer], object]] = {
    "merge": lambda model: merge_lora(with_lora(model)),
    "merge one": lambda model: lora_layers(with_lora(model))["head"].merge(),
    "svd": lambda model: with_lora(model, start="svd"),
    "fold": lambda model: fold_ia3(add_ia3(model, outputs=("head",), inputs=())),
    "prune": lambda model: prune(model, magnitude_masks(model, 0.5, ["head"])),
    "cut": lambda model: truncated_update(model, model, 1, ["head"]),
    "turn": lambda model: turned(model, factors(), 1.0, 1),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_tied_weight_is_changed_for_one_layer_alone_or_not_at_all(name: str) -> None:
    model = tiny()
    before = model.embed.weight.detach().clone()
    with pytest.raises(ValueError, match=r"shares its weight with embed\.weight"):
        CHANGES[name](model)
    assert torch.equal(model.embed.weight, before)
    CHANGES[name](tiny(tied=False))


def test_with_a_copy_of_its_own_a_layer_is_merged_right() -> None:
    model = with_lora(tiny())
    base = model.head.base  # type: ignore[union-attr]
    base.weight = nn.Parameter(base.weight.detach().clone())  # type: ignore[union-attr, operator]
    said = model(TEXT).detach()
    torch.testing.assert_close(merge_lora(model)(TEXT).detach(), said, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("way", ["adapters", "quantized", "lora"])
def test_what_stands_beside_a_tied_weight_leaves_the_embedding(way: str) -> None:
    model = tiny()
    before = model.embed.weight.detach().clone()
    if way == "adapters":
        add_adapters(model, 2, ("head",))
    elif way == "lora":
        with_lora(model)
    else:
        said = quantize_layers(model, ["head"])(TEXT).detach()
        torch.testing.assert_close(dequantize_layers(model)(TEXT).detach(), said)
    assert torch.equal(model.embed.weight, before)


class Twice(nn.Module):
    """A layer that is used in two places."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = self.a

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply it twice."""
        return self.b(self.a(x))


def test_a_layer_in_two_places_stays_one() -> None:
    torch.manual_seed(0)
    model, x = add_lora(Twice(), 2, targets=["a"]), torch.randn(3, 4)
    for layer in lora_layers(model).values():
        layer.B.data.normal_()
    assert model.a is model.b
    said = model(x).detach()
    merged = merge_lora(model)
    assert type(merged.b) is nn.Linear
    torch.testing.assert_close(merged(x).detach(), said)
    folded = add_ia3(Twice(), outputs=("a",), inputs=())
    folded.a.vector.data.fill_(2.0)  # type: ignore[union-attr]
    said = folded(x).detach()
    torch.testing.assert_close(fold_ia3(folded)(x).detach(), said)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"alpha": 8.0}, {"alpha": 4.0}),
        ({}, {"scaling": "alpha/sqrt(r)"}),
        ({"start": "svd"}, {}),
    ],
)
def test_factors_for_another_scale_or_base_are_refused(
    theirs: dict[str, object], ours: dict[str, object]
) -> None:
    state = lora_state(add_lora(tiny(), 2, **theirs))  # type: ignore[arg-type]
    model = add_lora(tiny(), 2, **ours)  # type: ignore[arg-type]
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(ValueError, match="these factors were trained with scale"):
        load_lora_state(model, state)
    assert all(torch.equal(before[name], weight) for name, weight in model.state_dict().items())
    load_lora_state(add_lora(tiny(), 2, **theirs), state)  # type: ignore[arg-type]


BOOKS = [NF4, FP4_E2M1, FP8_E4M3, integer_codebook(8), integer_codebook(3), Codebook("x", (-1, 1))]


@given(
    st.sampled_from(BOOKS),
    st.sampled_from([torch.bfloat16, torch.float16, torch.float32, torch.float64]),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-5, 1.0, 1e4]),
)
def test_codes_are_the_nearest_in_every_precision(
    book: Codebook, dtype: torch.dtype, seed: int, size: float
) -> None:
    random = torch.Generator().manual_seed(seed)
    x = (size * torch.randn(640, generator=random, dtype=torch.float64)).to(dtype)
    stored = quantize(x, book, 64)
    blocks = x.double().reshape(-1, 64)
    largest = blocks.abs().amax(1, keepdim=True)
    apart = (
        (blocks / largest).flatten()[:, None] - torch.tensor(book.values, dtype=torch.float64)
    ).abs()
    chosen = apart.gather(1, stored.codes().long()[:, None])[:, 0]
    assert bool((chosen <= apart.amin(1) + 1e-15).all())
    assert stored.scales().dtype == torch.promote_types(dtype, torch.float32)
    torch.testing.assert_close(stored.scales().double(), largest[:, 0])
    assert double_quantize(stored).mean == pytest.approx(float(largest.mean()), rel=1e-5)


@pytest.mark.parametrize("behind", [-100, 10**6])
def test_tokens_that_do_not_count_may_be_anything(behind: int) -> None:
    logits = torch.randn(1, 3, 5, generator=torch.Generator().manual_seed(0), requires_grad=True)
    mask = torch.tensor([[False, True, False]])
    for dtype in (torch.int32, torch.int64):
        tokens = torch.tensor([[behind, 3, behind]], dtype=dtype)
        expected = -logits[0, 0].log_softmax(-1)[3]
        torch.testing.assert_close(completion_loss(logits, tokens, mask), expected)


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_the_rank_of_a_share_has_no_unit(unit: float) -> None:
    values = unit * torch.tensor([3.0, 1.0, 0.5], dtype=torch.float64)
    assert [rank_for(share, values) for share in (0.8, 0.95, 0.99)] == [1, 2, 3]
