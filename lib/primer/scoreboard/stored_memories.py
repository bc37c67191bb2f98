"""The models of the study ``scoreboard.memories``, in one file of whole numbers of 8 bits."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from primer.inputs import one_of
from primer.language_models import BytePairEncoding
from primer.saving import write_whole
from primer.scoreboard.memories import MODELS, SHAPE, build
from primer.scoreboard.rules import Measure, Plays, Score
from primer.scoreboard.transformer import score
from primer.transformers import Transformer, dequantize, load_pretrained, quantize

WEIGHTS = Path(__file__).with_name("memories.safetensors")
UNIT = "/unit"


def add_model(name: str, weights: Mapping[str, Tensor], path: Path | None = None) -> None:
    """Add a model to the file, or replace the one of the same name.

    Parameters
    ----------
    name : str
        A name in :data:`primer.scoreboard.memories.MODELS`.
    weights : mapping of str to Tensor
        Its ``state_dict()``; matrices are rounded, all else is stored in 16 bits.
    path : Path, optional
        The file, by default the one that comes with the package.

    Raises
    ------
    ValueError
        When there is no such model, or a weight is not finite.
    """
    path, one_of_them = path or WEIGHTS, one_of("model", name, MODELS)
    stored = load_file(path) if path.exists() else {}
    stored = {key: part for key, part in stored.items() if key.partition("/")[0] != one_of_them}
    for key, weight in weights.items():
        if key == "head.weight":  # it is the embedding
            continue
        if weight.ndim == 2:
            stored[f"{name}/{key}"], stored[f"{name}/{key}{UNIT}"] = quantize(weight.float())
        else:
            stored[f"{name}/{key}"] = weight.half().contiguous()
    write_whole(path, save(stored))


def read_model(name: str, path: Path | None = None) -> Transformer:
    """Read one of the models, ready to be evaluated.

    Raises
    ------
    ValueError
        When there is no such model, or the file is missing or damaged.

    Examples
    --------
    >>> type(read_model("linear").blocks[0].attention).__name__
    'LinearAttention'
    """
    one_of("model", name, MODELS)
    try:
        stored = {
            key.removeprefix(f"{name}/"): part
            for key, part in load_file(path or WEIGHTS).items()
            if key.startswith(f"{name}/")
        }
        weights = {
            key: dequantize(part, stored[key + UNIT]) if key + UNIT in stored else part.float()
            for key, part in stored.items()
            if not key.endswith(UNIT)
        }
        model = build(name)(SHAPE)
        model.load_state_dict(weights | {"head.weight": weights["embed.weight"]})
    except (OSError, SafetensorError, KeyError, RuntimeError) as error:
        raise ValueError(f"{path or WEIGHTS} holds no whole model {name!r}: {error}") from None
    return model.eval()


@functools.cache
def tokenizer() -> BytePairEncoding:
    """Return the models' tokens: the first of those that the book's model has.

    Examples
    --------
    >>> tokenizer().vocab_size == SHAPE.vocab_size
    True
    """
    book = load_pretrained("plays")[1]
    extra = book.vocab_size - SHAPE.vocab_size
    return BytePairEncoding(book.merges[: len(book.merges) - extra])


def memory_model(name: str, *, overlap: bool = False) -> Measure:
    """Make the measure of a stored model, as that of the book's transformer.

    Parameters
    ----------
    name : str
        A name in :data:`primer.scoreboard.memories.MODELS`.
    overlap : bool
        Whether windows overlap by half or stand side by side.

    Returns
    -------
    function
        See :data:`primer.scoreboard.rules.Measure`.
    """

    def measure(training: Plays, held_out: Plays) -> Score:
        return score(read_model(name), tokenizer(), held_out, overlap=overlap)

    return measure
