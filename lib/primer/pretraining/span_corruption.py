r"""Spans taken out of a text: T5's sentinels, and BART's gaps of unknown length."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from primer.inputs import Natural, Positive, Probability, checked, count, positive, probability
from primer.pretraining.objectives import whole_tokens


class SpanCorruption(NamedTuple):
    """A text in two halves: what is left of it, and what was taken out.

    Attributes
    ----------
    inputs : Tensor of int
        What the encoder reads: the text, each hidden span replaced by its sentinel.
    targets : Tensor of int
        What the decoder writes: each sentinel, followed by its span, and one sentinel more.
    """

    inputs: Int[Tensor, " kept"]
    targets: Int[Tensor, " hidden"]


class SpanSizes(NamedTuple):
    """How long the parts of a span corruption are; they do not depend on chance.

    Attributes
    ----------
    hidden, spans : int
        Tokens taken out, and in how many spans.
    encoder, decoder : int
        Tokens that are read and written, sentinels included.
    """

    hidden: int
    spans: int
    encoder: int
    decoder: int


def span_sizes(n_tokens: int, rate: float = 0.15, mean_span: float = 3.0) -> SpanSizes:
    r"""Compute the lengths of a span corruption.

    .. math:: h = \operatorname{round}(rn), \quad s = \operatorname{round}(h/\mu), \qquad
              n_{\text{encoder}} = n - h + s, \quad n_{\text{decoder}} = h + s + 1

    Parameters
    ----------
    n_tokens : int
        The length :math:`n` of the text, at least 2.
    rate : float
        :math:`r`, strictly between 0 and 1.
    mean_span : float
        :math:`\mu`, at least 1.

    Returns
    -------
    SpanSizes

    Raises
    ------
    ValueError
        When a number is out of its range, or a span would be longer than the text.

    References
    ----------
    Raffel et al. (2020), section 3.1.4; their code, ``random_spans_noise_mask``.

    Examples
    --------
    >>> span_sizes(512)
    SpanSizes(hidden=77, spans=26, encoder=461, decoder=104)
    """
    n, rate = count("n_tokens", n_tokens, at_least=2), probability("rate", rate)
    if positive("mean_span", mean_span) < 1:
        raise ValueError(f"a span has at least one token, got a mean of {mean_span}")
    if mean_span > n - 1:
        raise ValueError(f"spans of {mean_span:g} tokens are longer than a text of {n} allows")
    hidden = min(max(round(n * rate), 1), n - 1)
    spans = min(max(round(hidden / mean_span), 1), n - hidden)
    return SpanSizes(hidden, spans, n - hidden + spans, hidden + spans + 1)


@checked
def corrupt_spans(
    tokens: Int[Tensor, " seq"],
    generator: torch.Generator,
    *,
    first_sentinel: int,
    rate: float = 0.15,
    mean_span: float = 3.0,
) -> SpanCorruption:
    """Take spans out of a text and put a sentinel in the place of each.

    Parameters
    ----------
    tokens : Tensor of int of shape (seq,)
        The text; all its ids are below ``first_sentinel``.
    generator : torch.Generator
        Decides where spans begin and end, not how much is hidden.
    first_sentinel : int
        The id of the first sentinel; the others follow it.
    rate, mean_span
        As in :func:`span_sizes`.

    Returns
    -------
    SpanCorruption
        Of the lengths that :func:`span_sizes` gives.

    Raises
    ------
    ValueError
        As :func:`span_sizes`, and when a token of the text is a sentinel.

    References
    ----------
    Raffel et al. (2020), section 3.1.4.

    Examples
    --------
    >>> text = torch.arange(10)
    >>> seen = corrupt_spans(text, torch.Generator().manual_seed(0), first_sentinel=100, rate=0.3)
    >>> len(seen.inputs), len(seen.targets)
    (8, 5)
    >>> torch.equal(restore(*seen, first_sentinel=100), text)
    True
    """
    text = whole_tokens(tokens)
    count("first_sentinel", first_sentinel, at_most=1 << 62)  # the others come after it
    if int(text.max()) >= first_sentinel:
        raise ValueError(
            f"token {int(text.max())} of the text is a sentinel: they begin at {first_sentinel}"
        )
    sizes = span_sizes(len(text), rate, mean_span)
    hidden = _pieces(sizes.hidden, sizes.spans, generator)
    kept = _pieces(len(text) - sizes.hidden, sizes.spans, generator)
    inputs, targets, place = [], [], 0
    for number, (before, span) in enumerate(zip(kept, hidden, strict=True)):
        sentinel = torch.tensor([first_sentinel + number])
        inputs += [text[place : place + before], sentinel]
        targets += [sentinel, text[place + before : place + before + span]]
        place += before + span
    end = torch.tensor([first_sentinel + sizes.spans])
    return SpanCorruption(torch.cat(inputs), torch.cat([*targets, end]))


@checked
def restore(
    inputs: Int[Tensor, " kept"], targets: Int[Tensor, " hidden"], *, first_sentinel: int
) -> Int[Tensor, " seq"]:
    """Put the spans back into the text: the inverse of :func:`corrupt_spans`.

    Parameters
    ----------
    inputs, targets : Tensor of int
        The two halves.
    first_sentinel : int
        The id of the first sentinel.

    Returns
    -------
    Tensor of int of shape (seq,)
        The text.

    Raises
    ------
    ValueError
        When a sentinel that is read was not written.

    Examples
    --------
    >>> restore(torch.tensor([5, 100, 8]), torch.tensor([100, 6, 7, 101]), first_sentinel=100)
    tensor([5, 6, 7, 8])
    """
    whole_tokens(inputs), whole_tokens(targets)
    if int(targets[0]) < first_sentinel:
        raise ValueError(
            f"the targets must begin with a sentinel, {first_sentinel} or larger, got "
            f"{int(targets[0])}, which belongs to no span"
        )
    spans: dict[int, list[int]] = {}
    current: list[int] = []
    for token in targets.tolist():
        if token in spans:
            raise ValueError(f"sentinel {token} stands twice in the targets")
        if token >= first_sentinel:
            current = spans[token] = []
        else:
            current.append(token)
    text: list[int] = []
    for token in inputs.tolist():
        if token >= first_sentinel and token not in spans:
            raise ValueError(f"sentinel {token} stands in the inputs and not in the targets")
        text += spans.pop(token) if token >= first_sentinel else [token]
    if any(spans.values()):
        lost = next(token for token, span in spans.items() if span)
        raise ValueError(f"sentinel {lost} stands in the targets and not in the inputs")
    return torch.tensor(text, dtype=torch.long)


@checked
def infill(
    tokens: Int[Tensor, " seq"],
    generator: torch.Generator,
    *,
    mask_id: Natural,
    rate: Probability = 0.3,
    mean_span: Positive = 3.0,
) -> SpanCorruption:
    r"""Replace spans, empty ones too, by one mask each: how much is missing is left to the model.

    Lengths are Poisson with mean :math:`\mu`; an empty span puts a mask where nothing was.

    Parameters
    ----------
    tokens : Tensor of int of shape (seq,)
        The text.
    generator : torch.Generator
        Decides.
    mask_id : int
        The mask.
    rate : float
        The share of the text that is hidden.
    mean_span : float
        :math:`\mu`.

    Returns
    -------
    SpanCorruption
        The corrupted text, and the whole text as target.

    Raises
    ------
    ValueError
        When a number is out of its range, or spans are longer than the text.

    References
    ----------
    Lewis et al. (2020), "BART", section 2.2.

    Examples
    --------
    >>> seen = infill(torch.arange(100), torch.Generator().manual_seed(0), mask_id=999)
    >>> int((seen.inputs < 999).sum()), len(seen.targets)
    (70, 100)
    """
    text = whole_tokens(tokens)
    if mean_span > len(text):
        raise ValueError(f"spans of {mean_span:g} tokens are longer than the text of {len(text)}")
    if mean_span < rate:
        raise ValueError(
            f"mean_span = {mean_span:g} is less than the rate of {rate:g}: most spans would hide "
            "nothing, and more masks than the text has tokens would be needed; take a longer mean"
        )
    left, lengths = max(1, round(rate * len(text))), []
    while left:
        drawn = int(torch.poisson(torch.tensor(float(mean_span)), generator=generator))
        lengths.append(min(drawn, left))
        left -= lengths[-1]
    kept = len(text) - sum(lengths)
    cuts = torch.randint(kept + 1, (len(lengths),), generator=generator).sort().values.tolist()
    parts, place, before = [], 0, 0
    for cut, length in zip(cuts, lengths, strict=True):
        parts += [text[place : place + cut - before], torch.tensor([mask_id])]
        place, before = place + cut - before + length, cut
    return SpanCorruption(torch.cat([*parts, text[place:]]), text.clone())


def _pieces(total: int, parts: int, generator: torch.Generator) -> list[int]:
    """Cut a number into so many positive parts, all ways being equally likely."""
    cuts = torch.randperm(total - 1, generator=generator)[: parts - 1].sort().values + 1
    edges = torch.cat([torch.tensor([0]), cuts, torch.tensor([total])])
    return edges.diff().tolist()
