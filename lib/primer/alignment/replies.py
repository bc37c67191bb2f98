"""Prompts and replies: cutting them out of the plays, writing them, scoring them token by token."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from primer.inference import LanguageModel, generate, sample
from primer.inputs import Count, at_least, checked
from primer.inputs import tokens as token_ids
from primer.language_models import END, BytePairEncoding

SPEAKER = re.compile(r"(?:^|\n\n)([A-Z][A-Z' ]+\n)([^\n]+(?:\n[^\n]+)*)")


@dataclass(frozen=True)
class Replies:
    """Replies to prompts, and which of their tokens count.

    Attributes
    ----------
    prompts : Tensor of int of shape (batch, prompt)
        The prompts, all of one length: the book's model knows no padding on the left.
    tokens : Tensor of int of shape (batch, reply)
        The replies; what stands behind an end is filling.
    mask : Tensor of bool of shape (batch, reply)
        True up to the end token, that token included: who never gets a signal on it never learns
        to stop.
    """

    prompts: Int[Tensor, "batch prompt"]
    tokens: Int[Tensor, "batch reply"]
    mask: Bool[Tensor, "batch reply"]

    def __post_init__(self) -> None:
        """Refuse prompts, tokens and a mask that do not belong together."""
        _belong_together(self.prompts, self.tokens, self.mask)
        hole = self.mask[:, 1:] & ~self.mask[:, :-1]
        if bool(hole.any()):
            row = int(hole.any(1).nonzero()[0, 0])
            raise ValueError(f"the mask of reply {row} has a hole: it is True up to the end")

    def __len__(self) -> int:
        """Return the number of replies."""
        return len(self.tokens)

    def __getitem__(self, rows: slice | Tensor) -> Replies:
        """Return some of the replies, by a slice or a tensor of row numbers."""
        _check_rows(rows, len(self))
        return Replies(self.prompts[rows], self.tokens[rows], self.mask[rows])

    @property
    def lengths(self) -> Int[Tensor, " batch"]:
        """How many tokens of each reply count."""
        return self.mask.sum(-1)

    @checked
    def texts(self, tokenizer: BytePairEncoding) -> list[str]:
        """Write the replies out, without the end token and what follows it."""
        end = _end_of(tokenizer)
        return [
            tokenizer.decode([int(t) for t in row[keep] if int(t) != end])
            for row, keep in zip(self.tokens, self.mask, strict=True)
        ]


def _check_rows(rows: slice | Tensor, n: int) -> None:
    """Raise a ``ValueError`` where a number of a row is that of none; -1 is no last one."""
    if isinstance(rows, slice) or rows.dtype == torch.bool or not rows.numel():
        return
    if not 0 <= int(rows.min()) <= int(rows.max()) < n:
        raise ValueError(f"rows must be numbers from 0 to {n - 1}")


def _end_of(tokenizer: BytePairEncoding) -> int:
    """Return the token that ends a reply."""
    if END not in tokenizer.special_tokens:
        raise ValueError(f"the tokenizer has no token {END!r}, which ends a reply")
    return tokenizer.special_tokens[END]


@checked
def _belong_together(
    prompts: Int[Tensor, "batch prompt"],
    tokens: Int[Tensor, "batch reply"],
    mask: Bool[Tensor, "batch reply"],
) -> None:
    """Raise a ``ValueError`` unless every prompt has a reply, and every token of it a mark."""


@checked
def reply_mask(tokens: Int[Tensor, "batch reply"], end_token: int) -> Bool[Tensor, "batch reply"]:
    """Mark the tokens of each reply up to the first end token, that one included.

    Parameters
    ----------
    tokens : Tensor of int of shape (batch, reply)
        The replies.
    end_token : int
        The token that ends a reply.

    Returns
    -------
    Tensor of bool of shape (batch, reply)
        True where a token counts; a reply without an end counts whole.

    Examples
    --------
    >>> reply_mask(torch.tensor([[5, 9, 9, 9], [5, 6, 7, 8]]), end_token=9).int()
    tensor([[1, 1, 0, 0],
            [1, 1, 1, 1]], dtype=torch.int32)
    """
    ended_before = (tokens == end_token).long().cumsum(-1) - (tokens == end_token).long()
    return ended_before == 0


@checked
def speeches(
    texts: Mapping[str, str],
    tokenizer: BytePairEncoding,
    *,
    prompt_length: Count = 16,
    longest: Annotated[int, at_least(3)] = 15,
) -> Replies:
    r"""Cut short speeches out of plays: what was said before is the prompt, the speech the reply.

    A prompt is the ``prompt_length`` tokens before a speech; it ends with the speaker's name and a
    line break.  The reply is the speech and the end token, behind which the row is filled with it.

    Parameters
    ----------
    texts : mapping of str to str
        Title → play, names of speakers in capitals on lines of their own.
    tokenizer : BytePairEncoding
        Of the model that is to learn from them.
    prompt_length : int
        How many tokens a prompt has; speeches with fewer before them are left out.
    longest : int
        Speeches of more tokens are left out, and those of less than three.

    Returns
    -------
    Replies
        In the order of the plays.

    Raises
    ------
    ValueError
        When no speech fits.

    Examples
    --------
    >>> letters = BytePairEncoding([])
    >>> found = speeches({"": "I was.\n\nANNE\nWho?\n"}, letters, prompt_length=6, longest=4)
    >>> bytes(found.prompts[0].tolist()), found.texts(letters)
    (b'\nANNE\n', ['Who?'])
    """
    end = _end_of(tokenizer)
    prompts, replies = [], []
    for text in texts.values():
        for speech in SPEAKER.finditer(text):
            reply = tokenizer.encode(speech[2])
            if not 3 <= len(reply) <= longest:
                continue
            said = _last_tokens(text[: speech.start(2)], tokenizer, prompt_length)
            if len(said) >= prompt_length:
                prompts.append(said[-prompt_length:])
                replies.append([*reply, *[end] * (longest + 1 - len(reply))])
    if not prompts:
        raise ValueError(
            f"no speech of 3 to {longest} tokens has {prompt_length} tokens before it; "
            "ask for shorter prompts or longer speeches"
        )
    tokens = torch.tensor(replies)
    return Replies(torch.tensor(prompts), tokens, reply_mask(tokens, end))


def _last_tokens(text: str, tokenizer: BytePairEncoding, number: int) -> list[int]:
    """Encode the end of a text from the end of a line on, so that no word is cut in two."""
    start, letters = len(text), 8 * number
    said: list[int] = []
    while len(said) < number and start > 0:
        start = max(0, text.rfind("\n", 0, max(0, len(text) - letters)))
        while start > 0 and text[start - 1].isspace():
            start -= 1
        said, letters = tokenizer.encode(text[start:]), 2 * letters
    return said


@checked
def write_replies(
    model: LanguageModel,
    prompts: Int[Tensor, "batch prompt"],
    length: int,
    end_token: int,
    generator: torch.Generator | None = None,
) -> Replies:
    r"""Let a model reply to all prompts at once, each token read once.

    .. math:: y_t \sim \pi(\cdot \mid x, y_{<t})

    Parameters
    ----------
    model : LanguageModel
        In evaluation mode.
    prompts : Tensor of int of shape (batch, prompt)
        The prompts.
    length : int
        The most tokens a reply may have.
    end_token : int
        The token that ends a reply.
    generator : torch.Generator, optional
        Where the randomness comes from.

    Returns
    -------
    Replies
        Drawn at temperature 1: the policy that wrote is the policy whose probabilities count.

    Raises
    ------
    ValueError
        As :func:`~primer.inference.generate`.
    """
    draw = functools.partial(sample, generator=generator)
    written = generate(model, prompts, length, draw, end_token=end_token)
    tokens = written[:, prompts.shape[1] :]
    room = tokens.new_full((len(tokens), length - tokens.shape[1]), end_token)
    tokens = torch.cat([tokens, room], dim=1)
    return Replies(prompts, tokens, reply_mask(tokens, end_token))


@checked(infinite="return")
def reply_logits(model: LanguageModel, replies: Replies) -> Float[Tensor, "batch reply vocab"]:
    """Compute the logits from which each token of the replies was chosen, with their gradient."""
    if replies.prompts.shape[1] == 0:
        raise ValueError("a reply answers a prompt: give each prompt at least one token")
    whole = torch.cat([replies.prompts, replies.tokens], dim=1)
    return model(whole[:, :-1])[:, replies.prompts.shape[1] - 1 :]


@checked(infinite="return")
def reply_log_probs(model: LanguageModel, replies: Replies) -> Float[Tensor, "batch reply"]:
    r"""Compute the log-probability of each token of the replies; 0 behind the end.

    .. math:: \log\pi(y \mid x) = \sum_t \log\pi(y_t \mid x, y_{<t})

    Parameters
    ----------
    model : LanguageModel
        The policy.
    replies : Replies
        Prompts, replies and their mask.

    Returns
    -------
    Tensor of shape (batch, reply)
        In nats, with the gradient; sums over the last axis are those of whole replies.

    Raises
    ------
    ValueError
        When a token is none of the model's, or the model gives NaN.
    """
    found = chosen_log_probs(reply_logits(model, replies), replies)
    if bool(found.isnan().any()):
        raise ValueError("the model gives NaN for these replies: its weights are no numbers")
    return found


def chosen_log_probs(
    logits: Float[Tensor, "batch reply vocab"], replies: Replies
) -> Float[Tensor, "batch reply"]:
    """Pick from logits the log-probabilities of the tokens that were written; 0 behind the end."""
    written = token_ids("replies.tokens", replies.tokens, logits.shape[-1])
    picked = logits.log_softmax(-1).gather(-1, written[..., None])[..., 0]
    return picked.masked_fill(~replies.mask, 0)


@checked
def reply_loss(model: LanguageModel, replies: Replies) -> Float[Tensor, ""]:
    r"""Compute the mean loss over the tokens of the replies, none on the prompts.

    .. math:: J(\theta) = -\frac{\sum_{i,t} m_{it} \log p_\theta(y_{it} \mid x_i, y_{i,<t})}
                               {\sum_{i,t} m_{it}}

    Parameters
    ----------
    model : LanguageModel
        The model to be tuned.
    replies : Replies
        Instructions and what to answer.

    Returns
    -------
    Tensor
        In nats per token.
    """
    logits = reply_logits(model, replies)
    if not bool(replies.mask.any()):
        raise ValueError("no token of these replies counts: their mask is False everywhere")
    written = token_ids("replies.tokens", replies.tokens, logits.shape[-1])
    return cross_entropy(logits[replies.mask], written[replies.mask])
