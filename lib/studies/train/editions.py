"""The editions of the book's model, measured, each once.

Each line of the table is one published checkpoint: its loss on all four held-out plays, how much it
has learned by heart, and what its heads do.  ``python -m studies train.editions`` measures what is
missing; with folders of finished trainings, such as ``runs/plays-2``, their models are published
first: in eight bits, with their logs.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

import torch

from primer.datasets import split_plays
from primer.language_models import BytePairEncoding
from primer.train.data import token_stream
from primer.train.evaluation import held_out_loss
from primer.train.heads import (
    attention_of,
    copy_scores,
    cut_passages,
    named_scores,
    relative_entropies,
    repetition_gain,
)
from primer.transformers import (
    Transformer,
    load_checkpoint,
    load_pretrained,
    read_metadata,
    save_checkpoint,
)
from primer.transformers.checkpoint import PRETRAINED
from studies.study import Study

PAGES, PASSAGES, PASSAGE_LENGTH = 12, 48, 64
"""Attention is measured on the first pages of *Macbeth*, repetition on its first passages."""


Four = Annotated[float, ".4f"]


class Run(NamedTuple):
    """What an edition can do.

    Attributes
    ----------
    edition : str
        The name of the checkpoint.
    bits_per_character : float
        On all held-out plays, from all windows of 256 tokens.
    training_bits_per_character : float
        On as many tokens of the training plays, spread over them: the gap is overfitting.
    idle_layer : float
        Each layer has a head that looks more narrowly than the others; this is the relative entropy
        of the widest of these.  Near 1, a layer does not choose where to look.
    previous_token, induction : float
        The best heads' :func:`primer.attention.head_scores`.
    copy : float
        The best head's :func:`primer.train.copy_scores`.
    gain : float
        See :func:`primer.train.repetition_gain`, in nats per token.
    """

    edition: str
    bits_per_character: Four
    training_bits_per_character: Four
    idle_layer: Four
    previous_token: Four
    induction: Four
    copy: Four
    gain: Four


def editions() -> list[str]:
    """Name the editions that are published.

    Examples
    --------
    >>> editions()[0]
    'plays-1'
    """
    return sorted(path.stem for path in PRETRAINED.glob("plays-*.safetensors"))


def measure(model: Transformer, tokenizer: BytePairEncoding) -> tuple[float, ...]:
    """Measure a model of the plays on those that it has not read: the numbers of a :class:`Run`.

    Parameters
    ----------
    model : Transformer
        It reads at least 256 tokens.
    tokenizer : BytePairEncoding
        Its tokens.

    Returns
    -------
    tuple of float
        The same for the same weights.
    """
    return (*what_it_has_learned(model, tokenizer), *what_its_heads_do(model, tokenizer))


def what_it_has_learned(model: Transformer, tokenizer: BytePairEncoding) -> tuple[float, float]:
    """Measure the first two of :func:`measure`: bits on held-out plays and on those it read."""
    training, held_out = split_plays()
    unseen, seen = token_stream(held_out, tokenizer), token_stream(training, tokenizer)
    windows = (len(unseen) - 1) // model.config.context_length
    return (
        held_out_loss(model, unseen, tokenizer).bits_per_character,
        held_out_loss(model, seen, tokenizer, windows).bits_per_character,
    )


def what_its_heads_do(
    model: Transformer, tokenizer: BytePairEncoding
) -> tuple[float, float, float, float, float]:
    """Measure the others of :func:`measure`, on the first pages of *Macbeth*."""
    macbeth = torch.tensor(tokenizer.encode(split_plays()[1]["Macbeth"]))
    pages = cut_passages(macbeth, model.config.context_length, PAGES)
    weights = attention_of(model, pages)
    scores = named_scores(weights, pages)
    passages = cut_passages(macbeth, PASSAGE_LENGTH, PASSAGES)
    return (
        float(relative_entropies(weights).amin(dim=1).max()),
        float(scores["previous token"].max()),
        float(scores["induction"].max()),
        float(copy_scores(model, passages).max()),
        repetition_gain(model, passages),
    )


def measured(edition: str) -> Iterator[Run]:
    """Measure a published edition."""
    yield Run(edition, *measure(*load_pretrained(edition)))


def publish(run: Path) -> None:
    """Put a finished training's model and log where :func:`load_pretrained` finds them."""
    name = run.name
    finished = run / f"{name}.safetensors"
    metadata = {**read_metadata(finished), "name": name}
    published = PRETRAINED / finished.name
    save_checkpoint(published, load_checkpoint(finished), metadata, dtype=torch.int8)
    shutil.copy(run / f"{name}-log.csv", PRETRAINED)


study = Study(
    Path(__file__).with_suffix(".csv"), Run, measured, lambda _: [(name,) for name in editions()]
)


def main(folders: Iterable[str] = ()) -> None:
    """Publish the models of these folders, and measure the editions that are missing."""
    for folder in folders:
        publish(Path(folder))
    for run in study.go():
        print(run)
