"""Held-out passages, continued and judged: ``python -m primer.inference.continuations``.

Up to two hundred passages are continued by 192 tokens.  Each decoder, and each memory that greedy
decoding is left, is one block of lines in ``continuations.csv``: a measure, its mean over texts (or
contexts, or loops), the standard error of that mean, and how many there were.  What stands in the
file is not computed again, so that an interrupted run goes on where it stopped; all of it takes
about half an hour on one core.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.attention import ablate_heads
from primer.datasets import split_plays
from primer.inference.beam import beam_search
from primer.inference.choosing import greedy, sample
from primer.inference.generation import generate
from primer.inference.loops import Loop, final_loop, loops
from primer.inference.quality import distinct_ngrams
from primer.saving import write_whole
from primer.tables import read_records
from primer.transformers import Block, Transformer, load_pretrained

RESULTS = Path(__file__).with_suffix(".csv")
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


class Line(NamedTuple):
    """One measure: its mean, the standard error of the mean, and over how many."""

    setting: str
    measure: str
    mean: float
    error: float
    n: int


def read_results(path: Path = RESULTS) -> dict[tuple[str, str], Line]:
    """Read what was measured, by setting and measure.

    Examples
    --------
    >>> read_results()["greedy", "ends in a loop"].n
    200
    """
    if not path.exists():
        return {}
    lines = read_records(path, Line)
    return {(line.setting, line.measure): line for line in lines}


def held_out_passages(n: int = N_TEXTS, length: int = PROMPT + NEW) -> Int[Tensor, "n length"]:
    """Draw passages of the held-out plays that do not overlap; their first tokens are the prompts.

    Examples
    --------
    >>> held_out_passages(3).shape
    torch.Size([3, 224])
    """
    _, encoding = load_pretrained("plays")
    _, held_out = split_plays()
    pieces = [
        torch.tensor(encoding.encode(play)).unfold(0, length, length) for play in held_out.values()
    ]
    everything = torch.cat(pieces)
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


def _line(setting: str, measure: str, values: Iterable[float]) -> Line:
    """Summarize one measure."""
    numbers = np.array(list(values), dtype=float)
    error = numbers.std(ddof=1) / len(numbers) ** 0.5 if len(numbers) > 1 else 0.0
    return Line(setting, measure, float(numbers.mean()), float(error), len(numbers))


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
        if setting == "Shakespeare":
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

    def judge(self, setting: str, texts: Int[Tensor, "n length"]) -> list[Line]:
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

    def circles(self, texts: Int[Tensor, "n length"]) -> list[Line]:
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

    def lengths(self) -> list[Line]:
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

    def memory(self) -> list[Line]:
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


# ---------------------------------------------------------------- the run


def run(path: Path = RESULTS, laboratory: Laboratory | None = None, only: str = "") -> None:
    """Measure what the file does not hold yet, and add it block by block.

    Parameters
    ----------
    path : Path
        The file of results.
    laboratory : Laboratory, optional
        What is measured on; the book's own when left out.
    only : str
        When given, the one setting to measure.
    """
    forgetful = [f"m = {m}" for m in FORGETFUL]
    names = [
        "Shakespeare",
        "greedy",
        "loops",
        *SETTINGS,
        *SILENCED,
        *forgetful,
        "lengths",
        "last 128",
        "4 beams",
    ]
    known = read_results(path)
    lab = laboratory or Laboratory()
    for name in [only] if only else names:
        if any(setting == name for setting, _ in known):
            continue
        start = time.monotonic()
        if name == "last 128":
            lines = lab.memory()
        elif name == "lengths":
            lines = lab.lengths()
        elif name == "loops":
            lines = lab.circles(lab.write("greedy"))
        else:
            lines = lab.judge(name, lab.write(name))
        known |= {(line.setting, line.measure): line for line in lines}
        rows = "".join(
            f"{a},{b},{mean:.5f},{error:.5f},{n}\n" for a, b, mean, error, n in known.values()
        )
        write_whole(path, ("setting,measure,mean,error,n\n" + rows).encode())
        print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    run(Path(sys.argv[1]) if sys.argv[1:] else RESULTS)
