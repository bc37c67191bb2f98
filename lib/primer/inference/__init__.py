"""From next-token probabilities to text: caching, choosing, searching, guessing ahead.

The chapter *Inference* teaches this module; each function stands there beside its formula.
"""

from primer.inference.beam import Frontier, Hypothesis, beam_search, beam_steps
from primer.inference.cost import (
    StepCost,
    generation_flops,
    generation_scores,
    held_positions,
    step_cost,
)
from primer.inference.generation import generate
from primer.inference.loops import Loop, final_loop, loops
from primer.inference.markov import MarkovModel
from primer.inference.quality import distinct_ngrams, log_likelihoods
from primer.inference.reading import LanguageModel, Reader
from primer.inference.sampling import (
    effective_choices,
    entropy,
    greedy,
    probabilities,
    sample,
    top_k_filter,
    top_p_filter,
    warp_temperature,
)
from primer.inference.speculative import (
    Speculation,
    acceptance_rate,
    expected_tokens,
    residual,
    speculative_decode,
)

__all__ = [
    "Frontier",
    "Hypothesis",
    "LanguageModel",
    "Loop",
    "MarkovModel",
    "Reader",
    "Speculation",
    "StepCost",
    "acceptance_rate",
    "beam_search",
    "beam_steps",
    "distinct_ngrams",
    "effective_choices",
    "entropy",
    "expected_tokens",
    "final_loop",
    "generate",
    "generation_flops",
    "generation_scores",
    "greedy",
    "held_positions",
    "log_likelihoods",
    "loops",
    "probabilities",
    "residual",
    "sample",
    "speculative_decode",
    "step_cost",
    "top_k_filter",
    "top_p_filter",
    "warp_temperature",
]
