r"""A small encoder–decoder with attention that writes words backwards.

The study ``recurrent.backwards`` trained it on random strings of 1 to 12 letters.  It stands in
``backwards.safetensors`` beside this file, rounded to whole numbers of 8 bits.  The chapter's
widget runs it.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

import torch
from jaxtyping import Float
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from primer.recurrent.seq2seq import EncoderDecoder
from primer.recurrent.stored import pack_weights, unpack_weights
from primer.recurrent.tasks import reversal
from primer.saving import write_whole

LETTERS, UNITS, SCORE = 26, 48, "bilinear"
LONGEST = 12
WEIGHTS = Path(__file__).with_name("backwards.safetensors")


def save_writer(model: EncoderDecoder, path: Path = WEIGHTS) -> None:
    """Write a model, its matrices rounded."""
    size = model.embed.embedding_dim
    about = json.dumps([model.mark, size, model.score, model.query])
    write_whole(path, save(pack_weights(model.state_dict()), {"model": about}))


def load_writer(path: Path = WEIGHTS) -> EncoderDecoder:
    """Read a model, by default the one that is stored with the package.

    Raises
    ------
    ValueError
        When the file is missing or is no such file.

    Examples
    --------
    >>> model = load_writer()
    >>> tokens = torch.tensor([[ord(letter) - ord("a") for letter in "state"]])
    >>> "".join(chr(ord("a") + token) for token in model.write(tokens, 5)[0][0].tolist())
    'etats'
    """
    try:
        data = path.read_bytes()
        size = int.from_bytes(data[:8], "little")
        about = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["model"])
        model = EncoderDecoder(*about)
        model.load_state_dict(unpack_weights(load(data)))
    except OSError as error:
        raise ValueError(f"there is no model at {path}: {error.strerror}") from None
    except (SafetensorError, KeyError, TypeError, RuntimeError, ValueError) as error:
        raise ValueError(f"{path} holds no whole encoder and decoder: {error}") from None
    return model.eval()


backwards_writer = functools.cache(load_writer)
"""The same, read once for all who ask.  Nobody may change what it returns."""


@torch.no_grad()
def letters_right(model: EncoderDecoder, length: int) -> Float[Tensor, ""]:
    """Measure the share of letters that it writes rightly on its own, in 300 strings."""
    random = torch.Generator().manual_seed(1)
    source, target = reversal(300, length, LETTERS, random)
    return (model.write(source, length)[0] == target).double().mean()
