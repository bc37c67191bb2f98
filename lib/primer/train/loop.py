"""The training loop: read a batch, follow its gradient, now and then evaluate and save."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from primer.inputs import checked
from primer.train.checkpointing import Progress, load_state, save_state
from primer.train.configuration import Configuration
from primer.train.data import Batches, Corpus, read_corpus
from primer.train.evaluation import cut_windows, halved, held_out_loss
from primer.train.heads import copy_scores, cut_passages
from primer.train.initialization import initialize
from primer.train.log import LogLine, write_log
from primer.train.optimizer import make_optimizer
from primer.train.phases import Phase
from primer.train.processes import Process, join_processes
from primer.train.repetition import RepeatingBatches
from primer.train.schedule import learning_rate
from primer.transformers import Transformer, TransformerConfig, save_checkpoint

PASSAGES = 24
"""How many passages are read twice to see whether a head copies."""


@checked
def train(
    configuration: Configuration,
    folder: str | Path,
    name: str,
    build: Callable[[TransformerConfig], Transformer] = Transformer,
) -> Path:
    """Train a model, or continue a training that was interrupted at any moment.

    The folder receives ``NAME.safetensors``, the finished model with weights in float16;
    ``NAME-bpe.json``, its tokenizer; ``NAME-log.csv``, see :class:`primer.train.LogLine`; and until
    the model is finished ``NAME-state.pt``, from which the same call continues.  An interrupted run
    ends with the same weights, to the bit, as one that was left alone.

    Parameters
    ----------
    configuration : Configuration
        From :func:`read_configuration`.
    folder : path
        Made if it does not exist.
    name : str
        What the files are called.
    build : callable
        What makes the model of its configuration: a transformer, or one with layers exchanged.

    Returns
    -------
    Path
        The finished model.

    Raises
    ------
    ValueError
        When the folder holds a finished model of this name or the state of another run, or the
        batch cannot be shared among the processes.
    ArithmeticError
        When the training diverges.
    OSError
        When there is no room for a file; the last saved state stays whole.
    """
    folder = Path(folder)
    finished, state = folder / f"{name}.safetensors", folder / f"{name}-state.pt"
    if finished.exists() and not state.exists():
        raise ValueError(
            f"{finished} is a finished model; it is not overwritten: choose another folder, "
            "or move it away to train it again"
        )
    folder.mkdir(parents=True, exist_ok=True)
    settings = configuration.training
    with join_processes() as process:
        for phase in configuration.course:
            if phase.batch_size % (process.world_size * settings.accumulate):
                raise ValueError(
                    f"a batch of {phase.batch_size} sequences cannot be shared equally by "
                    f"{process.world_size} processes with accumulate = {settings.accumulate}"
                )
        corpus = read_corpus(configuration.data.texts, configuration.data.vocab_size)
        run = _Run(configuration, corpus, process, build)
        progress = Progress(0, [])
        if state.exists():
            progress = load_state(state, run.model, run.optimizer, configuration, corpus.hash)
        process.wait_for_others()  # all have read what the first will now write
        if process.is_first:
            corpus.tokenizer.save(folder / f"{name}-bpe.json")
            write_log(folder / f"{name}-log.csv", progress.log)
        remaining = run.steps_after(progress)
        for progress in remaining:
            if process.is_first:
                save_state(state, run.model, run.optimizer, progress, configuration, corpus.hash)
                write_log(folder / f"{name}-log.csv", progress.log)
        if process.is_first:
            _publish(finished, run, progress)
            state.unlink()
        process.wait_for_others()  # so that nobody returns before the model is there
    return finished


def _publish(path: Path, run: _Run, progress: Progress) -> None:
    """Save the finished model with what it was made from."""
    last = progress.log[-1]
    metadata = {
        "name": path.stem,
        "corpus_sha256": run.corpus.hash,
        "training": run.configuration.to_dict(),
        "steps": last.step,
        "phase_starts": progress.starts,
        "validation_loss": round(last.validation_loss, 5),
        "bits_per_character": round(last.bits_per_character, 5),
    }
    save_checkpoint(path, run.model, metadata, dtype=torch.float16)


class _Run:
    """A model in training: its weights, its optimizer, its data."""

    def __init__(
        self,
        configuration: Configuration,
        corpus: Corpus,
        process: Process,
        build: Callable[[TransformerConfig], Transformer],
    ) -> None:
        settings = configuration.training
        self.configuration, self.corpus, self.process = configuration, corpus, process
        torch.manual_seed(settings.seed)  # the same first weights in every process
        self.model = build(configuration.model)
        initialize(self.model, settings.initialization, settings.shared_vector)
        self.model.to(process.device)
        self.optimizer = make_optimizer(
            self.model,
            betas=(settings.beta1, settings.beta2),
            weight_decay=settings.weight_decay,
        )
        self.batches = [self._batches(*numbered) for numbered in enumerate(configuration.course)]
        # too little held-out text is refused now, not after the first steps
        cut_windows(corpus.validation, configuration.model.context_length)
        # averages the gradients of the processes while they are still being computed
        self.shared: nn.Module = self.model
        if process.world_size > 1:
            self.shared = DistributedDataParallel(
                self.model, find_unused_parameters=configuration.model.n_experts is not None
            )

    def _batches(self, number: int, phase: Phase) -> RepeatingBatches:
        """Make the batches of a phase; each phase draws them in an order of its own."""
        batches = Batches(
            self.corpus.training,
            phase.context_length,
            phase.batch_size,
            (self.configuration.training.seed + 7919 * number) % (1 << 32),
        )
        vocab_size = self.configuration.data.vocab_size
        return RepeatingBatches(batches, phase.repeated, phase.repeats, vocab_size)

    def steps_after(self, progress: Progress) -> Iterator[Progress]:
        """Train to the last step; yield whenever the state is to be saved."""
        settings, course = self.configuration.training, self.configuration.course
        done, log, starts = progress.step, list(progress.log), list(progress.starts)
        tokens = log[-1].tokens if log else 0
        began = time.perf_counter() - (log[-1].seconds if log else 0.0)
        losses: list[Tensor] = []
        bar = tqdm(
            total=starts[-1] + sum(phase.steps for phase in course[len(starts) - 1 :]),
            initial=done,
            unit="step",
            disable=not self.process.is_first,
            dynamic_ncols=True,
        )
        with bar:
            while done < starts[-1] + course[len(starts) - 1].steps:
                phase, is_last = course[len(starts) - 1], len(starts) == len(course)
                try:
                    rate, loss = self.step(done, starts)
                except ValueError as error:
                    if any(word in str(error) for word in ("finite", "NaN", "too large")):
                        self.refuse_divergence(math.nan, done)  # a layer refuses what runs away
                    raise
                losses.append(loss)
                done, tokens = done + 1, tokens + phase.tokens_per_step
                bar.update()
                speed = (bar.format_dict["rate"] or 0) * phase.tokens_per_step
                bar.set_postfix_str(f"loss {loss:.3f}, {speed:,.0f} tokens/s", refresh=False)
                ends = done == starts[-1] + phase.steps
                saves = done % settings.save_every == 0 or (ends and is_last)
                if saves:
                    mean = self.process.mean(torch.stack(losses).mean())
                    losses.clear()
                    twin = halved(self.model)
                    if not all(bool(weight.isfinite().all()) for weight in twin.parameters()):
                        self.refuse_divergence(math.nan, done - 1)  # such a model's loss is none
                    evaluated = held_out_loss(
                        twin,
                        self.corpus.validation,
                        self.corpus.tokenizer,
                        settings.held_out_windows,
                    )
                    self.refuse_divergence(evaluated.nats_per_token, done - 1)  # never saved
                    seconds = time.perf_counter() - began
                    log.append(LogLine(done, tokens, seconds, rate, mean, *evaluated[:2]))
                    ends = ends or self.copies(phase)
                if ends and not is_last:
                    bar.total -= starts[-1] + phase.steps - done  # it may end early
                    starts.append(done)
                if saves:
                    yield Progress(done, log, tuple(starts))

    def copies(self, phase: Phase) -> bool:
        """Find out whether a head copies as well as a phase asks for, on the training text."""
        if phase.until_copying == 1:
            return False
        passages = cut_passages(self.corpus.training, phase.context_length // 2, PASSAGES)
        return float(copy_scores(self.model, passages).max()) > phase.until_copying

    def step(self, step: int, starts: list[int]) -> tuple[float, Tensor]:
        """Update the weights once; return the learning rate and the loss of the batch."""
        settings, process = self.configuration.training, self.process
        number, since = len(starts) - 1, step - starts[-1]
        phase = self.configuration.course[number]
        rate = learning_rate(
            since,
            peak=phase.learning_rate,
            final=phase.final_learning_rate,
            warmup_steps=phase.warmup_steps,
            total_steps=phase.steps,
        )
        decaying, others = self.optimizer.param_groups
        decaying["lr"] = others["lr"] = rate
        decaying["weight_decay"] = phase.weight_decay
        for module in self.model.modules():
            if isinstance(module, nn.Dropout):
                module.p = phase.dropout
        # dropout too is a function of the step, so that an interruption leaves no trace; on a CPU
        # torch reads the lower 32 bits of a seed, so there the masks are the same for every seed
        torch.manual_seed((settings.seed << 32) + step * process.world_size + process.rank)
        batch = self.batches[number].at(since)
        loss = self.add_gradients(batch[process.rank :: process.world_size].to(process.device))
        self.refuse_divergence(float(loss), step)
        nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return rate, loss

    def refuse_divergence(self, loss: float, step: int) -> None:
        """Raise an ``ArithmeticError`` when a loss is no number any more."""
        settings = self.configuration.training
        if not math.isfinite(loss):
            raise ArithmeticError(
                f"the loss became {loss} at step {step}; lower learning_rate "
                f"({settings.learning_rate}) or lengthen warmup_steps ({settings.warmup_steps})"
            )

    def add_gradients(self, batch: Tensor) -> Tensor:
        """Accumulate the gradient of the mean loss over the parts of a batch; return that loss."""
        settings, device = self.configuration.training, self.process.device
        parts = batch.chunk(settings.accumulate)
        total = torch.zeros((), device=device)
        for number, part in enumerate(parts, start=1):
            with (
                self._wait_with_averaging(number < len(parts)),
                torch.autocast(
                    device.type, torch.bfloat16, enabled=settings.precision == "bfloat16"
                ),
            ):
                logits = self.shared(part[:, :-1])  # (batch, context, vocab)
                loss = cross_entropy(logits.float().flatten(0, 1), part[:, 1:].flatten())
                (loss / len(parts)).backward()
            total += loss.detach() / len(parts)
        return total

    def _wait_with_averaging(self, wait: bool) -> AbstractContextManager[Any]:
        """Let the processes exchange gradients only once, with the last part of a batch."""
        if wait and isinstance(self.shared, DistributedDataParallel):
            return self.shared.no_sync()
        return nullcontext()
