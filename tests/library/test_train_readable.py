"""The loop one can read is the trainer: the same losses and the same weights, to the last bit."""

from pathlib import Path

import pytest
import torch

from primer.train import (
    Configuration,
    DataSettings,
    TrainingSettings,
    loop,
    read_corpus,
    train,
    train_plainly,
)
from primer.transformers import TransformerConfig


@pytest.fixture
def configuration(texts: Path) -> Configuration:
    """Make a run of twenty steps with all that a step has: warm-up, dropout, clipping, decay."""
    return Configuration(
        DataSettings(str(texts), 300),
        TransformerConfig(
            vocab_size=300, n_layers=2, d_model=16, n_heads=2, context_length=16, dropout=0.1
        ),
        TrainingSettings(
            steps=20,
            batch_size=4,
            learning_rate=1e-2,
            final_learning_rate=1e-3,
            warmup_steps=4,
            weight_decay=0.1,
            clip_norm=0.5,
            save_every=20,
            held_out_windows=8,
        ),
    )


def test_twenty_steps_have_the_trainers_losses_and_weights_to_the_last_bit(
    configuration: Configuration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses, models = [], []
    step = loop._Run.step

    def watched(run: loop._Run, number: int, starts: list[int]) -> tuple[float, torch.Tensor]:
        rate, loss = step(run, number, starts)
        losses.append(loss.item())
        models[:] = [run.model]
        return rate, loss

    monkeypatch.setattr(loop._Run, "step", watched)
    train(configuration, tmp_path, "speech")
    corpus = read_corpus(configuration.data.texts, configuration.data.vocab_size)
    model, plain = train_plainly(configuration, corpus, steps=20)
    assert plain == losses
    assert len(set(losses)) == 20
    theirs = models[0].state_dict()
    assert all(torch.equal(weights, theirs[name]) for name, weights in model.state_dict().items())


def test_more_steps_than_the_phase_has_are_refused(configuration: Configuration) -> None:
    corpus = read_corpus(configuration.data.texts, configuration.data.vocab_size)
    with pytest.raises(ValueError, match="step must lie between 0 and 19, got 20"):
        train_plainly(configuration, corpus, steps=21)
