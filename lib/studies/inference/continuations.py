"""Held-out passages, continued and judged.

Up to two hundred passages are continued by 192 tokens.  Each decoder, and each memory that greedy
decoding is left, is one block of lines in the table: a measure, its mean over texts (or contexts,
or loops), the standard error of that mean, and how many there were.  ``python -m studies
inference.continuations`` measures what is missing, all of it in about half an hour of one core.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.attention import ablate_heads
from primer.datasets import split_plays
from primer.inference.beam import beam_search
from primer.inference.generation import generate
from primer.inference.loops import Loop, final_loop, loops
from primer.inference.quality import distinct_ngrams
from primer.inference.sampling import greedy, sample
from primer.transformers import Block, Transformer, load_pretrained
from studies.study import Study

N_TEXTS, PROMPT, NEW, N_CONTEXTS = 200, 32, 192, 1000
MEMORIES = (1, 2, 4, 8, 16, 32, 64, 128)
FORGETFUL = {1: 200, 2: 200, 4: 200, 8: 200, 16: 200, 32: 100, 64: 50}
"""How many texts are written with a memory of m tokens: each token reads all of them anew."""
SAMPLED, SEARCHED, LISTENED = 100, 60, 100
"""How many texts each sampler and beam search write; how many are searched up to a full stop."""
SEEN = {"half a round": 0.5, "one round": 1, "two rounds": 2, "three rounds": 3, "all": np.inf}
"""How much of the text the model is shown when it is asked for the fourth round of a loop."""
SETTINGS: dict[str, dict[str, Any]] = {
    **{f"τ = {tau}": {"temperature": tau} for tau in (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5)},
    **{f"k = {k}": {"top_k": k} for k in (8, 56)},
    **{f"p = {p}": {"top_p": p} for p in (0.5, 0.9)},
}
"""How the samplers are set; k = 8 and 56 keep as many tokens on average as p = 0.5 and 0.9."""
INDUCTION, WITHOUT = {1: (2, 3), 2: (1, 2)}, " without induction"
"""The model's induction heads by layer, and the end of a setting that silences them."""
SILENCED = [f"{name}{WITHOUT}" for name in ("greedy", "τ = 0.1", "τ = 0.3", "τ = 0.5")]


class Run(NamedTuple):
    """One measure: its mean, the standard error of the mean, and over how many."""

    setting: str
    measure: str
    mean: Annotated[float, ".5f"]
    error: Annotated[float, ".5f"]
    n: int


def results() -> dict[tuple[str, str], Run]:
    """Read what was measured, by setting and measure.

    Examples
    --------
    >>> results()["greedy", "ends in a loop"].n
    200
    """
    return {run[:2]: run for run in study.read()}


@cache
def _held_out_plays() -> list[Int[Tensor, " n"]]:
    """Encode the held-out plays, once for all who draw from them."""
    _, encoding = load_pretrained("plays")
    return [torch.tensor(encoding.encode(play)) for play in split_plays()[1].values()]


def held_out_passages(n: int = N_TEXTS, length: int = PROMPT + NEW) -> Int[Tensor, "n length"]:
    """Draw passages of the held-out plays that do not overlap; their first tokens are the prompts.

    Examples
    --------
    >>> held_out_passages(3).shape
    torch.Size([3, 224])
    """
    everything = torch.cat([play.unfold(0, length, length) for play in _held_out_plays()])
    drawn = np.random.default_rng(11).permutation(len(everything))[:n]
    return everything[torch.from_numpy(drawn)]


def generate_forgetful(
    model: Transformer, prompts: Int[Tensor, "batch seq"], n_tokens: int, memory: int
) -> Int[Tensor, "batch length"]:
    """Continue texts greedily by a model that is shown their last ``memory`` tokens only."""
    tokens = prompts
    for _ in range(n_tokens):
        with torch.no_grad():
            new = greedy(model(tokens[:, -memory:], n_last=1)[:, -1])
        tokens = torch.cat([tokens, new[:, None]], dim=1)
    return tokens


# ---------------------------------------------------------------- what is measured


def _line(setting: str, measure: str, values: Iterable[float]) -> Run:
    """Summarize one measure."""
    numbers = np.array(list(values), dtype=float)
    error = numbers.std(ddof=1) / len(numbers) ** 0.5 if len(numbers) > 1 else 0.0
    return Run(setting, measure, float(numbers.mean()), float(error), len(numbers))


class Laboratory:
    """The model of the book in double precision, the passages, and the words of Shakespeare."""

    def __init__(self, n_texts: int = N_TEXTS, n_contexts: int = N_CONTEXTS) -> None:
        model, self.encoding = load_pretrained("plays")
        self.model = model.double()
        self.passages = held_out_passages(n_texts)
        self.n_contexts = n_contexts
        training, _ = split_plays()
        self.known = set(re.findall(r"[a-z']+", " ".join(training.values()).lower()))

    def _in_batches(
        self, write: Callable[[Int[Tensor, "batch seq"]], Int[Tensor, "batch length"]], n: int
    ) -> Int[Tensor, "n length"]:
        """Continue the first n prompts, fifty at a time."""
        return torch.cat([write(rows) for rows in self.passages[:n, :PROMPT].split(50)])

    def write(self, setting: str) -> Int[Tensor, "n length"]:
        """Return the passages as Shakespeare or a decoder continues them."""
        if setting.endswith(WITHOUT):
            with ExitStack() as stack:
                for layer, heads in INDUCTION.items():
                    block = self.model.blocks[layer]
                    assert isinstance(block, Block)
                    stack.enter_context(ablate_heads(block.attention, heads))
                return self.write(setting.removesuffix(WITHOUT))
        if setting == SHAKESPEARE:
            return self.passages
        if setting == "greedy":
            everything = len(self.passages)
            return self._in_batches(lambda rows: generate(self.model, rows, NEW), everything)
        if setting == "4 beams":
            prompts = self.passages[:SEARCHED, :PROMPT]
            found = [beam_search(self.model, row, NEW, n_beams=4)[0].tokens for row in prompts]
            return torch.cat([prompts, torch.tensor(found)], dim=1)
        if setting.startswith("m = "):
            m = int(setting[4:])
            forgetful = partial(generate_forgetful, self.model, n_tokens=NEW, memory=m)
            return self._in_batches(forgetful, FORGETFUL[m])
        dice = torch.Generator().manual_seed(13)
        choose = partial(sample, generator=dice, **SETTINGS[setting])
        return self._in_batches(lambda rows: generate(self.model, rows, NEW, choose), SAMPLED)

    def judge(self, setting: str, texts: Int[Tensor, "n length"]) -> list[Run]:
        """Measure texts: one value for each, then the mean."""
        values: dict[str, list[float]] = {}
        for text in texts:
            for measure, value in self._judge_one(text).items():
                values.setdefault(measure, []).append(value)
        # a text of a model that sees two tokens may hold no word at all
        skipped = {"known words"} if setting.startswith("m = ") else set()
        return [_line(setting, m, found) for m, found in values.items() if m not in skipped]

    def _judge_one(self, text: Int[Tensor, " length"]) -> dict[str, float]:
        """Measure one text."""
        new = text[PROMPT:]
        with torch.no_grad():
            logits = self.model(text[None, :-1])[0, PROMPT - 1 :]
        chosen = logits.gather(-1, new[:, None])
        rank = (logits > chosen).sum(-1)
        scores = (chosen - logits.logsumexp(-1, keepdim=True)).flatten()
        words = re.findall(r"[a-z']+", self.encoding.decode(new.tolist()).lower())[1:-1]
        found, last = loops(new), final_loop(new)
        early = new[:40]
        return {
            "log-probability": float(scores.mean()),
            "repeated": 1 - distinct_ngrams(new, 4),
            "repeated after 40": 1 - distinct_ngrams(early, 4),
            "distinct pairs": distinct_ngrams(new, 2),
            "middle": float(((rank >= 10) & (rank < 200)).double().mean()),
            "known words": float(np.mean([float(word in self.known) for word in words] or [1.0])),
            "ends in a loop": float(last is not None),
            "left a loop": float(any(one.end < len(new) for one in found)),
        }

    def circles(self, texts: Int[Tensor, "n length"]) -> list[Run]:
        """Ask the loops of greedy texts whether they feed themselves and what keeps them going."""
        ended = [(text, one) for text in texts if (one := final_loop(text)) and one.start >= PROMPT]
        lines = [_line("loops", "period", [one.period for _, one in ended])]
        rounds = np.array([self._rounds(text, one) for text, one in ended])
        for i, name in enumerate(("first", "second", "third")):
            lines.append(_line("loops", f"{name} round", rounds[:, i]))
        lines.append(_line("loops", "third less first", rounds[:, 2] - rounds[:, 0]))
        lines.append(_line("loops", "third less second", rounds[:, 2] - rounds[:, 1]))
        context = self.model.config.context_length  # it must hold the fourth round too
        fitting = [(text, one) for text, one in ended if one.start + 4 * one.period <= context]
        for name, n_rounds in SEEN.items():
            kept = [self._goes_on(text, one, n_rounds) for text, one in fitting]
            lines.append(_line("loops", f"goes on seeing {name}", kept))
        return lines

    def _rounds(self, text: Int[Tensor, " length"], one: Loop) -> Float[np.ndarray, " 3"]:
        """Compute the mean log-probability of a token in each of the first three rounds."""
        with torch.no_grad():
            scores = self.model(text[None, :-1])[0].log_softmax(-1)
        seen = scores.gather(-1, text[1:, None]).flatten()[one.start - 1 :]
        return seen[: 3 * one.period].reshape(3, one.period).mean(1).numpy()

    def _goes_on(self, text: Int[Tensor, " length"], one: Loop, n_rounds: float) -> bool:
        """Say whether, shown only the end of its third round, the model writes the round again."""
        end = one.start + 3 * one.period
        shown = text[:end] if n_rounds == np.inf else text[end - round(n_rounds * one.period) : end]
        more = generate(self.model, shown, one.period)[len(shown) :]
        return bool(torch.equal(more, text[end - one.period : end]))

    def lengths(self) -> list[Run]:
        """Compare the lengths of what beam search finds with and without a correction for it."""
        stop = self.encoding.encode(".")[0]
        sizes = {
            power: [
                len(beam_search(self.model, row[:PROMPT], 30, 4, power, stop)[0].tokens)
                for row in self.passages[:LISTENED]
            ]
            for power in (0.0, 1.0, 2.0)
        }
        lines = [_line("lengths", f"λ = {power:.0f}", found) for power, found in sizes.items()]
        more = np.subtract(sizes[1.0], sizes[0.0])
        return [*lines, _line("lengths", "λ = 1 less λ = 0", more)]

    def memory(self) -> list[Run]:
        """Measure loss and greedy choice at held-out places when the last m tokens are seen."""
        contexts = held_out_passages(self.n_contexts, 129)
        truth, losses, choices = contexts[:, -1], {}, {}
        for m in MEMORIES:
            with torch.no_grad():
                last = torch.cat(
                    [
                        self.model(rows[:, -m - 1 : -1], n_last=1)[:, -1]
                        for rows in contexts.split(50)
                    ]
                )
            losses[m] = torch.nn.functional.cross_entropy(last, truth, reduction="none").numpy()
            choices[m] = greedy(last).numpy()
        lines = []
        for m in MEMORIES:
            setting = f"last {m}"
            lines.append(_line(setting, "loss", losses[m]))
            lines.append(_line(setting, "loss over 128", losses[m] - losses[MEMORIES[-1]]))
            lines.append(
                _line(setting, "greedy choice of 128", choices[m] == choices[MEMORIES[-1]])
            )
        return lines


# ---------------------------------------------------------------- the study

SHAKESPEARE, LOOPS, LENGTHS, LAST = "Shakespeare", "loops", "lengths", "last 128"
NAMES = [
    SHAKESPEARE,
    "greedy",
    LOOPS,
    *SETTINGS,
    *SILENCED,
    *(f"m = {m}" for m in FORGETFUL),
    LENGTHS,
    LAST,
    "4 beams",
]
"""What is measured, in the order of the table; ``last 128`` stands for all memories."""


@cache
def laboratory() -> Laboratory:
    """Set up the book's own laboratory, once in each process."""
    return Laboratory()


def measured(name: str) -> list[Run]:
    """Measure one of ``NAMES``, in double precision."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        lab = laboratory()
        if name == LAST:
            return lab.memory()
        if name == LENGTHS:
            return lab.lengths()
        if name == LOOPS:
            return lab.circles(lab.write("greedy"))
        return lab.judge(name, lab.write(name))
    finally:
        torch.set_default_dtype(before)


study = Study(
    Path(__file__).with_suffix(".csv"),
    Run,
    measured,
    lambda _: [(name,) for name in NAMES],
    setting=lambda run: (LAST if run.setting.startswith("last ") else run.setting,),
)
