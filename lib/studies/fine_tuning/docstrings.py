"""Train the change to NumPy's docstrings that comes with the book, half a minute on one core.

``python -m studies fine_tuning.docstrings`` writes ``docstrings-lora.safetensors`` of
:mod:`primer.fine_tuning`, which widgets put beside the model.
"""

from __future__ import annotations

import torch

from primer.fine_tuning.docstrings import docstring_tokens
from primer.fine_tuning.lora_models import add_lora
from primer.fine_tuning.stored import DOCSTRINGS, pack_lora
from primer.fine_tuning.tuning import fine_tune
from primer.saving import write_whole
from primer.transformers import load_pretrained

RANK, RATE, STEPS = 8, 5e-3, 240


def main(_: list[str] | None = None) -> None:
    """Train the change that comes with the book, and store it."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    base, tokenizer = load_pretrained("plays-2")
    model = add_lora(base, RANK)
    fine_tune(model, docstring_tokens(tokenizer).training, RATE, steps=STEPS)
    data = pack_lora(model)
    write_whole(DOCSTRINGS, data)
    print(f"{DOCSTRINGS.name}: {len(data):,} bytes")
