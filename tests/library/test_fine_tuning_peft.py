"""LoRA and (IA)³ against peft, with its weights copied."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from peft import IA3Config, LoraConfig, get_peft_model
from peft.tuners.lora.layer import Linear
from tiny_llama import llama
from torch import nn

from primer.fine_tuning import LoRALinear, ScaledLinear, add_ia3, trainable_numbers

TOKENS = torch.arange(12).reshape(1, 12)


@pytest.mark.parametrize("scaling", ["alpha/r", "alpha/sqrt(r)"])
@pytest.mark.parametrize(("seed", "rank", "alpha"), [(0, 1, 8.0), (1, 3, 0.5), (2, 5, 16.0)])
def test_lora_is_pefts(seed: int, rank: int, alpha: float, scaling: str) -> None:
    torch.manual_seed(seed)
    base = nn.Linear(7, 5)
    config = LoraConfig(r=rank, lora_alpha=alpha, use_rslora=scaling == "alpha/sqrt(r)")
    theirs = Linear(copy.deepcopy(base), adapter_name="a", config=config, r=rank, lora_alpha=alpha)
    ours = LoRALinear(copy.deepcopy(base), rank, alpha, scaling)
    with torch.no_grad():
        ours.B.normal_()
        B, A = ours.column_factors()
        theirs.lora_A["a"].weight.copy_(A)
        theirs.lora_B["a"].weight.copy_(B)
        x = torch.randn(3, 7)
        torch.testing.assert_close(ours(x), theirs(x), atol=1e-6, rtol=1e-5)
        ours.merge()
        theirs.merge()
        torch.testing.assert_close(ours.base.weight, theirs.base_layer.weight, atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(ours(x), theirs(x), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize(("seed", "rank"), [(0, 1), (1, 3), (2, 5)])
def test_the_svd_start_is_pefts_and_changes_nothing(seed: int, rank: int) -> None:
    torch.manual_seed(seed)
    base = nn.Linear(7, 5)
    config = LoraConfig(r=rank, lora_alpha=2 * rank, init_lora_weights="pissa")
    theirs = Linear(
        copy.deepcopy(base), adapter_name="a", config=config, r=rank, lora_alpha=2 * rank
    )
    ours = LoRALinear(copy.deepcopy(base), rank, start="svd")
    x = torch.randn(3, 7)
    torch.testing.assert_close(ours(x), base(x), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(ours.update().T, theirs.get_delta_weight("a"), atol=1e-5, rtol=1e-4)
    assert np.linalg.matrix_rank(ours.update().numpy(), tol=1e-5) == rank


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")
def test_ia3_is_pefts() -> None:
    base = llama()
    config = IA3Config(
        target_modules=["k_proj", "v_proj", "down_proj"], feedforward_modules=["down_proj"]
    )
    theirs = get_peft_model(copy.deepcopy(base), config)
    ours = add_ia3(base, ("k_proj", "v_proj"), ("down_proj",))
    assert trainable_numbers(ours) == trainable_numbers(theirs)
    torch.manual_seed(1)
    scaled = {n: m for n, m in ours.named_modules() if isinstance(m, ScaledLinear)}
    for name, layer in scaled.items():
        layer.vector.data.normal_(1, 0.3)
        peer = theirs.get_submodule(f"base_model.model.{name}").ia3_l["default"]
        peer.data.copy_(layer.vector.data.reshape(peer.shape))
    with torch.no_grad():
        torch.testing.assert_close(ours(TOKENS).logits, theirs(TOKENS).logits, atol=1e-6, rtol=1e-5)
