"""torch's generator of random numbers, bit for bit: the Mersenne Twister, and how torch reads it.

A :class:`Generator` counts how many words of 32 bits were drawn since its seed was set, so that
another one, with the same seed, can be wound forward to the same place.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from .dtypes import uint8
from .sizes import CPU
from .tensor import Tensor, made

SEED = 67280421310721
"""The seed that torch's global generator begins with."""
_WORDS = 624
_AT_ONCE = 512
"""Blocks that are drawn at a time when a place is looked for."""
# torch keeps: seed, words left in the block, whether seeded, next word, the block, three unused
# numbers of
# which the second is the kept normal, whether it is one, and the same for 32 bits
_STATE = struct.Struct("<QiiQ624Qdddi4xf?3x")


class Generator:
    """A source of random numbers with a seed and a place in its sequence."""

    __module__ = "torch._C"

    def __init__(self, device: Any = "cpu") -> None:
        from .sizes import here

        here(device)
        self.device = CPU
        self.manual_seed(SEED)

    def manual_seed(self, seed: int) -> Generator:
        """Begin the sequence of a seed."""
        seed = int(seed)
        if not -(2**63) <= seed < 2**64:
            raise RuntimeError("Overflow when unpacking long long")
        self._seed = seed % 2**64
        self._bits = np.random.MT19937()
        self._bits._legacy_seeding(self._seed & 0xFFFFFFFF)
        self.drawn = 0
        self.kept: float | None = None  # the second number of a pair of normals
        return self

    def initial_seed(self) -> int:
        """Return the seed."""
        return self._seed

    def seed(self) -> int:
        """Begin with a seed that nobody chose, and return it."""
        state = np.random.SeedSequence().generate_state(2)
        self.manual_seed(int(state[0]) << 21 ^ int(state[1]))
        return self._seed

    # ------------------------------------------------------------ drawing

    def words(self, count: int) -> np.ndarray:
        """Return the next words of 32 bits."""
        self.drawn += count
        return self._bits.random_raw(count).astype(np.uint32)

    def double_words(self, count: int) -> np.ndarray:
        """Return the next words of 64 bits: of two of 32 the first is the higher."""
        pairs = self.words(2 * count).astype(np.uint64)
        return (pairs[0::2] << np.uint64(32)) | pairs[1::2]

    def forward(self, draws: int, kept: float | None = None) -> Generator:
        """Wind the sequence forward by so many words of 32 bits.

        Parameters
        ----------
        draws : int
            How many words to pass over.
        kept : float, optional
            The normal number that was drawn as one of a pair and not used yet.
        """
        if draws:
            self._bits.random_raw(draws, output=False)
        self.drawn += draws
        self.kept = kept
        return self

    # ------------------------------------------------------------ its state, as torch has it

    def get_state(self) -> Tensor:
        """Return the state as torch's 5056 bytes."""
        state = self._bits.state["state"]
        block, place = state["key"], int(state["pos"])
        begun = place < _WORDS or self.drawn > 0
        nothing = 0.0 if self.kept is None else self.kept
        raw = _STATE.pack(
            self._seed,
            _WORDS + 1 - place,
            1,
            place if begun else 0,
            *block.tolist(),
            0.0,
            nothing,
            0.0,
            int(self.kept is not None),
            0.0,
            False,
        )
        out = made(np.frombuffer(raw, np.uint8).copy(), uint8)
        out._drawn = self.drawn  # type: ignore[attr-defined]
        return out

    def set_state(self, new_state: Tensor) -> Generator:
        """Go to a state that was read before, here or by torch itself."""
        raw = new_state._a.tobytes()
        if len(raw) != _STATE.size:
            raise RuntimeError("RNG state is wrong size")
        seed, left, _, place, *rest = _STATE.unpack(raw)
        block, (_, kept, _, valid, _, _) = rest[:_WORDS], rest[_WORDS:]
        self._seed = seed
        bits = np.random.MT19937()
        state = bits.state
        state["state"] = {"key": np.array(block, np.uint32), "pos": _WORDS if left == 1 else place}
        bits.state = state
        self._bits = bits
        self.drawn = getattr(new_state, "_drawn", 0)
        self.kept = kept if valid else None
        return self

    def clone_state(self) -> Generator:
        """Return another generator in this state."""
        return Generator().set_state(self.get_state())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.get_state(),)


def _restored(state: Tensor) -> Generator:
    return Generator().set_state(state)


default_generator = Generator()


def place_of(state: bytes, most: int = 10**9) -> tuple[int, int, float | None]:
    """Return where a generator stands: its seed, the words drawn since, and the normal it keeps.

    A build, which has torch itself, reads ``torch.get_rng_state().numpy().tobytes()`` before a cell
    and stores what this returns; the page goes there with
    ``torch.manual_seed(seed).forward(draws, kept)``.

    Parameters
    ----------
    state : bytes
        The 5056 bytes of a generator's state.
    most : int
        After how many words to give up.

    Raises
    ------
    ValueError
        When the state is not one that its seed leads to within so many words.
    """
    if len(state) != _STATE.size:
        raise ValueError(f"a generator's state has {_STATE.size} bytes, got {len(state)}")
    seed, left, _, place, *rest = _STATE.unpack(state)
    block, kept, valid = np.array(rest[:_WORDS], np.uint32), rest[_WORDS + 1], rest[_WORDS + 3]
    bits = Generator().manual_seed(seed)._bits
    kept = kept if valid else None
    if left == 1 and place == 0 and np.array_equal(bits.state["state"]["key"], block):
        return seed, 0, kept  # nothing was drawn
    at, wanted = _WORDS if left == 1 else place, _tempered(block)
    for many in range(0, most, _WORDS * _AT_ONCE):
        blocks = bits.random_raw(_WORDS * _AT_ONCE).astype(np.uint32).reshape(-1, _WORDS)
        for found in np.flatnonzero((blocks[:, :2] == wanted[:2]).all(axis=1)):
            if np.array_equal(blocks[found], wanted):
                return seed, many + int(found) * _WORDS + at, kept
    raise ValueError(f"seed {seed} does not lead to this state within {most:,} words")


def _tempered(block: np.ndarray) -> np.ndarray:
    """Return the words that a block of the Mersenne Twister gives out."""
    y = block ^ (block >> np.uint32(11))
    y ^= (y << np.uint32(7)) & np.uint32(0x9D2C5680)
    y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
    return y ^ (y >> np.uint32(18))


# ---------------------------------------------------------------- numbers from words


def uniform_words(generator: Generator, count: int, digits: int) -> np.ndarray:
    """Return numbers between 0 and 1 with as many digits as their kind holds."""
    if digits == 53:
        return (generator.double_words(count) & np.uint64((1 << 53) - 1)).astype(
            np.float64
        ) * 2.0**-53
    words = generator.words(count) & np.uint32((1 << digits) - 1)
    return words.astype(np.float32) * np.float32(2.0**-digits)


def normal_pairs(generator: Generator, count: int) -> np.ndarray:
    """Return normal numbers one after the other: Box and Muller's pairs, the second kept."""
    out = np.empty(count)
    for i in range(count):
        if generator.kept is not None:
            out[i], generator.kept = generator.kept, None
            continue
        u, v = uniform_words(generator, 2, 53).tolist()
        radius, turn = math.sqrt(-2.0 * math.log1p(-v)), 2.0 * math.pi * u
        generator.kept = radius * math.sin(turn)
        out[i] = radius * math.cos(turn)
    return out


def normal_blocks(numbers: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Return normal numbers from uniform ones in blocks of 16: eight radii and eight turns."""
    kind = numbers.dtype.type
    pairs = numbers.reshape(-1, 2, 8)
    first, second = kind(1) - pairs[:, 0], pairs[:, 1]
    if kind is np.float32:
        radius = np.sqrt(kind(-2) * logarithm(first))
        sine, cosine = turned(kind(2 * math.pi) * second)
        both = np.stack([radius * cosine, radius * sine], 1)
        return fused(both, kind(std), kind(mean)).reshape(-1)
    radius, turn = np.sqrt(-2 * np.log(first)), 2 * math.pi * second
    both = np.stack([radius * np.cos(turn), radius * np.sin(turn)], 1)
    return (both * std + mean).reshape(-1)


# The functions by which torch's vectors of 8 numbers become normal (avx_mathfun, after Cephes), in
# 32
# bits and with the same roundings: a product and a sum are rounded once.


def fused(a: Any, b: Any, c: Any) -> np.ndarray:
    """Return ``a b + c`` in 32 bits, rounded once."""
    return (np.multiply(a, b, dtype=np.float64) + c).astype(np.float32)


def fused_double(a: np.ndarray, b: float, c: float) -> np.ndarray:
    """Return ``a b + c`` in 64 bits, rounded once: Dekker's errors are added."""
    split = 134217729.0  # 2**27 + 1
    a1, b1 = a * split, b * split
    high, top = a1 - (a1 - a), b1 - (b1 - b)
    product = a * b
    lost = (high * top - product + high * (b - top) + (a - high) * top) + (a - high) * (b - top)
    total = product + c
    part = total - product
    return total + (((product - (total - part)) + (c - part)) + lost)


def logarithm(x: np.ndarray) -> np.ndarray:
    """Return natural logarithms as torch's vectors have them."""
    f = np.float32
    bits = x.view(np.int32)
    exponent = ((bits >> np.int32(23)) - np.int32(0x7F)).astype(f) + f(1)
    fraction = ((bits & np.int32(~0x7F800000)) | np.int32(0x3F000000)).view(f)
    small = fraction < f(0.707106781186547524)
    rest = np.where(small, fraction, f(0))
    x = fraction - f(1) + rest
    exponent = exponent - small.astype(f)
    z = x * x
    y = np.full_like(x, 7.0376836292e-2)
    for p in (-1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
              -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1):  # fmt: skip
        y = fused(y, x, f(p))
    y = fused(y * x, z, exponent * f(-2.12194440e-4))
    y = fused(-z, f(0.5), y)
    return fused(exponent, f(0.693359375), x + y)


def turned(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sines and cosines of angles from 0 to 2π as torch's vectors have them."""
    f = np.float32
    octant = (x * f(1.27323954473516)).astype(np.int32)
    octant = (octant + np.int32(1)) & np.int32(~1)
    y = octant.astype(f)
    swapped = (octant & np.int32(2)) == 0
    sine_down = (octant & np.int32(4)) != 0
    cosine_down = (~(octant - np.int32(2)) & np.int32(4)) != 0
    for part in (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8):
        x = fused(y, f(part), x)
    z = x * x
    c = np.full_like(x, 2.443315711809948e-5)
    c = fused(c, z, f(-1.388731625493765e-3))
    c = fused(c, z, f(4.166664568298827e-2))
    c = fused(c * z, z, -(z * f(0.5))) + f(1)
    s = np.full_like(x, -1.9515295891e-4)
    s = fused(s, z, f(8.3321608736e-3))
    s = fused(s, z, f(-1.6666654611e-1))
    s = fused(s * z, x, x)
    sine, cosine = np.where(swapped, s, c), np.where(swapped, c, s)
    return np.where(sine_down, -sine, sine), np.where(cosine_down, -cosine, cosine)
