"""``torch.utils.data``: data by number, and batches of it in random order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..creating import tensor
from ..drawing import randperm
from ..dtypes import float64, int64
from ..generator import Generator, default_generator
from ..joining import stack
from ..naming import FUNCTIONS
from ..tensor import Tensor, unknown


class Dataset:
    """Data by number."""

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")


class IterableDataset(Dataset):
    """Data one after the other."""


class TensorDataset(Dataset):
    """Rows of tensors."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(len(x) != len(tensors[0]) for x in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(x[index] for x in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class Subset(Dataset):
    """Some of the data."""

    def __init__(self, dataset: Any, indices: Any) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Any, generator: Generator | None = None) -> list[Subset]:
    """Return parts of the data, drawn at random."""
    if all(isinstance(n, float) for n in lengths):
        sizes = [int(len(dataset) * share) for share in lengths]
        for i in range(len(dataset) - sum(sizes)):
            sizes[i % len(sizes)] += 1
        lengths = sizes
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = randperm(len(dataset), generator=generator).tolist()
    parts, at = [], 0
    for n in lengths:
        parts.append(Subset(dataset, order[at : at + n]))
        at += n
    return parts


def default_collate(batch: list[Any]) -> Any:
    """Return single data as a batch."""
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(batch)
    if isinstance(first, np.ndarray):
        return stack([FUNCTIONS["as_tensor"](x) for x in batch])
    if isinstance(first, (bool, int, float)):
        return tensor(batch, dtype=float64 if isinstance(first, float) else None)
    if isinstance(first, dict):
        return {name: default_collate([one[name] for one in batch]) for name in first}
    if isinstance(first, (tuple, list)):
        return [default_collate(list(part)) for part in zip(*batch, strict=True)]
    return batch


class DataLoader:
    """Batches of data, in order or at random."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[..., Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Any = None,
        generator: Generator | None = None,
        **named: Any,
    ) -> None:
        if num_workers:
            raise NotImplementedError(
                "torch in this page has no other processes; leave num_workers at 0"
            )
        if named:
            raise NotImplementedError(
                f"torch in this page has no {next(iter(named))}= for DataLoader"
            )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        self.dataset, self.batch_size, self.sampler, self.batch_sampler = (
            dataset,
            batch_size,
            sampler,
            batch_sampler,
        )
        self.shuffle, self.drop_last = bool(shuffle), drop_last
        self.collate_fn, self.generator = collate_fn or default_collate, generator

    def __len__(self) -> int:
        if self.batch_sampler is not None:
            return len(self.batch_sampler)
        n, size = len(self.dataset), self.batch_size or 1
        return n // size if self.drop_last else -(-n // size)

    def _places(self) -> Iterator[int]:
        if self.sampler is not None:
            return iter(self.sampler)
        if not self.shuffle:
            return iter(range(len(self.dataset)))
        source = self.generator
        if source is None:  # as torch: the global generator only gives a seed
            seed = int(FUNCTIONS["empty"]((), dtype=int64).random_())
            source = Generator().manual_seed(seed)
        return iter(randperm(len(self.dataset), generator=source).tolist())

    def __iter__(self) -> Iterator[Any]:
        # torch draws a seed for its processes, whether there are any or not
        (self.generator or default_generator).double_words(1)
        if self.batch_sampler is not None:
            for places in self.batch_sampler:
                yield self.collate_fn([self.dataset[i] for i in places])
            return
        if self.batch_size is None:
            for place in self._places():
                yield self.dataset[place]
            return
        batch = []
        for place in self._places():
            batch.append(self.dataset[place])
            if len(batch) == self.batch_size:
                yield self.collate_fn(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.collate_fn(batch)


__getattr__ = unknown("torch.utils.data")
