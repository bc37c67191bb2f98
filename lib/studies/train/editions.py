"""The editions of the book's model, measured: ``python -m primer.train.editions``.

Each row of ``editions.csv`` beside this file is one published checkpoint: its loss on all four
held-out plays, how much it has learned by heart, and what its heads do.  With folders of finished
trainings, such as ``runs/plays-2``, their models are published first: in eight bits, with their
logs.
"""

from __future__ import annotations

import csv
import io
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import torch

from primer.datasets import split_plays
from primer.language_models import BytePairEncoding
from primer.saving import write_whole
from primer.tables import read_table
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

TABLE = Path(__file__).with_name("editions.csv")
PAGES, PASSAGES, PASSAGE_LENGTH = 12, 48, 64
"""Attention is measured on the first pages of *Macbeth*, repetition on its first passages."""


class Measures(NamedTuple):
    """What an edition can do.

    Attributes
    ----------
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
        The best head's :func:`copy_scores`.
    gain : float
        See :func:`repetition_gain`, in nats per token.
    """

    bits_per_character: float
    training_bits_per_character: float
    idle_layer: float
    previous_token: float
    induction: float
    copy: float
    gain: float


def editions() -> list[str]:
    """Name the editions that are published.

    Examples
    --------
    >>> editions()[0]
    'plays-1'
    """
    return sorted(path.stem for path in PRETRAINED.glob("plays-*.safetensors"))


def measure(model: Transformer, tokenizer: BytePairEncoding) -> Measures:
    """Measure a model of the plays on those that it has not read.

    Parameters
    ----------
    model : Transformer
        It reads at least 256 tokens.
    tokenizer : BytePairEncoding
        Its tokens.

    Returns
    -------
    Measures
        The same for the same weights.
    """
    return Measures(*what_it_has_learned(model, tokenizer), *what_its_heads_do(model, tokenizer))


def what_it_has_learned(model: Transformer, tokenizer: BytePairEncoding) -> tuple[float, float]:
    """Measure the first two of :class:`Measures`: bits on held-out plays and on those it read."""
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
    """Measure the others of :class:`Measures`, on the first pages of *Macbeth*."""
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


def load_measures(path: Path = TABLE) -> dict[str, Measures]:
    """Read the table.

    Examples
    --------
    >>> load_measures()["plays-1"].gain < 0  # what was read before does not help the first edition
    True
    """
    lines = read_table(
        path,
        ("edition", *Measures._fields),
        lambda row: (row["edition"], Measures(*(float(row[name]) for name in Measures._fields))),
    )
    return dict(lines)


def publish(run: Path) -> None:
    """Put a finished training's model and log where :func:`load_pretrained` finds them."""
    name = run.name
    finished = run / f"{name}.safetensors"
    metadata = {**read_metadata(finished), "name": name}
    published = PRETRAINED / finished.name
    save_checkpoint(published, load_checkpoint(finished), metadata, dtype=torch.int8)
    shutil.copy(run / f"{name}-log.csv", PRETRAINED)


def main(runs: Iterable[str] = ()) -> None:
    """Publish the models of these folders, measure all editions and write the table."""
    for run in runs:
        publish(Path(run))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("edition", *Measures._fields))
    for edition in editions():
        measures = measure(*load_pretrained(edition))
        writer.writerow((edition, *(f"{value:.4f}" for value in measures)))
        print(edition, measures)
    write_whole(TABLE, text.getvalue().encode())


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1:])
