"""The first neural language model: a fixed window of embeddings, one hidden layer, a softmax."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from primer.inputs import Count, Dim, Natural, Positive, Steps, checked, count, room
from primer.inputs import tokens as token_ids
from primer.inputs.values import MANY
from primer.language_models.counting import BOUNDARY, Alphabet, checked_codes
from primer.saving import write_whole

FORMAT = "primer window model, version 1"
PRETRAINED = Path(__file__).with_name("window.safetensors")


class WindowModel(nn.Module):
    r"""Predict the next symbol from the last few.

    .. math::
        e &= [E_{x_{t-w}}; \dots; E_{x_{t-1}}] \in \mathbb R^{wd} \\
        h &= \tanh(e W + b_1) \\
        z &= h U + b_2, \qquad P(x_t \mid \dots) = \operatorname{softmax}(z)

    Parameters
    ----------
    vocab_size : int
        The number of symbols, :math:`V`.
    window : int
        How many symbols are read, :math:`w`.
    d_embed : int
        Length of an embedding, :math:`d`.
    d_hidden : int
        Length of the hidden layer, :math:`h`.

    Raises
    ------
    ValueError
        When a size is below 1.

    References
    ----------
    Bengio, Ducharme, Vincent and Jauvin (2003), without the direct connections.

    Examples
    --------
    >>> model = WindowModel(vocab_size=81, window=4, d_embed=16, d_hidden=200)
    >>> model(torch.zeros(5, 4, dtype=torch.long)).shape
    torch.Size([5, 81])
    >>> sum(weight.numel() for weight in model.parameters())
    30577
    """

    @checked
    def __init__(self, vocab_size: Dim, window: Dim, d_embed: Dim, d_hidden: Dim) -> None:
        super().__init__()
        sizes = {
            "vocab_size": vocab_size,
            "window": window,
            "d_embed": d_embed,
            "d_hidden": d_hidden,
        }
        room(vocab_size=vocab_size, d_embed=d_embed)
        room(window=window, d_embed=d_embed, d_hidden=d_hidden)
        room(d_hidden=d_hidden, vocab_size=vocab_size)
        self.sizes = sizes
        self.embed = nn.Embedding(vocab_size, d_embed)
        self.hidden = nn.Linear(window * d_embed, d_hidden)
        self.head = nn.Linear(d_hidden, vocab_size)

    @checked
    def forward(self, contexts: Int[Tensor, "batch window"]) -> Float[Tensor, "batch vocab"]:
        """Return the logits of the symbol after each context."""
        if contexts.shape[1] != self.sizes["window"]:
            raise ValueError(
                f"the model reads {self.sizes['window']} symbols, got contexts of "
                f"{contexts.shape[1]}; cut them with window_rows"
            )
        symbols = token_ids("contexts", contexts, self.sizes["vocab_size"])
        embedded = self.embed(symbols).flatten(1)  # (batch, window · d_embed)
        return self.head(torch.tanh(self.hidden(embedded)))


def count_window_parameters(vocab_size: int, window: int, d_embed: int, d_hidden: int) -> int:
    r"""Count the parameters of a :class:`WindowModel`.

    .. math:: Vd + (wdh + h) + (hV + V)

    Parameters
    ----------
    vocab_size, window, d_embed, d_hidden : int
        :math:`V, w, d, h`.

    Returns
    -------
    int
        Embeddings, hidden layer and output layer together.

    Raises
    ------
    ValueError
        When a size is below 1.

    Examples
    --------
    >>> count_window_parameters(vocab_size=10_000, window=4, d_embed=100, d_hidden=200)
    3090200
    """
    v, w = count("vocab_size", vocab_size), count("window", window)
    d, h = count("d_embed", d_embed), count("d_hidden", d_hidden)
    return v * d + (w * d * h + h) + (h * v + v)


@checked
def window_rows(
    text: Sequence[Any] | np.ndarray, vocab_size: int, window: Count
) -> Int[Tensor, "targets columns"]:
    """Cut a text into contexts, each with the symbol that follows.

    Parameters
    ----------
    text : sequence of int
        Symbols; before the first and after the last stands the boundary, 0.
    vocab_size : int
        The number of symbols.
    window : int
        The length of a context.

    Returns
    -------
    Tensor of shape (len(text) + 1, window + 1)
        The target stands in the last column; 16 bits a symbol, or 32 where these are too few.

    Raises
    ------
    ValueError
        When the window is below 1 or a symbol does not exist.

    Examples
    --------
    >>> window_rows([1, 2], vocab_size=3, window=2).tolist()
    [[0, 0, 1], [0, 1, 2], [1, 2, 0]]
    """
    enough = torch.int16 if vocab_size <= 2**15 else torch.int32
    codes = torch.from_numpy(checked_codes(text, vocab_size)).to(enough)
    padding = codes.new_full((count("window", window, at_most=MANY),), BOUNDARY)
    return torch.cat([padding, codes, codes.new_full((1,), BOUNDARY)]).unfold(0, window + 1, 1)


@checked
@torch.no_grad()
def window_log_probabilities(
    model: WindowModel, text: Sequence[Any] | np.ndarray
) -> Float[Tensor, " targets"]:
    """Compute the log-probability of every symbol of a text and of its end, in nats.

    Parameters
    ----------
    model : WindowModel
        The model.
    text : sequence of int
        Symbols of its vocabulary.

    Returns
    -------
    Tensor of shape (len(text) + 1,)
        Minus their sum is the cost of the text.

    Raises
    ------
    ValueError
        When a symbol does not exist.
    """
    rows = window_rows(text, model.sizes["vocab_size"], model.sizes["window"])
    parts = []
    for part in rows.split(8192):
        predicted = model(part[:, :-1].int()).log_softmax(-1)
        parts.append(predicted.gather(1, part[:, -1:].long()).squeeze(1))
    return torch.cat(parts)


@checked
def train_window_model(
    model: WindowModel,
    rows: Int[Tensor, "targets columns"],
    steps: Steps,
    batch_size: int = 512,
    learning_rate: Positive = 1e-2,
    seed: Natural = 0,
) -> Float[np.ndarray, " steps"]:
    """Train a window model with AdamW and one cycle of the learning rate.

    Parameters
    ----------
    model : WindowModel
        Changed in place.
    rows : int Tensor of shape (targets, window + 1)
        From :func:`window_rows`; a batch is drawn from them with replacement.
    steps, batch_size : int
        How many batches of which size.
    learning_rate : float
        The largest one, reached after a tenth of the steps.
    seed : int
        Decides the batches.

    Returns
    -------
    array of shape (steps,)
        The loss of each batch, in nats.

    Raises
    ------
    ValueError
        When there are no rows, or a number is below 1.
    """
    if not len(rows):
        raise ValueError("there are no rows to learn from; cut a text with window_rows")
    rows = token_ids("rows", rows, model.sizes["vocab_size"])
    if seed >= 1 << 63:
        raise ValueError(f"seed must be below 2^63, got {seed}")
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), learning_rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, learning_rate, total_steps=steps, pct_start=0.1
    )
    losses = []
    for _ in range(steps):
        drawn = torch.randint(len(rows), (count("batch_size", batch_size),), generator=generator)
        batch = rows[drawn]
        loss = nn.functional.cross_entropy(model(batch[:, :-1].int()), batch[:, -1].long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return np.array(losses)


@checked
def save_window_model(
    path: str | Path, model: WindowModel, alphabet: Alphabet, corpus: str
) -> None:
    """Save a model in half precision with its alphabet and the hash of what it was trained on.

    Raises
    ------
    OSError
        When there is no room or no permission; what was there before is untouched.
    ValueError
        When a weight is no number in half precision.
    """
    weights = {name: weight.half().contiguous() for name, weight in model.state_dict().items()}
    if not all(bool(weight.isfinite().all()) for weight in weights.values()):
        raise ValueError("a weight is NaN, or beyond 65504, the largest number of float16")
    about = {"sizes": model.sizes, "characters": alphabet.characters, "corpus": corpus}
    write_whole(path, save(weights, {"format": FORMAT, "about": json.dumps(about)}))


@checked
def load_window_model(
    path: str | Path = PRETRAINED,
) -> tuple[WindowModel, Alphabet, Mapping[str, Any]]:
    """Load a window model; left out, the one that comes with this book.

    Parameters
    ----------
    path : path
        A file of :func:`save_window_model`.

    Returns
    -------
    model : WindowModel
        In single precision.
    alphabet : Alphabet
        Of its characters.
    about : mapping
        Its sizes, characters and the hash of the texts it was trained on.

    Raises
    ------
    ValueError
        When there is no such file or it is no window model.
    """
    if not Path(path).is_file():
        raise ValueError(f"there is no file {path}; python -m studies scoreboard.window trains one")
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged or no safetensors file ({error})") from None
    if header.get("format") == FORMAT and not all(w.is_floating_point() for w in stored.values()):
        raise ValueError(f"{path} holds weights that are no floating-point numbers")
    weights = {name: weight.float() for name, weight in stored.items()}
    if header.get("format") != FORMAT:
        raise ValueError(f"{path} is no window model: its format is {header.get('format')!r}")
    try:
        about = json.loads(header.get("about", ""))
        sizes, characters = about["sizes"], about["characters"]
        model = _fitting(WindowModel, sizes, weights)
        alphabet = Alphabet(characters)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise ValueError(f"{path} holds no whole window model: {error}") from None
    if alphabet.vocab_size != sizes["vocab_size"]:
        raise ValueError(f"{path} holds an alphabet of {alphabet.vocab_size} symbols for another")
    return model, alphabet, about


def _fitting(
    kind: type[WindowModel], sizes: Mapping[str, Any], weights: Mapping[str, Tensor]
) -> WindowModel:
    """Build a model once its weights are those of its sizes: nobody waits for large ones."""
    with torch.device("meta"):
        shapes = {name: weight.shape for name, weight in kind(**sizes).state_dict().items()}
    if shapes != {name: weight.shape for name, weight in weights.items()}:
        raise ValueError("its weights are not those of its sizes")
    if not all(bool(weight.isfinite().all()) for weight in weights.values()):
        raise ValueError("a weight is NaN or infinite")
    model = kind(**sizes)
    model.load_state_dict(weights)
    return model
