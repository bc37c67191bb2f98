"""A short training run on new text, the same for every method, and two losses to judge it by."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from primer.inputs import Positive, Steps, checked
from primer.inputs import tokens as token_ids
from primer.train import Batches
from primer.train.evaluation import cut_windows


@checked
def fine_tune(
    model: nn.Module,
    tokens: Int[Tensor, " tokens"],
    learning_rate: Positive,
    seed: int = 0,
    steps: Steps = 60,
    *,
    length: int = 64,
    after_step: Callable[[int, float], None] | None = None,
) -> nn.Module:
    r"""Train what may be trained of a model on a row of tokens.

    Four windows a step, AdamW with β = (0.9, 0.98) and no decay, gradients cut at norm 1; the
    learning rate rises over the first eighth of the steps and falls to zero along a line.

    Parameters
    ----------
    model : nn.Module
        Only parameters that ask for a gradient are changed; in place.
    tokens : Tensor of int
        From :func:`primer.train.token_stream`.
    learning_rate : float
        The highest learning rate.
    seed : int
        Which windows are read.
    steps, length : int
        Steps, and tokens of a window.
    after_step : callable, optional
        Is told the step and its loss before the optimizer moves.

    Returns
    -------
    nn.Module
        The same model.

    Raises
    ------
    ValueError
        When nothing may be trained, a token is none of the model's, or the loss stops being a
        number.
    """
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    if not trained:
        raise ValueError("nothing may be trained: every parameter is frozen")
    if (config := getattr(model, "config", None)) is not None:
        token_ids("tokens", tokens, config.vocab_size)
    batches = Batches(tokens, length, batch_size=4, seed=seed)
    optimizer = torch.optim.AdamW(trained, lr=learning_rate, betas=(0.9, 0.98), weight_decay=0.0)
    warm = max(steps // 8, 1)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * min(
                (step + 1) / warm, (steps - step) / (steps - warm + 1)
            )
        rows = batches.at(step)
        loss = cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        if not bool(torch.isfinite(loss)):
            raise ValueError(
                f"the loss is no number at step {step}: lower the rate of {learning_rate:g}"
            )
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trained, 1.0)
        if after_step is not None:
            after_step(step, float(loss.detach()))
        optimizer.step()
    optimizer.zero_grad()
    return model


@checked
def windows_of(
    tokens: Int[Tensor, " tokens"], windows: int = 16, length: int = 256
) -> Int[Tensor, "windows targets"]:
    """Cut the same windows for every model that is compared, spread evenly over the text.

    Examples
    --------
    >>> windows_of(torch.arange(10), windows=2, length=3)
    tensor([[0, 1, 2, 3],
            [6, 7, 8, 9]])
    """
    return cut_windows(tokens, length, windows)


@checked
@torch.no_grad()
def loss_on(model: nn.Module, rows: Int[Tensor, "windows targets"]) -> float:
    """Measure nats per token on given windows."""
    logits = model(rows[:, :-1])
    targets = token_ids("rows", rows, logits.shape[-1])[:, 1:]
    return float(cross_entropy(logits.flatten(0, 1), targets.flatten()))
