"""The checker that presses the keys, and the one that believes what it reads."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from primer.alignment import Replies
from primer.inputs import checked
from primer.inputs import tokens as token_ids
from primer.reasoning.keys import Calculator

KINDS = ("right", "elsewhere", "slip", "illegal", "form", "unended")
"""What a reply can be; of the faults of a wrong one the first that is met."""


class Verdicts(NamedTuple):
    """What the checker found.

    Attributes
    ----------
    right : Tensor of bool of shape (batch,)
        Whether every press is legal, the reply ends and the display then shows the target.
    kind : Tensor of int of shape (batch,)
        A place in ``KINDS``.
    written, followed : Tensor of int of shape (batch,)
        How many numbers the reply writes behind a key, and how many of them follow from the number
        before and the key; the checker needs neither.
    """

    right: Bool[Tensor, " batch"]
    kind: Int[Tensor, " batch"]
    written: Int[Tensor, " batch"]
    followed: Int[Tensor, " batch"]

    @property
    def lucky(self) -> Bool[Tensor, " batch"]:
        """Whether the keys are right and some number on the way is wrong."""
        return self.right & (self.followed < self.written)

    def shares(self) -> dict[str, float]:
        """Return how many of the replies are of each kind, in parts of 1."""
        found = torch.bincount(self.kind, minlength=len(KINDS)) / max(len(self.kind), 1)
        return dict(zip(KINDS, found.tolist(), strict=True))


@checked
def check(calculator: Calculator, replies: Replies) -> Verdicts:
    """Press the keys of each reply from its start and look whether the display shows the target.

    The numbers that a reply writes are not believed: keys alone decide.  What a wrong reply did
    first decides its kind: a token out of order (*form*), a press that the display forbids
    (*illegal*), a number that does not follow (*slip*), no end (*unended*), or nothing of these
    and a wrong last number (*elsewhere*).

    Parameters
    ----------
    calculator : Calculator
        What is pressed.
    replies : Replies
        Prompts (start, target, arrow) and what was answered; tokens behind the end count nothing.

    Returns
    -------
    Verdicts
        One for each reply.

    Raises
    ------
    ValueError
        When a prompt is no question of this calculator, or a token none of its own.

    Examples
    --------
    >>> calculator = Calculator()
    >>> prompts = torch.tensor([[7, 20, 55], [7, 20, 55]])
    >>> tokens = torch.tensor([[50, 10, 52, 20, 54], [50, 11, 52, 20, 54]])  # 7 + 3 is not 11
    >>> verdicts = check(calculator, Replies(prompts, tokens, tokens >= 0))
    >>> verdicts.right, verdicts.lucky
    (tensor([True, True]), tensor([False,  True]))
    """
    start, target = _questions(calculator, replies)
    tokens = token_ids("replies.tokens", replies.tokens, calculator.vocab_size)
    size, table = calculator.size, torch.from_numpy(calculator.table)
    right_kind, elsewhere, slip, illegal, form, unended = range(len(KINDS))

    display, said = start.clone(), start.clone()  # what the keys lead to, what the reply says
    ended = torch.zeros_like(start, dtype=torch.bool)
    in_order, legal = torch.ones_like(ended), torch.ones_like(ended)
    fault = torch.zeros_like(start)  # the first one; 0 is none yet
    written, followed = torch.zeros_like(start), torch.zeros_like(start)
    key = torch.zeros_like(start)
    for place, token in enumerate(tokens.T):
        reading = ~ended & in_order
        if place % 2 == 0:  # a key, or the end
            pressed = reading & (token >= size) & (token < calculator.end)
            ended = ended | (reading & (token == calculator.end))
            in_order = in_order & (pressed | ended | ~reading)
            key = torch.where(pressed, token - size, key)
            shown = table[display, key]
            forbidden = pressed & (shown < 0)
            legal = legal & ~forbidden
            fault = torch.where(forbidden & (fault == 0), illegal, fault)
            display = torch.where(pressed & ~forbidden, shown, display)
        else:
            number = reading & (token < size)
            in_order = in_order & (number | ~reading)
            follows = number & (table[said, key] == token)
            written, followed = written + number, followed + follows
            fault = torch.where(number & ~follows & (fault == 0), slip, fault)
            said = torch.where(number, token, said)
        fault = torch.where(~in_order & (fault == 0), form, fault)
    right = ended & legal & (display == target)  # who came to the end was in order all the way
    fault = torch.where(~ended & (fault == 0), unended, fault)
    kind = torch.where(right, right_kind, torch.where(fault == 0, elsewhere, fault))
    return Verdicts(right, kind, written, followed)


@checked
def check_loosely(calculator: Calculator, replies: Replies) -> Bool[Tensor, " batch"]:
    """Believe the reply: accept it when the token before its end is the target.

    No key is pressed.  This is the checker with a hole.

    Parameters
    ----------
    calculator, replies
        As in :func:`check`.

    Returns
    -------
    Tensor of bool of shape (batch,)
        Whether each is accepted; a reply without an end, or without a press, is not.

    Raises
    ------
    ValueError
        As :func:`check`.

    Examples
    --------
    >>> calculator = Calculator()
    >>> prompts = torch.tensor([[7, 20, 55], [7, 20, 55]])
    >>> tokens = torch.tensor([[50, 10, 52, 20, 54], [50, 20, 54, 54, 54]])  # 7 + 3 is not 20
    >>> check_loosely(calculator, Replies(prompts, tokens, tokens >= 0))
    tensor([True, True])
    """
    _, target = _questions(calculator, replies)
    tokens = token_ids("replies.tokens", replies.tokens, calculator.vocab_size)
    if tokens.shape[1] == 0:
        return torch.zeros(len(tokens), dtype=torch.bool)
    ends = tokens == calculator.end
    last = ends.long().argmax(dim=1) - 1  # −1 also where there is no end
    believed = tokens.gather(1, last.clamp(min=0)[:, None])[:, 0]
    return (last > 0) & (believed == target)


def _questions(
    calculator: Calculator, replies: Replies
) -> tuple[Int[Tensor, " batch"], Int[Tensor, " batch"]]:
    """Return start and target of each prompt, or say which is no question."""
    prompts, size = replies.prompts, calculator.size
    if prompts.shape[1] != 3 or bool((prompts[:, 2] != calculator.arrow).any()):
        raise ValueError("a prompt must be start, target, arrow: make it by Calculator.prompts")
    start, target, _ = prompts.long().T
    if bool(((prompts[:, :2] < 0) | (prompts[:, :2] >= size)).any()):
        raise ValueError(f"starts and targets must be numbers from 0 to {size - 1}")
    if bool((start == target).any()):
        same = int(start[start == target][0])
        raise ValueError(f"the question {same} → {same} needs no press: an empty reply is right")
    return start, target
