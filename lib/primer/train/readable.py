"""The training loop without its safety: no saved state, no log, one process, one phase.

:mod:`primer.train.loop` survives a power cut and shares its work among processes, and takes several
files to read.  What it does to the weights stands here, to be read from top to bottom.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.optim import AdamW

from primer.inputs import Steps, checked
from primer.train.configuration import Configuration
from primer.train.data import Batches, Corpus
from primer.train.initialization import initialize
from primer.train.schedule import learning_rate
from primer.transformers import Transformer


@checked
def train_plainly(
    configuration: Configuration, corpus: Corpus, steps: Steps
) -> tuple[Transformer, list[float]]:
    r"""Train a model for the first steps of a configuration, in as few lines as it takes.

    The losses are those of :func:`~primer.train.train`, to the last bit, as long as the first phase
    lasts and repeats no text.

    Parameters
    ----------
    configuration : Configuration
        From :func:`~primer.train.read_configuration`; float32, without accumulation.
    corpus : Corpus
        From :func:`~primer.train.read_corpus`.
    steps : int
        How many steps to take, at most those of the first phase.

    Returns
    -------
    model : Transformer
        The model after these steps.
    losses : list of float
        The loss of each batch before its step, in nats per token.

    Raises
    ------
    ValueError
        When an argument is of another kind, or there are more steps than the phase has.

    References
    ----------
    The shape of the loop is that of Karpathy's nanoGPT (2022), ``train.py``.

    Examples
    --------
    >>> from primer.language_models import BytePairEncoding
    >>> from primer.train import DataSettings, TrainingSettings
    >>> from primer.transformers import TransformerConfig
    >>> shape = TransformerConfig(
    ...     vocab_size=257, n_layers=1, d_model=8, n_heads=2, context_length=8)  # fmt: skip
    >>> plan = TrainingSettings(
    ...     steps=9, batch_size=4, learning_rate=0.03, final_learning_rate=0.01, warmup_steps=0,
    ...     weight_decay=0.1, clip_norm=1.0, save_every=9, held_out_windows=1)  # fmt: skip
    >>> run = Configuration(DataSettings("rhymes", 257), shape, plan)
    >>> letters = BytePairEncoding([])
    >>> rhyme = torch.tensor(letters.encode("la la li " * 30))
    >>> _, losses = train_plainly(run, Corpus(letters, rhyme, rhyme, ""), steps=9)
    >>> len(losses), losses[-1] < losses[0]
    (9, True)
    """
    settings, phase = configuration.training, configuration.course[0]
    torch.manual_seed(settings.seed)
    model = Transformer(configuration.model)
    initialize(model, settings.initialization, settings.shared_vector)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = phase.dropout

    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]  # gains and biases do not decay
    groups = [
        {"params": matrices, "weight_decay": phase.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    optimizer = AdamW(groups, betas=(settings.beta1, settings.beta2), fused=True)

    text = Batches(corpus.training, phase.context_length, phase.batch_size, settings.seed)
    losses = []
    for step in range(steps):
        rate = learning_rate(
            step,
            peak=phase.learning_rate,
            final=phase.final_learning_rate,
            warmup_steps=phase.warmup_steps,
            total_steps=phase.steps,
        )
        for group in optimizer.param_groups:
            group["lr"] = rate
        torch.manual_seed((settings.seed << 32) + step)  # what dropout leaves out
        batch = text.at(step)  # (batch, context + 1)
        logits = model(batch[:, :-1])  # (batch, context, vocab)
        loss = cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), settings.clip_norm)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return model, losses
