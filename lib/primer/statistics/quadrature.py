r"""Integrals of densities that may be narrow anywhere: peaks are looked for, then measured.

A rule with a few hundred places, however adaptive, sees nothing of a peak that lies between them.
So the density is looked at on a fine grid, in the middle and far out, and as finely as the prior is
dense; each peak is climbed, and the pieces of the integral grow from each peak outward by doubling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from jaxtyping import Float

from primer.inputs import as_array
from primer.inputs.magnitude import TINY

LOOKS = {True: (2**16, 2**20), False: (2**8, 2**12)}
"""How fine the grid is, and how fine a second one where the first sees nothing: for functions that
take arrays, and for others, which are asked place by place."""
PEAKS = 100
PIECES = 20_000
COARSE, FINE = np.polynomial.legendre.leggauss(15), np.polynomial.legendre.leggauss(31)

Density = Callable[[Float[np.ndarray, " n"]], Float[np.ndarray, " n"]]


def integral(
    likelihood: Callable[..., Any], prior: Callable[..., Any], low: float, high: float
) -> float:
    """Integrate the product of two densities over a range, which may be infinite.

    Raises
    ------
    ValueError
        When one is negative or not finite somewhere, nothing is seen of their product, it does not
        fall off, or the integral is no floating-point number.
    """
    functions = [_on_arrays("likelihood", likelihood), _on_arrays("prior", prior)]
    takes_arrays = all(together for _, together in functions)
    (chance, _), (belief, _) = functions

    def log_density(x: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            height = np.log(belief(x))
            seen = height > -np.inf
            height[seen] += np.log(chance(x[seen]))
        return height

    for look in LOOKS[takes_arrays]:
        grid = _grid(belief, low, high, look)
        heights = log_density(grid)
        if (heights > -np.inf).any():
            break
    else:
        raise ValueError(
            f"the marginal likelihood came out as 0: likelihood times prior is 0 at all "
            f"{len(grid):,} places looked at between {low:g} and {high:g}; give low and high close "
            "around the peak, or check range and prior"
        )
    highest = _highest(log_density, grid, heights)
    top = max(float(log_density(np.array([mode])).max()) for mode, _ in highest)
    total = _integrate(lambda x: np.exp(log_density(x) - top), highest, low, high)
    size = top + math.log(total)
    if not math.log(TINY) < size < 709:
        raise ValueError(
            f"the marginal likelihood is e to the {size:.6g}, which no floating-point number can "
            "hold; multiply the likelihood by a constant, or work with logarithms"
        )
    return math.exp(top) * total if -700 < top < 700 else math.exp(size)


def _on_arrays(name: str, function: Callable[..., Any]) -> tuple[Density, bool]:
    """Let a function of numbers take arrays; say whether it did so by itself."""

    def one(x: float) -> float:
        value = as_array(f"the result of {name}", function(x))
        if value.size != 1 or value.dtype.kind not in "biuf":
            raise ValueError(f"{name} must return one number for one, got {value!r} for {x:g}")
        return float(value.item())

    def many(x: np.ndarray) -> np.ndarray:
        return np.broadcast_to(as_array(name, function(x)), x.shape).astype(float)

    trial = np.array([0.1234, 0.5, 0.75, 0.9, 0.3, 0.25, 0.6])
    with np.errstate(all="ignore"):
        single = [one(x) for x in trial]
        try:
            together = bool(np.allclose(many(trial), single, rtol=1e-9, atol=0, equal_nan=True))
        except Exception:  # whatever a function says to arrays that is made for numbers
            together = False

    def values(x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            y = many(x) if together else np.array([one(place) for place in x])
        wrong = ~(y >= 0) | (y == np.inf)
        if wrong.any():
            raise ValueError(
                f"{name} must be 0 or larger and finite, got {y[wrong][0]} at {x[wrong][0]:g}; "
                "check range and prior"
            )
        return y

    return values, together


def _grid(prior: Density, low: float, high: float, look: int) -> Float[np.ndarray, " n"]:
    """Choose places: near and far, near both ends, evenly, and as dense as the prior is."""
    decades = np.logspace(-12, 12, look)
    parts = [decades, -decades]
    if math.isfinite(high - low):
        near = (high - low) * np.logspace(-16, 0, look // 2)
        parts += [np.linspace(low, high, look), low + near, high - near]
    else:
        ends = ((low, decades), (high, -decades))
        parts += [end + away for end, away in ends if math.isfinite(end)]
    x = np.unique(np.concatenate(parts))
    x = x[(x > low) & (x < high)]
    heights = prior(x)
    mass = np.diff(x) * (heights[1:] + heights[:-1]) / 2
    with np.errstate(over="ignore", invalid="ignore"):
        below = np.concatenate([[0.0], (mass / mass.sum()).cumsum()])
    if np.isfinite(below).all() and below[-1] > 0:
        x = np.union1d(x, np.interp(np.linspace(0, 1, look + 2)[1:-1], below, x))
    return x[(x > low) & (x < high)]


def _highest(
    log_density: Density, grid: np.ndarray, heights: np.ndarray
) -> list[tuple[float, float]]:
    """Climb each peak that the grid shows; return its place and its width, from left to right."""
    from scipy.signal import find_peaks  # here, for it takes a while

    floor = heights[heights > -np.inf].min() - 1e3
    padded = np.concatenate([[floor], np.maximum(heights, floor), [floor]])
    tops = find_peaks(padded, prominence=0.1)[0] - 1
    tops = np.sort(tops[np.argsort(-heights[tops])][:PEAKS])
    left, right = grid[np.maximum(tops - 1, 0)], grid[np.minimum(tops + 1, len(grid) - 1)]
    mode, best = grid[tops].copy(), heights[tops].copy()
    cell = np.maximum(right - mode, mode - left)
    for _ in range(60):  # on each side of the best so far a part is lost each time
        for side in (left, right):
            trial = mode + 0.4 * (side - mode)
            higher = (found := log_density(trial)) > best
            other = right if side is left else left
            other[higher] = mode[higher]
            side[~higher] = trial[~higher]
            mode[higher], best[higher] = trial[higher], found[higher]
    peaks = []
    reach = 2.0 ** np.arange(-60, 61)
    for place, height, size in zip(mode.tolist(), best.tolist(), cell.tolist(), strict=True):
        steps = reach * size
        steps = steps[steps > 4 * np.finfo(float).eps * abs(place)]
        ends = np.concatenate([place - steps, place + steps])
        inside = (ends > grid[0]) & (ends < grid[-1])
        near = np.zeros(len(ends), dtype=bool)
        near[inside] = log_density(ends[inside]) > height - 1
        far = np.abs(ends[near] - place)
        peaks.append((place, float(far.max()) if near.any() else float(steps[0])))
    return peaks


def _integrate(
    density: Density, peaks: list[tuple[float, float]], low: float, high: float
) -> float:
    """Add up pieces that double from each peak outward, halved where the density is rough."""
    places = [place for place, _ in peaks]
    starts = [low, *places[:-1]], [*places[1:], high]
    cuts = {low, high, *places} - {-math.inf, math.inf}
    for (place, width), before, after in zip(peaks, *starts, strict=True):
        for side, end in ((-1, before), (1, after)):
            moves = place + side * width * 2.0 ** np.arange(-1, 60)
            cuts |= {cut for cut in moves.tolist() if (end - cut) * side > 0}
    edges = np.array(sorted(cuts))
    total, error = _measured(density, edges[:-1], edges[1:], 0.0)
    for outward in _tails(low, high, edges):
        for a, b in outward:
            more, rough = _measured(density, a, b, total)
            total, error = total + more, error + rough
            if more <= 1e-13 * total:
                break
        else:
            raise ValueError(
                "likelihood times prior does not fall off towards an infinite end, so that it has "
                "no integral; check range and prior"
            )
    if not error <= 1e-6 * total:
        raise ValueError(
            f"the marginal likelihood is not known to six digits, {total:g} ± {error:.1g} of the "
            "highest value; check range and prior for places where they are infinite or jump often"
        )
    return total


def _tails(
    low: float, high: float, edges: np.ndarray
) -> Iterator[Iterator[tuple[np.ndarray, np.ndarray]]]:
    """Go on doubling towards each infinite end, forty pieces at a time."""
    for end, edge, inner in ((high, edges[-1], edges[0]), (low, edges[0], edges[-1])):
        if math.isinf(end):
            first = edge - inner if edge != inner else math.copysign(1.0, end)
            ends = edge + first * (2.0 ** np.arange(0, 401) - 1)
            yield (
                (np.minimum(a, b), np.maximum(a, b))
                for a, b in ((ends[i : i + 40], ends[i + 1 : i + 41]) for i in range(0, 400, 40))
            )


def _measured(density: Density, a: np.ndarray, b: np.ndarray, known: float) -> tuple[float, float]:
    """Integrate over pieces by two rules, halving those on which the two differ."""
    total = error = 0.0
    pieces = 0
    while len(a):
        pieces += len(a)
        middle, half = (a + b) / 2, (b - a) / 2
        rules = []
        for nodes, weights in (COARSE, FINE):
            places = middle[:, None] + half[:, None] * nodes  # (pieces, nodes)
            inner = np.nextafter(a, b)[:, None], np.nextafter(b, a)[:, None]
            places = np.clip(places, *inner)  # never an end, where a density may be infinite
            rules.append(half * (density(places.ravel()).reshape(places.shape) @ weights))
        coarse, fine = rules
        gap = np.abs(fine - coarse)
        whole = known + total + fine.sum()
        finest = (b - a) <= 16 * np.finfo(float).eps * np.maximum(np.abs(a), np.abs(b))
        done = (gap <= 1e-13 * whole) | finest | (pieces > PIECES)
        total, error = total + fine[done].sum(), error + gap[done].sum()
        a, b, middle = a[~done], b[~done], middle[~done]
        a, b = np.concatenate([a, middle]), np.concatenate([middle, b])
    return float(total), float(error)
