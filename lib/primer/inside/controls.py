r"""Two other models with the same shape: one that says the same, and one that says nothing."""

from __future__ import annotations

import dataclasses

import torch
from jaxtyping import Float
from torch import Tensor

from primer.inputs import checked
from primer.transformers import RMSNorm, Transformer


@torch.no_grad()
@checked
def shuffled_weights(
    model: Transformer, generator: torch.Generator, *, embedding: bool = False
) -> Transformer:
    """Copy a model with the entries of each matrix in random order.

    Every matrix keeps its numbers, their mean and spread; what was learned is gone.  The norms'
    gains stay where they are.

    Parameters
    ----------
    model : Transformer
        Stays as it is.
    generator : torch.Generator
        Draws the orders.
    embedding : bool
        Whether the table of tokens is shuffled, too.

    Returns
    -------
    Transformer
        In evaluation mode.

    References
    ----------
    Adebayo et al. (2018), "Sanity checks for saliency maps"; Heap et al. (2025).

    Examples
    --------
    >>> from primer.transformers import load_pretrained
    >>> model, _ = load_pretrained("plays")
    >>> other = shuffled_weights(model, torch.Generator().manual_seed(0))
    >>> torch.equal(other.embed.weight, model.embed.weight)
    True
    """
    weights = {}
    for name, weight in model.state_dict().items():
        if name == "head.weight" and model.config.tied_embeddings:
            continue
        kept = weight.ndim < 2 or (name.startswith(("embed.", "head.")) and not embedding)
        order = None if kept else torch.randperm(weight.numel(), generator=generator)
        weights[name] = weight if order is None else weight.flatten()[order].view_as(weight)
    return Transformer.from_weights(model.config, weights).eval()


@torch.no_grad()
@checked
def turned(model: Transformer, rotation: Float[Tensor, "d d"]) -> Transformer:
    r"""Copy a model with its whole stream turned: every state is another, every logit the same.

    .. math:: x \to xQ, \qquad W_\text{read} \to Q^\top\operatorname{diag}(\gamma)\,W_\text{read},
              \qquad W_\text{write} \to W_\text{write}\,Q

    The norms' gains :math:`\gamma` are folded into the matrices that read, since
    :math:`\lVert xQ\rVert = \lVert x\rVert` but gains belong to coordinates.

    Parameters
    ----------
    model : Transformer
        A pre-norm model with RMSNorm, SwiGLU, no biases, and positions that are not added.
    rotation : Tensor of shape (d, d)
        Q, orthogonal.

    Returns
    -------
    Transformer
        In evaluation mode, its output matrix no longer tied to its table.

    Raises
    ------
    ValueError
        When Q is not orthogonal, or the model has another form.

    References
    ----------
    Elhage et al. (2021), on bases of the residual stream; Ashkboos et al. (2024).

    Examples
    --------
    >>> from primer.transformers import load_pretrained
    >>> model, _ = load_pretrained("plays")
    >>> q, _ = torch.linalg.qr(torch.randn(128, 128, generator=torch.Generator().manual_seed(0)))
    >>> tokens = torch.tensor([[5, 6, 7]])
    >>> torch.allclose(turned(model, q)(tokens), model(tokens), atol=1e-3)
    True
    """
    config = model.config
    if (config.norm, config.norm_position, config.feed_forward, config.bias) != (
        "rms",
        "pre",
        "swiglu",
        False,
    ) or config.positions in ("learned", "sinusoidal"):
        raise ValueError(
            "only a pre-norm model with RMSNorm, SwiGLU, no biases and rotary positions, ALiBi or "
            "none can be turned"
        )
    eye = torch.eye(config.d_model, dtype=rotation.dtype)
    if rotation.shape != eye.shape or not torch.allclose(rotation.T @ rotation, eye, atol=1e-4):
        raise ValueError(f"rotation must be an orthogonal matrix of {config.d_model} rows")
    own, weights = model.state_dict(), {}
    gains = {name: weight for name, weight in own.items() if weight.ndim == 1}
    for name, weight in own.items():
        if name in gains:
            weights[name] = torch.ones_like(weight)
        elif name == "embed.weight":
            weights[name] = weight @ rotation
        elif name.endswith(("attention.output.weight", "down.weight")):
            weights[name] = rotation.T @ weight
        else:
            block, _, part = name.partition(".attention.")
            block = block if part else name.partition(".feed_forward.")[0]
            gain = f"{block}.norm{1 if part else 2}.weight"
            weights[name] = (
                weight * gains["norm.weight" if name == "head.weight" else gain] @ rotation
            )
    assert isinstance(model.norm, RMSNorm)
    free = dataclasses.replace(config, tied_embeddings=False)
    return Transformer.from_weights(free, weights).eval()
