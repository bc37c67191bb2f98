"""The spectrogram widget: signals with known contents, seen through windows of any length."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import traitlets
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from primer import fourier
from primer.fourier.inputs import signal
from primer.inputs import positive
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Name, Number, Switch, Whole, known

SHORTEST_WINDOW = 8
SHORTEST_SIGNAL = 64
COARSEST = 12
"""The highest number that ``keep_every`` may take."""


def capital(name: str) -> str:
    """Return a name as it begins a line; `str.capitalize` would spoil Hann's."""
    return name[0].upper() + name[1:]


WINDOWS = {
    "rectangular": fourier.rectangular,
    "Hann": fourier.hann,
    "Gaussian": fourier.gaussian,
}


def _record(
    samples: np.ndarray,
    rate: float,
    note: str,
    *,
    window_length: int,
    hop: int,
    lines: list[dict[str, Any]] | None = None,
    instants: list[dict[str, Any]] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Describe a signal to the browser: samples, what is known of it, a view to start with."""
    scale = float(np.abs(samples).max()) or 1.0
    return {
        "rate": rate,
        "note": note,
        "samples": np.round(samples / scale * 32767).astype("<i2").tobytes(),
        "scale": scale,
        "start": 0.0,
        "unit": "s",
        "moment": 0.5,
        "decibels": 70.0,
        "window_length": window_length,
        "hop": hop,
        "lines": lines or [],
        "instants": instants or [],
        **more,
    }


def _line(label: str, *points: tuple[float, float]) -> dict[str, Any]:
    """Describe a known frequency by its (time, frequency) points."""
    return {"label": label, "points": [list(point) for point in points]}


def known_signals() -> dict[str, dict[str, Any]]:
    """Make the signals the widget offers, each with what is known of it, by :mod:`primer.fourier`.

    Returns
    -------
    dict
        For each name a record of the 16-bit samples, their rate, the known frequencies over time
        (``lines``) and known instants, and a window length and hop to start with.

    Examples
    --------
    >>> [(name, record["rate"]) for name, record in known_signals().items()][:2]
    [('chirp', 8000), ('two tones', 4000)]
    """
    string = 8000 / 36.5  # the loop nearest to 220 Hz
    years, numbers = fourier.sunspots()
    return {
        "chirp": _record(
            fourier.chirp(8000, start=200, stop=3600),
            8000,
            "A tone that glides from 200 to 3600 Hz. Lower the sampling rate: above f_s/2 it turns "
            "back.",
            window_length=256,
            hop=32,
            lines=[_line("chirp", (0, 200), (1, 3600))],
        ),
        "two tones": _record(
            fourier.two_tones(4000, frequencies=(1000, 1060)),
            4000,
            "1000 and 1060 Hz together. A long window shows two lines, a short one a single "
            "line that beats 60 times a second.",
            window_length=512,
            hop=16,
            lines=[_line(f"{f} Hz", (0, f), (1, f)) for f in (1000, 1060)],
        ),
        "click + tone": _record(
            fourier.click_and_tone(4000, frequency=1000, at=0.5),
            4000,
            "A click of a single sample over a tone of 1000 Hz. Lengthen the window: the tone gets "
            "thinner, the click smears.",
            window_length=64,
            hop=8,
            moment=0.3,
            lines=[_line("1000 Hz", (0, 1000), (1, 1000))],
            instants=[{"label": "click", "time": 0.5}],
        ),
        "plucked string": _record(
            fourier.plucked_string(8000, frequency=220),
            8000,
            f"A string of {string:.0f} Hz and its overtones, which fade the sooner the higher they "
            "are.",
            window_length=512,
            hop=64,
            lines=[_line(f"{n}", (0, n * string), (1, n * string)) for n in range(1, 9)],
        ),
        "sung vowel": _record(
            fourier.sung_vowel(8000, pitch=150),
            8000,
            "An “ah” sung at 150 Hz. A long window shows the harmonics of the voice, a short one "
            "the resonances of the mouth.",
            window_length=512,
            hop=64,
            lines=[
                _line(f"formant {n}", (0, f), (1, f)) for n, f in enumerate((730, 1090, 2440), 1)
            ],
        ),
        "sunspots": _record(
            numbers - numbers.mean(),
            1,
            "Yearly sunspot numbers, 1700 to 2008, less their mean: a cycle of about eleven years, "
            "never quite regular.",
            window_length=64,
            hop=2,
            start=float(years[0]),
            unit="years",
            decibels=40.0,
            lines=[_line("11 years", (0, 1 / 11), (len(years), 1 / 11))],
        ),
    }


def _own_record(samples: ArrayLike, sample_rate: float) -> dict[str, Any]:
    """Check the reader's own samples and describe them.

    Raises
    ------
    ValueError
        When the samples are not one real, finite sequence of at least 64 numbers, or the rate is
        not above 0.
    """
    rate = positive("sample_rate", sample_rate)
    values = signal("samples", samples, complex_allowed=False)
    if values.ndim != 1 or len(values) < SHORTEST_SIGNAL:
        raise ValueError(
            f"samples must be one sequence of at least {SHORTEST_SIGNAL} numbers, "
            f"got an array of shape {values.shape}"
        )
    length = min(256, 1 << (len(values) // 4).bit_length() - 1)
    return _record(
        values,
        rate,
        f"Your own samples: {len(values)} at {rate:g} Hz.",
        window_length=length,
        hop=max(1, length // 8),
    )


class SpectrogramExplorer(Widget):
    r"""A signal, its spectrogram, and the window between them.

    Parameters
    ----------
    samples : array_like, shape (N,), optional
        A signal of your own, real; it joins the others as ``"your samples"`` and is shown first.
    sample_rate : float, optional
        Its samples per second, Hz; needed with ``samples``.
    **state
        First values of the traits: ``signal``, ``window`` (``"rectangular"``, ``"Hann"`` or
        ``"Gaussian"``), ``window_length`` and ``hop`` in samples of the signal, ``keep_every``
        (only each so manieth sample is kept, without a low-pass filter, so that the rest aliases),
        ``time`` of the current frame, ``decibels`` shown, and ``show_known``.

    Raises
    ------
    ValueError
        When the samples are complex, not finite or too few, or the rate is not above 0.
    TraitError
        When a trait is out of its range: a window longer than the signal, a hop of 0, a time
        outside the signal, NaN.

    Examples
    --------
    >>> SpectrogramExplorer(signal="two tones", window_length=64)  # doctest: +NORMALIZE_WHITESPACE
    SpectrogramExplorer(signal='two tones', window='Hann', window_length=64, hop=16, keep_every=1,
                        time=0.5, decibels=70.0, show_known=True)
    """

    description = (
        "A spectrogram: time runs to the right, frequency upwards, strength is color. Above it the "
        "waveform with the window drawn on it, beside it the spectrum of the windowed piece."
    )

    signals = traitlets.Dict().tag(sync=True)
    signal = Name(
        "chirp",
        among="signals",
        label="Signal",
        look="radio",
        words=capital,
        more={"own": "Your sound"},
    )
    window = Choice("Hann", {name: capital(name) for name in WINDOWS}, label="Window")
    window_length = Whole(
        256, low=SHORTEST_WINDOW, high=2**24, step=0.25, scale="octaves", label="Window length"
    )
    hop = Whole(32, low=1, high=2**24, scale="octaves", label="Hop")
    keep_every = Whole(1, low=1, high=COARSEST, scale="falling", label="Sampling rate")
    time = traitlets.Float(0.5).tag(sync=True)
    decibels = Number(
        70.0, low=20.0, high=120.0, step=5, digits=0, unit=" dB", label="Levels shown"
    )
    show_known = Switch(True, label="Show what is known")

    def __init__(
        self, samples: ArrayLike | None = None, sample_rate: float | None = None, **state: Any
    ) -> None:
        signals = known_signals()
        if samples is not None:
            if sample_rate is None:
                raise ValueError("samples need their sample_rate, in Hz")
            signals["your samples"] = _own_record(samples, sample_rate)
            state.setdefault("signal", "your samples")
        name = known("signal", state.setdefault("signal", "chirp"), signals)
        super().__init__(signals=signals, **{**self._first_view(signals[name]), **state})
        self.observe(self._follow_signal, "signal")

    @staticmethod
    def _first_view(record: dict[str, Any]) -> dict[str, Any]:
        """Return how a signal is first looked at: its own window, hop and moment."""
        return {
            "window_length": record["window_length"],
            "hop": record["hop"],
            "keep_every": 1,
            "decibels": record["decibels"],
            "time": record["moment"] * len(record["samples"]) / 2 / record["rate"],
        }

    def _follow_signal(self, change: traitlets.Bunch) -> None:
        """Move to the first view of a newly chosen signal."""
        with self.hold_trait_notifications():
            for name, value in self._first_view(self.signals[change.new]).items():
                setattr(self, name, value)

    def _length(self) -> int:
        """Return the number of samples of the signal."""
        return len(self.signals[self.signal]["samples"]) // 2

    @traitlets.validate("window_length", "hop")
    def _within_signal(self, proposal: traitlets.Bunch) -> int:
        if proposal.value > self._length():
            raise traitlets.TraitError(
                f"{proposal.trait.name} ({proposal.value} samples) is longer than the signal "
                f"{self.signal!r} ({self._length()}); take at most that"
            )
        return int(proposal.value)

    @traitlets.validate("time")
    def _within_duration(self, proposal: traitlets.Bunch) -> float:
        value, duration = float(proposal.value), self._length() / self.signals[self.signal]["rate"]
        if not 0 <= value <= duration:  # a NaN fails this comparison too
            raise traitlets.TraitError(f"time must be from 0 to {duration:g}, got {value}")
        return value

    def analysis(self) -> tuple[Float[np.ndarray, "n"], float, Float[np.ndarray, "m"], int]:
        """Return what is analyzed: the kept samples, their rate, the window and the hop.

        Window and hop keep their durations when samples are left out, to the nearest sample.

        Returns
        -------
        samples : float array, shape (ceil(N / keep_every),)
            The kept samples, between -1 and 1.
        sample_rate : float
            Their rate, Hz (or per year).
        window : float array, shape (M,)
            The window.
        hop : int
            Samples from frame to frame.
        """
        record, every = self.signals[self.signal], self.keep_every
        samples = np.frombuffer(record["samples"], "<i2")[::every] / 32767
        length = max(4, math.floor(self.window_length / every + 0.5))
        hop = max(1, math.floor(self.hop / every + 0.5))
        return samples, record["rate"] / every, WINDOWS[self.window](length), hop

    def picture(self) -> Figure:
        """Draw the waveform, the spectrogram and the spectrum of the current frame.

        Returns
        -------
        Figure
            Three panels that share their axes: time to the right, frequency upwards.
        """
        samples, rate, window, hop = self.analysis()
        record = self.signals[self.signal]
        unit = "Hz" if record["unit"] == "s" else "1/year"
        times, frequencies, power = fourier.spectrogram(samples, rate, window, hop)
        level = 10 * np.log10(4 * power / window.sum() ** 2 + 1e-12)  # 0 dB: a sine of amplitude 1
        figure = Figure(figsize=(7.2, 4.6), layout="constrained")
        wave, corner, image, spectrum = figure.subplots(
            2, 2, width_ratios=(3.4, 1), height_ratios=(1, 2.8)
        ).ravel()
        seconds = record["start"] + np.arange(len(samples)) / rate
        wave.plot(seconds, samples * record["scale"], lw=0.8)
        self._draw_window(wave, window, rate, record)
        image.pcolormesh(
            record["start"] + times, frequencies, level.T, vmin=-self.decibels, vmax=0,
            shading="nearest", rasterized=True,
        )  # fmt: skip
        if self.show_known:
            for line in record["lines"]:
                t, f = np.array(line["points"]).T
                t, f = np.linspace(t[0], t[-1], 400), np.linspace(f[0], f[-1], 400)
                image.plot(record["start"] + t, f, "--", color="white", lw=1)
        image.axvline(record["start"] + self.time, color="white", lw=1)
        current = int(np.abs(times - self.time).argmin())
        spectrum.plot(level[current], frequencies)
        top = record["rate"] / 2
        for panel in (wave, image):
            panel.set_xlim(record["start"], record["start"] + len(samples) / rate)
        for panel in (image, spectrum):
            panel.set_ylim(0, top)
            panel.grid(visible=False)
        wave.tick_params(labelbottom=False)
        spectrum.tick_params(labelleft=False)
        spectrum.set_xlim(-self.decibels, 0)
        image.set(xlabel=f"time ({record['unit']})", ylabel=f"frequency ({unit})")
        spectrum.set_xlabel("level (dB)")
        length = f"{len(window) / rate:.3g} {record['unit']}"
        wave.set_title(f"{self.signal}, seen through a {self.window} window of {length}")
        self._write_spreads(corner, window, rate)
        return figure

    def _draw_window(
        self, wave: Axes, window: np.ndarray, rate: float, record: dict[str, Any]
    ) -> None:
        """Draw the window around the current moment, on both sides of zero."""
        moments = record["start"] + self.time + (np.arange(len(window)) - len(window) // 2) / rate
        height = window * record["scale"]
        wave.fill_between(moments, -height, height, color=LIGHT["orange"], alpha=0.3, lw=0)

    def _write_spreads(self, corner: Axes, window: np.ndarray, rate: float) -> None:
        """Write σ_t, σ_f and their product into the empty corner."""
        spread = fourier.spread(window, rate)
        corner.axis("off")
        text = (
            f"$\\sigma_t$ = {spread.time:.3g}\n$\\sigma_f$ = {spread.frequency:.3g}\n"
            f"$\\sigma_t\\sigma_f$ = {4 * math.pi * spread.product:.3g} $\\cdot\\ 1/4\\pi$"
        )
        corner.text(0, 0.5, text, va="center", fontsize=9.5)
