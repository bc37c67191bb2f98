"""One process or several: who I am, where I calculate, and what we share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import distributed


class Process(NamedTuple):
    """One of the processes that train a model together.

    Attributes
    ----------
    rank : int
        Its number; process 0 writes the files and shows the progress.
    world_size : int
        How many there are.
    device : torch.device
        A GPU where there is one, otherwise the CPU.
    """

    rank: int
    world_size: int
    device: torch.device

    @property
    def is_first(self) -> bool:
        """Whether this process writes the files."""
        return self.rank == 0

    def mean(self, value: torch.Tensor) -> float:
        """Average a number over the processes."""
        if self.world_size > 1:
            value = value.clone()
            distributed.all_reduce(value)
        return float(value) / self.world_size

    def wait_for_others(self) -> None:
        """Go on when all processes have come this far."""
        if self.world_size > 1:
            distributed.barrier()


@contextmanager
def join_processes() -> Iterator[Process]:
    """Join the processes that ``torchrun`` has started, or be the only one.

    Raises
    ------
    ValueError
        When there are GPUs, but not one for each process.

    Examples
    --------
    >>> with join_processes() as process:
    ...     process.rank, process.world_size
    (0, 1)
    """
    on_gpu = torch.cuda.is_available()
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if on_gpu and local >= torch.cuda.device_count():
        raise ValueError(
            f"each process needs a GPU of its own and this machine has "
            f"{torch.cuda.device_count()}: lower --nproc-per-node"
        )
    device = torch.device("cuda", local) if on_gpu else torch.device("cpu")
    if "WORLD_SIZE" not in os.environ:
        yield Process(0, 1, device)
        return
    if on_gpu:
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if on_gpu else "gloo")
    try:
        yield Process(distributed.get_rank(), distributed.get_world_size(), device)
    finally:
        distributed.destroy_process_group()
