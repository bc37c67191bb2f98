"""Training our transformer beside Hugging Face's with the same weights, form and optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from benchmarks.table import Row, alternating_seconds
from primer.train import make_optimizer
from primer.transformers import Transformer, load_gpt2, load_llama

BATCH, CONTEXT, VOCAB_SIZE = 8, 256, 1024
LAYERS, WIDTH, HEADS, HIDDEN = 4, 128, 4, 344  # the shape of the book's model
NO_TOKENS = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}


def gpt2_pair() -> tuple[Transformer, GPT2LMHeadModel]:
    """Build a GPT-2 of the size of the book's model, ours and Hugging Face's."""
    theirs = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=VOCAB_SIZE,
            n_positions=CONTEXT,
            n_embd=WIDTH,
            n_layer=LAYERS,
            n_head=HEADS,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            resid_pdrop=0.0,
            **NO_TOKENS,
        )
    )
    return load_gpt2(theirs.state_dict(), theirs.config), theirs.eval()


def llama_pair() -> tuple[Transformer, LlamaForCausalLM]:
    """Build a Llama of exactly the shape of the book's model, ours and Hugging Face's."""
    theirs = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCAB_SIZE,
            max_position_embeddings=CONTEXT,
            hidden_size=WIDTH,
            intermediate_size=HIDDEN,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            tie_word_embeddings=True,
            **NO_TOKENS,
        )
    )
    return load_llama(theirs.state_dict(), theirs.config), theirs.eval()


PAIRS = {"GPT-2": gpt2_pair, "Llama": llama_pair}


def rows() -> Iterator[Row]:
    """Time whole steps of training: forward, backward, clipping, AdamW."""
    draws = torch.Generator().manual_seed(0)
    batch = torch.randint(VOCAB_SIZE, (BATCH, CONTEXT + 1), generator=draws)
    for name, pair in PAIRS.items():
        ours, theirs = pair()
        seconds = alternating_seconds(
            training_step(ours, ours, batch),
            training_step(theirs, lambda ids, model=theirs: model(ids).logits, batch),
        )
        millions = sum(p.numel() for p in ours.parameters()) / 1e6
        yield Row(
            f"training a {name} of {millions:.2f} M parameters, tokens/s",
            BATCH * CONTEXT / seconds[0],
            BATCH * CONTEXT / seconds[1],
            "Hugging Face transformers; more is better",
            unit="t/s",
        )


def training_step(
    model: nn.Module, logits: Callable[[Tensor], Tensor], batch: Tensor
) -> Callable[[], None]:
    """Make a function that trains the model once, as :mod:`primer.train` does."""
    model.train()
    optimizer = make_optimizer(model)
    for group in optimizer.param_groups:
        group["lr"] = 1e-4

    def step() -> None:
        read = logits(batch[:, :-1])  # (batch, context, vocab)
        cross_entropy(read.flatten(0, 1), batch[:, 1:].flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return step
