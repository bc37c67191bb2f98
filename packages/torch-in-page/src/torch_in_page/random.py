"""``torch.random``: the global generator."""

from .drawing import fork_rng, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from .generator import default_generator
from .tensor import unknown

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]
__getattr__ = unknown("torch.random")
