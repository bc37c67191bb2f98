"""Tuning few numbers beside tuning all and beside peft; quantizing beside torch."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator

import torch
from peft import LoraConfig, get_peft_model
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from benchmarks.bench_transformers import VOCAB_SIZE, llama_pair
from benchmarks.table import Row, alternating_seconds
from primer import eight_bits
from primer.fine_tuning import NF4, add_lora, integer_codebook, quantize, trainable_numbers
from primer.transformers import load_pretrained

BATCH, CONTEXT, RANK = 8, 128, 8
SIDE, BLOCK = 2048, 64
PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def rows() -> Iterator[Row]:
    """Time whole steps of tuning, then gigabytes of weights in a second."""
    warnings.filterwarnings("ignore", "torch.quantize_per_tensor", UserWarning)
    warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
    yield from _steps()
    yield from _bits()


def _steps() -> Iterator[Row]:
    """Time a LoRA step on the book's model and on Hugging Face's Llama of the same shape."""
    draws = torch.Generator().manual_seed(0)
    batch = torch.randint(VOCAB_SIZE, (BATCH, CONTEXT + 1), generator=draws)
    whole = load_pretrained("plays")[0].requires_grad_(True)
    small = add_lora(copy.deepcopy(whole), RANK)
    seconds = alternating_seconds(_step(small, small, batch), _step(whole, whole, batch))
    yield Row(
        f"a step on {trainable_numbers(small):,} numbers, LoRA of rank {RANK}, tokens/s",
        BATCH * CONTEXT / seconds[0],
        BATCH * CONTEXT / seconds[1],
        f"the same step on all {trainable_numbers(whole):,}; more is better",
        unit="t/s",
    )
    model = llama_pair()[1]
    config = LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules=PROJECTIONS)
    theirs = get_peft_model(copy.deepcopy(model), config).eval()
    ours = add_lora(model, RANK, targets=PROJECTIONS)
    assert trainable_numbers(ours) == trainable_numbers(theirs)
    seconds = alternating_seconds(
        _step(ours, lambda ids: ours(ids).logits, batch),
        _step(theirs, lambda ids: theirs(ids).logits, batch),
    )
    yield Row(
        f"the same on Hugging Face's Llama, LoRA of rank {RANK}, tokens/s",
        BATCH * CONTEXT / seconds[0],
        BATCH * CONTEXT / seconds[1],
        "peft; more is better",
        unit="t/s",
    )


def _step(
    model: nn.Module, logits: Callable[[Tensor], Tensor], batch: Tensor
) -> Callable[[], object]:
    """Return one step of tuning: forward, backward, AdamW on what may be changed."""
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4)

    def step() -> object:
        loss = cross_entropy(logits(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        return optimizer.step()

    return step


def _bits() -> Iterator[Row]:
    """Time the way to few bits and back, beside torch's own eight bits."""
    weights = torch.randn(SIDE, SIDE, generator=torch.Generator().manual_seed(0))
    gigabytes = weights.numel() * 4 / 1e9
    blocks = weights.reshape(-1, BLOCK)

    def theirs(rows: Tensor) -> Tensor:
        scales = rows.abs().amax(dim=1) / 127
        zeros = torch.zeros(len(rows), dtype=torch.int64)
        return torch.quantize_per_channel(rows, scales, zeros, 0, torch.qint8)

    stored = eight_bits.quantize(weights)
    apart = stored[0].int() - theirs(weights).int_repr().int()
    assert apart.abs().max() <= 1  # torch multiplies by the inverse: a half may fall elsewhere
    eight = "int8, a unit for each row"
    codes = {f"int8 in blocks of {BLOCK}": integer_codebook(8), f"NF4 in blocks of {BLOCK}": NF4}
    ways: dict[str, tuple[Callable[[], object], Callable[[], object], Tensor]] = {
        eight: (
            lambda: eight_bits.quantize(weights),
            lambda: eight_bits.dequantize(*stored),
            weights,
        )
    }
    for name, code in codes.items():
        packed = quantize(weights, code, BLOCK)
        ways[name] = (
            lambda code=code: quantize(weights, code, BLOCK),
            lambda packed=packed: packed.dequantize(),
            blocks,
        )
    for name, (there, back, grouped) in ways.items():
        packed_by_torch = theirs(grouped)
        for what, ours, peer in (
            ("quantize", there, lambda grouped=grouped: theirs(grouped)),
            ("dequantize", back, lambda whole=packed_by_torch: whole.dequantize()),
        ):
            seconds = alternating_seconds(ours, peer)
            yield Row(
                f"{what} {name}, of float32",
                gigabytes / seconds[0],
                gigabytes / seconds[1],
                "torch.quantize_per_channel, int8; more is better",
                unit="GB/s",
            )
