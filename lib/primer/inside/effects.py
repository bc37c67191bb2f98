r"""What a part gives: two runs, one swap, and the share of their difference that it carries."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.attention import Only
from primer.inputs import checked
from primer.inputs import tokens as token_ids
from primer.inputs.given import given
from primer.inside.activation_patching import check_names, patched, record, swap
from primer.transformers import RMSNorm, Transformer


class Share(NamedTuple):
    """A share of what a corruption does, and its standard error over prompts.

    Attributes
    ----------
    value : float
        1 where all of it is restored, or destroyed; 0 where nothing is.
    error : float
        Its standard error, by linearization.
    """

    value: float
    error: float


@checked
def logit_difference(
    logits: Float[Tensor, "batch vocab"], right: Int[Tensor, " batch"], wrong: Int[Tensor, " batch"]
) -> Float[Tensor, " batch"]:
    r"""Compute by how much a model prefers one token to another.

    .. math:: m = z_\text{right} - z_\text{wrong}
              = \log p_\text{right} - \log p_\text{wrong}

    Parameters
    ----------
    logits : Tensor of shape (batch, vocab)
        z, at one place of each text.
    right, wrong : Tensor of int of shape (batch,)
        The tokens.

    Returns
    -------
    Tensor of shape (batch,)
        In nats.  Unlike a probability it does not saturate.

    Raises
    ------
    ValueError
        When a token is not in the vocabulary.

    References
    ----------
    Zhang and Nanda (2023), who compare it with probabilities.

    Examples
    --------
    >>> logit_difference(torch.tensor([[1.0, 3.0]]), torch.tensor([1]), torch.tensor([0]))
    tensor([2.])
    """
    right = token_ids("right", right, logits.shape[1])
    wrong = token_ids("wrong", wrong, logits.shape[1])
    rows = torch.arange(len(logits))
    return logits[rows, right] - logits[rows, wrong]


@checked
def share(
    patched: Float[Tensor, " batch"],
    corrupted: Float[Tensor, " batch"],
    clean: Float[Tensor, " batch"],
) -> Share:
    r"""Compute which share of the difference between two runs a patch bridges.

    .. math::
        s = \frac{\overline{m_\text{patched}} - \overline{m_\text{corrupted}}}
                 {\overline{m_\text{clean}} - \overline{m_\text{corrupted}}}, \qquad
        \mathrm{se} = \frac{\operatorname{sd}(n_i - s\,d_i)}{\sqrt B\;|\overline d|}

    with :math:`n_i` and :math:`d_i` the numerator and denominator of prompt i.  With the clean run
    patched into the corrupted one it says whether a part is *enough*.  For whether it is *needed*,
    patch the corrupted run into the clean one, and change the roles of the two runs.

    Parameters
    ----------
    patched, corrupted, clean : Tensor of shape (batch,)
        The measure m of each prompt.

    Returns
    -------
    Share
        A ratio of means with its error.

    Raises
    ------
    ValueError
        When the corruption changes nothing, or there are fewer than two prompts.

    References
    ----------
    Heimersheim and Nanda (2024); Cochran (1977), *Sampling techniques*, for ratios.

    Examples
    --------
    >>> corrupted, clean = torch.zeros(2), torch.tensor([2.0, 4.0])
    >>> share(torch.tensor([1.0, 2.0]), corrupted, clean)
    Share(value=0.5, error=0.0)
    """
    if len(clean) < 2:
        raise ValueError(f"an error over prompts needs two prompts, got {len(clean)}")
    gained, whole = patched.double() - corrupted.double(), clean.double() - corrupted.double()
    if abs(float(whole.mean())) <= 1e-9 * float(clean.abs().mean() + corrupted.abs().mean()):
        raise ValueError("the corruption changes nothing on average: there is nothing to share")
    value = gained.mean() / whole.mean()
    spread = (gained - value * whole).std() / (math.sqrt(len(whole)) * whole.mean().abs())
    return Share(float(value), float(spread))


@torch.enable_grad()
@checked
def first_order(
    model: Transformer,
    clean: Int[Tensor, "batch seq"],
    corrupted: Int[Tensor, "batch seq"],
    measure: Callable[[Tensor], Tensor],
    names: Sequence[str],
) -> dict[str, Tensor]:
    r"""Estimate by one gradient what every part would destroy if it came from the other run.

    .. math:: m(a) - m(a + \delta) \approx -\delta\cdot\nabla_a m, \qquad
              \delta = a_\text{corrupted} - a_\text{clean}

    Two runs and one backward pass, for all parts at once.  It is exact for small :math:`\delta` and
    may be far off where a softmax saturates in between.

    Parameters
    ----------
    model : Transformer
        The model.
    clean, corrupted : Tensor of int of shape (batch, seq)
        The two runs.
    measure : callable
        From logits of shape (batch, 1, vocab), those of the last place, to a number for each text.
    names : sequence of str
        Of activations.

    Returns
    -------
    dict of str to Tensor
        For each text the sum over width and places, (batch, heads), where the activation has
        heads; over width alone, (batch, seq), elsewhere.

    Raises
    ------
    ValueError
        When the runs differ in length, or a name is none of this model's.

    References
    ----------
    Nanda (2023), "Attribution patching"; Kramár et al. (2024).

    Examples
    --------
    >>> from primer.transformers import load_pretrained
    >>> model, _ = load_pretrained("plays")
    >>> one, two = torch.tensor([[5, 6, 7]]), torch.tensor([[8, 6, 7]])
    >>> found = first_order(model, one, two, lambda z: z[:, -1, 3], ["blocks.0.attention.heads"])
    >>> found["blocks.0.attention.heads"].shape
    torch.Size([1, 4])
    """
    _same_length(clean, corrupted)
    check_names(model, names)
    if not names:
        raise ValueError("names is empty: there is no activation to estimate anything for")
    other, own = record(model, corrupted, names), dict[str, Tensor]()

    def observe(name: str, x: Tensor) -> Tensor:
        own[name] = x if x.requires_grad else x.detach().requires_grad_()
        return own[name]

    values = measure(model(clean, n_last=1, observe=Only(names, observe)))
    if not isinstance(values, Tensor) or values.shape != clean.shape[:1] or values.grad_fn is None:
        raise ValueError(
            f"measure must compute from the logits a number for each text, a tensor of shape "
            f"{tuple(clean.shape[:1])} with a gradient, got {given(values)}"
        )
    slopes = torch.autograd.grad(values.sum(), [own[name] for name in names])
    found = {}
    for name, slope in zip(names, slopes, strict=True):
        product = -((other[name] - own[name].detach()) * slope).sum(-1)
        found[name] = product.sum(-1) if slope.ndim == 4 else product
    return found


@torch.no_grad()
@checked
def direct_path(
    model: Transformer,
    clean: Int[Tensor, "batch seq"],
    corrupted: Int[Tensor, "batch seq"],
    sender: tuple[int, int],
    receivers: Sequence[tuple[int, int]],
    kind: str = "keys",
) -> Float[Tensor, "batch vocab"]:
    r"""Corrupt one head's output only where some later heads read it.

    Everything else that these heads read, and all other parts, stay as the clean run has them; what
    comes after the receivers is computed anew.

    Parameters
    ----------
    model : Transformer
        A pre-norm model.
    clean, corrupted : Tensor of int of shape (batch, seq)
        The two runs.
    sender : pair of int
        Block and head.
    receivers : sequence of pairs of int
        Blocks, all later than the sender's, and heads; with grouped queries, key and value heads.
    kind : {"queries", "keys", "values"}
        What of the receivers.

    Returns
    -------
    Tensor of shape (batch, vocab)
        Logits at the last place.

    Raises
    ------
    ValueError
        When the runs differ in length, a receiver is not later than the sender, or there is no such
        head or kind.

    References
    ----------
    Goldowsky-Dill et al. (2023); Wang et al. (2022), "path patching".

    Examples
    --------
    >>> from primer.transformers import load_pretrained
    >>> model, _ = load_pretrained("plays")
    >>> text = torch.tensor([[5, 6, 7]])
    >>> logits = direct_path(model, text, text, (0, 1), [(1, 2)])
    >>> torch.allclose(logits, model(text)[:, -1], atol=1e-4)  # nothing to corrupt
    True
    """
    _same_length(clean, corrupted)
    if kind not in ("queries", "keys", "values"):
        raise ValueError(f"kind must be one of 'queries', 'keys', 'values', got {kind!r}")
    (block, head), heads = sender, model.config.n_heads
    if not (0 <= block < model.config.n_layers and 0 <= head < heads):
        raise ValueError(f"there is no head {block}.{head}")
    if model.config.norm_position != "pre":
        raise ValueError("a path needs a stream that parts only add to: a pre-norm model")
    layers = sorted({layer for layer, _ in receivers})
    if not layers or layers[0] <= block or layers[-1] >= model.config.n_layers:
        raise ValueError(
            f"receivers must stand in blocks {block + 1} … {model.config.n_layers - 1}"
        )
    name = f"blocks.{block}.attention.heads"
    change = (record(model, corrupted, [name])[name] - record(model, clean, [name])[name])[:, head]
    d_head = model.config.d_head
    output = model.get_parameter(f"blocks.{block}.attention.output.weight")
    columns = output[:, head * d_head : (head + 1) * d_head]
    written = change @ columns.T  # (batch, seq, d_model)
    patches = {}
    for layer in layers:
        place = f"blocks.{layer}.attention.{kind}"
        before = {f"blocks.{layer}.before": lambda x: x + written}
        changed = record(model, clean, [place], before)[place]
        patches[place] = swap(changed, heads=[h for other, h in receivers if other == layer])
    return patched(model, clean, patches, n_last=1)[:, -1]


@torch.no_grad()
@checked
def direct_logits(
    model: Transformer,
    tokens: Int[Tensor, "batch seq"],
    right: Int[Tensor, " batch"],
    wrong: Int[Tensor, " batch"],
) -> dict[str, Float[Tensor, " batch"]]:
    r"""Split a difference of logits at the last place into what each part wrote there.

    .. math::
        z_\text{right} - z_\text{wrong} = \sum_\text{parts} x_\text{part} \cdot
        \frac{\gamma \odot (u_\text{right} - u_\text{wrong})}{\operatorname{rms}(x)}

    The last norm's factor is taken as it is in this run.

    Parameters
    ----------
    model : Transformer
        A pre-norm model with RMSNorm and without biases.
    tokens : Tensor of int of shape (batch, seq)
        What it reads.
    right, wrong : Tensor of int of shape (batch,)
        The tokens that are compared.

    Returns
    -------
    dict of str to Tensor of shape (batch,)
        ``embedding``, ``0.1`` for head 1 of block 0, ``0.feed_forward``, …; they add up to the
        difference.

    Raises
    ------
    ValueError
        When the model has another norm, or biases.

    References
    ----------
    Elhage et al. (2021); Wang et al. (2022).

    Examples
    --------
    >>> from primer.transformers import load_pretrained
    >>> model, _ = load_pretrained("plays")
    >>> tokens, right, wrong = torch.tensor([[5, 6, 7]]), torch.tensor([1]), torch.tensor([2])
    >>> parts = direct_logits(model, tokens, right, wrong)
    >>> logits = model(tokens)[0, -1].detach()
    >>> abs(float(sum(parts.values()) - (logits[1] - logits[2]))) < 1e-3
    True
    """
    config, norm = model.config, model.norm
    if config.norm_position != "pre" or not isinstance(norm, RMSNorm) or config.bias:
        raise ValueError("parts add up in a pre-norm model with RMSNorm and without biases")
    seen = record(model, tokens)
    last = seen[f"blocks.{config.n_layers - 1}.after"][:, -1]
    root = (last.square().mean(-1, keepdim=True) + norm.eps).sqrt()
    right = token_ids("right", right, config.vocab_size)
    wrong = token_ids("wrong", wrong, config.vocab_size)
    u = model.head.weight
    direction = norm.weight * (u[right] - u[wrong]) / root  # (batch, d_model)
    parts = {"embedding": (seen["embedding"][:, -1] * direction).sum(-1)}
    for layer in range(config.n_layers):
        heads = seen[f"blocks.{layer}.attention.heads"][:, :, -1]  # (batch, heads, d_head)
        weight = model.get_parameter(f"blocks.{layer}.attention.output.weight")
        rows = weight.T.unflatten(0, heads.shape[1:])
        written = torch.einsum("bhi,hid->bhd", heads, rows)
        for head in range(config.n_heads):
            parts[f"{layer}.{head}"] = (written[:, head] * direction).sum(-1)
        output = seen[f"blocks.{layer}.feed_forward.output"][:, -1]
        parts[f"{layer}.feed_forward"] = (output * direction).sum(-1)
    return parts


def _same_length(clean: Tensor, corrupted: Tensor) -> None:
    if clean.shape != corrupted.shape:
        raise ValueError(
            f"the runs must be as long as each other, got {tuple(clean.shape)} and "
            f"{tuple(corrupted.shape)}: replace tokens, do not insert any"
        )
