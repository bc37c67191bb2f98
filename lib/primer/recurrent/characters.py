r"""Language models that read one character at a time and keep what they know in a state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from primer.inputs import Dim, Side, Steps, checked, count
from primer.inputs import tokens as token_ids
from primer.recurrent.cells import LSTMCell, State
from primer.recurrent.layers import Recurrent

READ_AT_ONCE = 4096  # characters of one pass, so that memory does not grow with the text


class Limits(NamedTuple):
    """What a model says about itself: its number of tokens and the longest text it reads."""

    vocab_size: int
    context_length: int


class RecurrentLanguageModel(nn.Module):
    r"""Predict the next character from the state of a recurrent layer.

    .. math::
        h_t = \mathrm{cell}(E_{w_t}, h_{t-1}), \qquad
        P(w_{t+1} \mid w_0, \dots, w_t) = \operatorname{softmax}(h_tW_y + b_y)_{w_{t+1}}

    Parameters
    ----------
    alphabet : str
        The characters it knows; a token is a place in it.
    cell : {"rnn", "lstm", "gru"}
        Which cell.
    hidden_size : int
        The number of its units.
    embedding_size : int
        The length of a character's vector.
    forget_bias : float, optional
        What the forget gates of an LSTM begin with.

    Raises
    ------
    ValueError
        When the alphabet is empty or holds a character twice, or a size or the cell is unknown.

    Examples
    --------
    >>> model = RecurrentLanguageModel("abc", "gru", hidden_size=4)
    >>> model(model.encode("abba")[None]).shape  # logits of what follows each character
    torch.Size([1, 4, 3])
    """

    @checked
    def __init__(
        self,
        alphabet: str,
        cell: str,
        hidden_size: Side,
        embedding_size: Dim = 16,
        forget_bias: float | None = None,
    ) -> None:
        super().__init__()
        if not alphabet or len(set(alphabet)) < len(alphabet):
            raise ValueError(f"an alphabet holds each character once, got {alphabet!r}")
        self.alphabet, self.cell = alphabet, cell
        self.places = {character: place for place, character in enumerate(alphabet)}
        self.config = Limits(len(alphabet), 1_000_000)  # a state has no longest text
        self.embed = nn.Embedding(len(alphabet), embedding_size)
        self.layer = Recurrent(cell, embedding_size, hidden_size)
        self.head = nn.Linear(hidden_size, len(alphabet))
        if forget_bias is not None:
            if not isinstance(self.layer.cells[0], LSTMCell):
                raise ValueError(f"only an LSTM has a forget gate with a bias, not {cell!r}")
            self.layer.cells[0].bias.data[:hidden_size] = forget_bias

    @checked
    def encode(self, text: str) -> Int[Tensor, " characters"]:
        """Turn a text into tokens.

        Raises
        ------
        ValueError
            When the text is empty or holds a character that the model does not know.

        Examples
        --------
        >>> RecurrentLanguageModel("abc", "rnn", 2).encode("cab").tolist()
        [2, 0, 1]
        """
        if not text:
            raise ValueError("the text is empty: the model needs at least one character to read")
        unknown = "".join(sorted(set(text) - set(self.places)))
        if unknown:
            raise ValueError(
                f"the model has never seen {unknown!r}; it knows {self.alphabet!r}: "
                "leave these characters out or replace them"
            )
        places = map(self.places.__getitem__, text)
        return torch.from_numpy(np.fromiter(places, np.int64, len(text)))

    def decode(self, tokens: Sequence[int] | Int[Tensor, " characters"]) -> str:
        """Turn tokens into a text.

        Raises
        ------
        ValueError
            When this is no sequence of tokens, or one is none of the alphabet.

        Examples
        --------
        >>> RecurrentLanguageModel("abc", "rnn", 2).decode([2, 0, 1])
        'cab'
        """
        ids = token_ids("tokens", tokens, len(self.alphabet))
        if ids.ndim != 1:
            raise ValueError(f"tokens must be one sequence, got shape {tuple(ids.shape)}")
        return "".join(self.alphabet[token] for token in ids.tolist())

    def read(
        self, tokens: Int[Tensor, "batch time"], state: State | None = None
    ) -> tuple[Float[Tensor, "batch time vocab"], State]:
        """Read on from a state: the logits after each character, and the state after the last.

        Raises
        ------
        ValueError
            When there is nothing to read or a token is none of the alphabet.
        """
        outputs, state = self.layer(self.embed(self.known(tokens)), state)
        return self.head(outputs), state

    def known(self, tokens: Int[Tensor, "batch time"]) -> Int[Tensor, "batch time"]:
        """Return texts as ids in 64 bits, or say why they are none of this model."""
        if not isinstance(tokens, Tensor) or tokens.ndim != 2:
            given = tuple(tokens.shape) if isinstance(tokens, Tensor) else type(tokens).__name__
            raise ValueError(
                f"tokens must be a tensor of shape (batch, time), got {given}; one text is "
                "model.encode(text)[None]"
            )
        ids: Tensor = token_ids("tokens", tokens, len(self.alphabet))
        return ids

    def forward(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time vocab"]:
        """Compute the logits of what follows each character of texts read from the beginning."""
        return self.read(tokens)[0]

    @checked
    @torch.no_grad()
    def bits_by_character(
        self, text: str, warm_up: Steps = 256, piece: int | None = None
    ) -> Float[np.ndarray, " characters"]:
        r"""Compute what each character of a text costs.

        .. math:: -\log_2 P(w_t \mid w_0, \dots, w_{t-1}), \qquad t = 0, \dots, C - 1

        The text is read in one pass, after ``warm_up`` line breaks. In pieces it is faster: they
        are read side by side, each from a state that has read the ``warm_up`` characters before it
        and nothing else. Such a cold start, in the middle of a name, can lead an LSTM astray for a
        whole piece.

        Parameters
        ----------
        text : str
            The text.
        warm_up : int
            How many characters to read before the first one, or before each piece.
        piece : int, optional
            The length of a piece; left out, the text is read in one pass.

        Returns
        -------
        array of shape (characters,)
            Bits.

        Raises
        ------
        ValueError
            When the text is empty or holds a character that the model does not know, or it knows no
            line break.

        Examples
        --------
        >>> model = RecurrentLanguageModel("\nab", "gru", hidden_size=4)
        >>> whole, pieces = (model.bits_by_character("abba" * 9, 4, piece) for piece in (None, 36))
        >>> whole.shape, bool(np.allclose(whole, pieces, atol=1e-5))
        ((36,), True)
        """
        if not text:
            raise ValueError("the text is empty: there is nothing to predict")
        if "\n" not in self.places:
            raise ValueError(
                f"a text is read after line breaks, which the model's alphabet {self.alphabet!r} "
                "does not hold: add one"
            )
        tokens = self.encode("\n" * warm_up + text)
        nats: list[Tensor] = []
        if piece is None:
            state: State | None = None
            for part in range(0, len(tokens) - 1, READ_AT_ONCE):
                targets = tokens[part + 1 : part + READ_AT_ONCE + 1]
                logits, state = self.read(tokens[None, part : part + len(targets)], state)
                nats.append(cross_entropy(logits[0], targets, reduction="none"))
            costs = torch.cat(nats)[warm_up - 1 :]
        else:
            whole = len(text) // count("piece", piece) * piece
            batches = []
            if whole:
                rows = tokens[: warm_up + whole].unfold(0, warm_up + piece, piece)
                batches = list(rows.split(64))
            if whole < len(text):
                batches.append(tokens[None, whole:])
            for batch in batches:
                logits = self(batch[:, :-1])[:, warm_up - 1 :]
                targets = batch[:, warm_up:].flatten()
                nats.append(cross_entropy(logits.flatten(0, 1), targets, reduction="none"))
            costs = torch.cat(nats)
        bits: np.ndarray = costs.double().numpy() / math.log(2)
        return bits

    def bits_per_character(self, text: str, warm_up: int = 256, piece: int = 1024) -> float:
        r"""Measure the mean of :meth:`bits_by_character`, in pieces.

        .. math:: -\frac1C\sum_{t=0}^{C-1} \log_2 P(w_t \mid w_{t-m}, \dots, w_{t-1})

        Each piece is read from a state that has read the ``warm_up`` characters before it (line
        breaks stand before the first), so that :math:`m` is at least ``warm_up``.

        Parameters
        ----------
        text : str
            The text.
        warm_up, piece : int
            How many characters to read before each piece, and the length of a piece.

        Returns
        -------
        float
            Bits per character.

        Raises
        ------
        ValueError
            As :meth:`bits_by_character`.
        """
        return float(self.bits_by_character(text, warm_up, count("piece", piece)).mean())
