"""A model in a file: its weights, its configuration and where it comes from, saved whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from primer.eight_bits import dequantize, quantize
from primer.inputs import checked
from primer.inputs.tensors import holds_finite
from primer.language_models import BytePairEncoding
from primer.saving import write_whole
from primer.transformers.config import TransformerConfig
from primer.transformers.model import Transformer

FORMAT = "primer transformer, version 1"
UNITS = ".units"
PRETRAINED = Path(__file__).parents[1] / "checkpoints"


def save_checkpoint(
    path: str | Path,
    model: Transformer,
    metadata: Mapping[str, Any] | None = None,
    dtype: torch.dtype | None = None,
) -> None:
    """Save a model as one safetensors file whose header holds everything needed to read it.

    The header carries the configuration, the metadata and a checksum of both and of all weights.
    A file that was there before is replaced in one step, so a crash or a full disk leaves it as it
    was.

    Parameters
    ----------
    path : path
        The file; its name ends in ``.safetensors`` by custom.
    model : Transformer
        The model.
    metadata : mapping, optional
        What JSON can hold about where the model comes from, such as the hash of the texts.
    dtype : torch.dtype, optional
        The precision of the saved weights, for example ``torch.float16`` to halve the file, or
        ``torch.int8`` for matrices of whole numbers, see :func:`quantize`, between norms as they
        are; left out, that of the model.

    Raises
    ------
    ValueError
        When JSON cannot hold the metadata, ``dtype`` is no precision of weights, or a weight is NaN
        or infinite, also because it is too large for ``dtype``.
    OSError
        When there is no room or no permission; what was there before is untouched.

    Examples
    --------
    >>> import tempfile
    >>> config = TransformerConfig(
    ...     vocab_size=10, n_layers=1, d_model=8, n_heads=2, context_length=4
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "tiny.safetensors"
    ...     save_checkpoint(file, Transformer(config), metadata={"texts": "none"})
    ...     load_checkpoint(file).config == config, read_metadata(file)
    (True, {'texts': 'none'})
    """
    if not isinstance(model, Transformer):
        raise ValueError(f"model must be a Transformer, got {model!r:.60}")
    if dtype not in (None, torch.int8) and not getattr(dtype, "is_floating_point", False):
        raise ValueError(f"dtype must be a floating-point one or torch.int8, got {dtype!r}")
    weights = {
        name: weight.cpu()
        for name, weight in model.state_dict().items()
        if not (name == "head.weight" and model.config.tied_embeddings)  # it is the embedding
    }
    if dtype == torch.int8:
        weights = _to_whole_numbers(weights)
    else:
        weights = {name: weight.to(dtype=dtype).contiguous() for name, weight in weights.items()}
    _refuse_broken(weights)
    try:
        origin = json.dumps(dict(metadata or {}), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"metadata must be what JSON can hold: {error}") from None
    header = {
        "format": FORMAT,
        "config": json.dumps(model.config.to_dict()),
        "metadata": origin,
    }
    header["sha256"] = _checksum(header, weights)
    write_whole(path, save(weights, header))


@checked
def load_checkpoint(path: str | Path) -> Transformer:
    """Load a model, ready to be used: in evaluation mode and in torch's default precision.

    Parameters
    ----------
    path : path
        A file written by :func:`save_checkpoint`.

    Returns
    -------
    Transformer
        The model.

    Raises
    ------
    ValueError
        When there is no such file, it is truncated, damaged or not such a checkpoint, or what its
        header says is not what it holds.
    """
    path = Path(path)
    return _model(path, *_read(path))


def _model(path: Path, header: Mapping[str, str], weights: Mapping[str, Tensor]) -> Transformer:
    """Make a model of what a checkpoint holds."""
    try:
        config = TransformerConfig.from_dict(_parsed(header, "config"))
        return Transformer.from_weights(config, _from_whole_numbers(weights)).eval()
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


@checked
def read_metadata(path: str | Path) -> dict[str, Any]:
    """Read what a checkpoint says about where it comes from.

    Raises
    ------
    ValueError
        As :func:`load_checkpoint`.
    """
    path = Path(path)
    return _metadata(path, _read(path)[0])


def _metadata(path: Path, header: Mapping[str, str]) -> dict[str, Any]:
    """Read where a checkpoint comes from in its header."""
    try:
        return _parsed(header, "metadata")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


@checked
def pretrained_file(name: str) -> Path:
    """Find the file of a model that comes with this book.

    Parameters
    ----------
    name : {"plays", "plays-1", "plays-2"}
        A model, or one of its editions; without a number, the newest.

    Returns
    -------
    Path
        The checkpoint.

    Raises
    ------
    ValueError
        When there is no model of this name.

    Examples
    --------
    >>> pretrained_file("plays").stem
    'plays-2'
    """
    files = {file.stem: file for file in sorted(PRETRAINED.glob("*.safetensors"))}
    newest = {stem.split("-")[0]: file for stem, file in files.items()}
    if name not in newest | files:
        names = ", ".join(sorted(newest | files)) or "none"
        raise ValueError(f"no model is called {name!r}; there is: {names}")
    return (newest | files)[name]


@checked
def load_pretrained(name: str) -> tuple[Transformer, BytePairEncoding]:
    """Load a model that comes with this book, and its tokenizer.

    Parameters
    ----------
    name : {"plays", "plays-1", "plays-2"}
        The model trained on Shakespeare's plays by ``python -m primer.train``, which the chapters
        read; or its first or second edition, see :func:`pretrained_file`.

    Returns
    -------
    tuple of Transformer and BytePairEncoding
        The model in evaluation mode and the encoding of its vocabulary.

    Raises
    ------
    ValueError
        When there is no model of this name, its file holds another one, or files are damaged or do
        not belong together.
    """
    path = pretrained_file(name)
    header, weights = _read(path)
    model, holds = _model(path, header, weights), _metadata(path, header).get("name", path.stem)
    if holds != path.stem:
        raise ValueError(
            f"{path} holds {holds!r}, another edition of the model; restore the file or ask for "
            f"{holds!r}"
        )
    tokenizer = BytePairEncoding.load(PRETRAINED / f"{name.split('-')[0]}-bpe.json")
    if tokenizer.vocab_size != model.config.vocab_size:
        raise ValueError(
            f"the tokenizer of {name!r} has {tokenizer.vocab_size} tokens and the model "
            f"{model.config.vocab_size}: the files do not belong together, restore both"
        )
    return model, tokenizer


def _read(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    """Read header and weights of a checkpoint and hold them against the checksum."""
    if not path.is_file():
        raise ValueError(f"there is no checkpoint {path}")
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"{path} is truncated, damaged or no safetensors file ({error}); restore or retrain it"
        ) from None
    if header.get("format") != FORMAT:
        raise ValueError(
            f"{path} was not written by save_checkpoint; weights of Hugging Face models are read "
            "with load_gpt2 and load_llama"
        )
    if header.get("sha256") != _checksum(header, weights):
        raise ValueError(f"{path} is damaged: its content does not match its checksum; restore it")
    return header, weights


def _parsed(header: Mapping[str, str], name: str) -> dict[str, Any]:
    """Read an entry of the header, which is a table in JSON."""
    try:
        found = json.loads(header[name])
    except KeyError:
        raise ValueError(f"the header has no entry {name!r}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the {name} in the header is no JSON that can be read: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"the {name} in the header must be a table, got {found!r:.60}")
    return found


def _to_whole_numbers(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Round matrices to whole numbers; those of one row share a unit."""
    parts: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if weight.ndim == 2:
            parts[name], parts[name + UNITS] = quantize(weight)
        else:
            parts[name] = weight.contiguous()
    return parts


def _from_whole_numbers(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Multiply whole numbers by their units, where there are any."""
    result = {}
    for name, weight in weights.items():
        units = weights.get(name + UNITS)
        if name.endswith(UNITS):
            if weights.get(name.removesuffix(UNITS), weight).dtype != torch.int8:
                raise ValueError(f"{name} are units of no whole numbers")
        elif weight.dtype != torch.int8:
            result[name] = weight
        elif units is None:
            raise ValueError(f"{name} holds whole numbers without their units, {name + UNITS}")
        elif weight.ndim != 2 or not units.is_floating_point() or units.shape != weight.shape[:1]:
            raise ValueError(
                f"{name} is {weight.dtype} of shape {tuple(weight.shape)}: its units must be one "
                f"number for each row, got {units.dtype} of shape {tuple(units.shape)}"
            )
        else:
            _refuse_broken({name + UNITS: units})
            result[name] = dequantize(weight, units)
    return result


def _refuse_broken(weights: Mapping[str, Tensor]) -> None:
    """Raise a ``ValueError`` when a number is NaN or infinite."""
    for name, weight in weights.items():
        if not holds_finite(weight):
            raise ValueError(f"{name} must be finite in {weight.dtype}, it holds NaN or infinity")


def _checksum(header: Mapping[str, str], weights: Mapping[str, Tensor]) -> str:
    """Compute the SHA-256 of configuration, metadata and all weights."""
    digest = hashlib.sha256()
    for name in ("config", "metadata"):
        digest.update(header.get(name, "").encode())
    for name, weight in sorted(weights.items()):
        digest.update(f"{name} {weight.dtype} {tuple(weight.shape)}".encode())
        digest.update(weight.flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
