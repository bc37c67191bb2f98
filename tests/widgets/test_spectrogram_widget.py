"""The spectrogram widget: its JavaScript against the library, its state, its life in a browser."""

from __future__ import annotations

import base64
import gzip
import io
import re
import struct
import warnings

import numpy as np
import pytest
import scipy.io.wavfile
import scipy.signal
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st
from widget_page import settle

from primer import fourier
from primer.notebook.figures import png
from primer.widgets import SpectrogramExplorer
from primer.widgets.spectrogram import WINDOWS, known_signals

seeds = st.integers(0, 2**32 - 1)


def noise(seed: int, length: int) -> np.ndarray:
    """Return random samples between -1 and 1."""
    return np.random.default_rng(seed).uniform(-1, 1, length)


# ---------------------------------------------------------------- the mathematics, against primer


@given(seed=seeds, power=st.integers(0, 11))
def test_fft_is_the_librarys(javascript, seed, power):
    x = noise(seed, 2 * 2**power).reshape(2, -1)
    got = javascript("spectrum.js", "fft", x[0], x[1])
    expected = fourier.fft(x[0] + 1j * x[1])
    np.testing.assert_allclose(np.array(got["re"]) + 1j * np.array(got["im"]), expected, atol=1e-9)


@given(name=st.sampled_from(sorted(WINDOWS)), length=st.integers(4, 600))
def test_windows_and_their_spreads_are_the_librarys(javascript, name, length):
    window = WINDOWS[name](length)
    np.testing.assert_allclose(
        javascript("spectrum.js", "windowShape", name, length), window, atol=1e-12
    )
    got = javascript("spectrum.js", "spread", window, 1000)
    expected = fourier.spread(window, 1000)
    np.testing.assert_allclose([got["time"], got["frequency"]], expected, rtol=1e-9)


@given(
    seed=seeds,
    name=st.sampled_from(sorted(WINDOWS)),
    length=st.sampled_from([8, 32, 128]),
    hop=st.integers(1, 60),
)
def test_frame_powers_are_the_spectrogram(javascript, seed, name, length, hop):
    x, window = noise(seed, 300), WINDOWS[name](length)
    power = fourier.spectrogram(x, 1, window, hop).power * 4 / window.sum() ** 2
    centers = hop * np.arange(len(power))
    got = np.reshape(
        javascript("spectrum.js", "framePowers", x, window, centers, length), power.shape
    )
    np.testing.assert_allclose(got, power, atol=1e-6)


@given(seed=seeds, length=st.integers(4, 100), center=st.integers(0, 200))
def test_frames_of_any_length_are_padded_and_zero_outside_the_signal(
    javascript, seed, length, center
):
    x, window = noise(seed, 200), fourier.hann(length)
    n = center - length // 2 + np.arange(length)
    frame = np.where((n >= 0) & (n < 200), x[np.clip(n, 0, 199)], 0) * window
    expected = np.abs(fourier.rfft(np.pad(frame, (0, 128 - length)))) ** 2 * 4 / window.sum() ** 2
    got = javascript("spectrum.js", "framePowers", x, window, [center], 128)
    np.testing.assert_allclose(got, expected, atol=1e-6)


@given(frequency=st.floats(0, 1e5), rate=st.floats(0.1, 1e5))
def test_alias_is_the_librarys(javascript, frequency, rate):
    got = javascript("spectrum.js", "aliasFrequency", frequency, rate)
    # Where f lies in the middle between two multiples of the rate, both roundings give the same.
    assert got == pytest.approx(float(fourier.alias_frequency(frequency, rate)), abs=1e-6 * rate)


@given(seed=seeds, every=st.integers(1, 12), length=st.integers(64, 200))
def test_decimation_keeps_every_so_manieth_sample(javascript, seed, every, length):
    x = noise(seed, length).astype("f4").astype(float)
    np.testing.assert_array_equal(javascript("spectrum.js", "decimate", x, every), x[::every])


@given(seed=seeds, power=st.integers(2, 7), factor=st.sampled_from([1, 2, 4]))
def test_interpolation_is_that_of_scipy(javascript, seed, power, factor):
    x = noise(seed, 2**power)
    expected = scipy.signal.resample(x, len(x) * factor)
    np.testing.assert_allclose(
        javascript("spectrum.js", "interpolate", x, factor), expected, atol=1e-9
    )


@pytest.mark.parametrize(
    ("rate", "count", "expected"),
    [
        (8000, 16000, (256, 32)),
        (16000, 32000, (512, 64)),
        (192_000, 100_000, (4096, 512)),  # no window is longer
        (16000, 640, (128, 16)),  # a short sound has several windows
        (16000, 64, (8, 1)),
        (100, 2500, (8, 1)),
    ],
)
def test_an_own_sound_is_first_seen_through_a_window_of_a_fortieth_of_a_second(
    javascript, rate, count, expected
):
    own = javascript("signals.js", "ownSignal", "own.wav", [0.5, -0.25] * (count // 2), rate)
    assert (own["window_length"], own["hop"]) == expected
    assert own["duration"] == min(count / rate, 10)
    assert (min(own["samples"]), max(own["samples"])) == (-0.5, 1)
    assert (own["lines"], own["instants"], own["start"]) == ([], [], 0)
    view = javascript("signals.js", "firstView", own)
    assert view == {
        **{"window_length": expected[0], "hop": expected[1], "keep_every": 1},
        **{"decibels": 70, "time": own["duration"] / 2},
    }


def test_silence_stays_silent(javascript):
    own = javascript("signals.js", "ownSignal", "own.wav", [0] * 64, 100)
    assert (own["scale"], own["samples"]) == (1, [0] * 64)


def test_a_known_line_goes_from_point_to_point_and_nowhere_else(javascript):
    line = {"points": [[1, 100], [2, 300], [4, 200]]}
    known = [
        javascript("signals.js", "knownFrequency", line, t) for t in (0.9, 1, 1.5, 2, 3, 4, 4.1)
    ]
    assert known == [None, 100, 200, 300, 250, 200, None]


def test_what_is_said_of_a_frame(javascript):
    def said(unit, rate, lines=(), found=(), start=0, time=0.25):
        lines = [{"label": "", "points": [[0, f], [1, f]]} for f in lines]
        found = [{"frequency": f, "level": level} for f, level in found]
        signal = {"unit": unit, "start": start, "lines": lines}
        return javascript("signals.js", "describeFrame", signal, time, rate, found)

    assert said("s", 1000) == "At 0.250 s: silence."
    four = [(5.25, 0), (0, -3), (250, -9.6), (99.9, -1)]
    assert said("s", 1000, found=four) == (
        "At 0.250 s: 4 peaks: 5.25 Hz (0 dB); 0 Hz (−3 dB); 250 Hz (−10 dB); 99.9 Hz (−1 dB)."
    )
    assert said("s", 1000, found=[*four, (1, 0)]).endswith("99.9 Hz (−1 dB); ….")
    assert said("years", 1, found=[(0.0913, 0), (0, -6)], start=1700, time=8) == (
        "In 1708: 2 peaks: 0.0913 per year, a period of 11.0 years (0 dB); 0.00 per year (−6 dB)."
    )
    folded = said("s", 1000, lines=[400, 500, 600.5, 700, 800])
    assert folded == (
        "At 0.250 s: silence. "
        "600.5 Hz is above fₛ/2 = 500 Hz and appears at 399.5 Hz. "
        "700 Hz is above fₛ/2 = 500 Hz and appears at 300 Hz."
    )


@pytest.mark.parametrize(
    ("time", "frequency", "unit", "words"),
    [
        (0.005, 20, "s", "σ_t = 5.00 ms, σ_f = 20.0 Hz, σ_t·σ_f = 0.1000 = 1.26 × 1/4π"),
        (0.0005, 200, "s", "σ_t = 0.500 ms, σ_f = 200 Hz, σ_t·σ_f = 0.1000 = 1.26 × 1/4π"),
        (2, 0.5, "s", "σ_t = 2.00 s, σ_f = 0.500 Hz, σ_t·σ_f = 1.0000 = 12.57 × 1/4π"),
        (1.2, 1, "s", "σ_t = 1.20 s, σ_f = 1.00 Hz, σ_t·σ_f = 1.2000 = 15.08 × 1/4π"),
        (20, 0.01, "years", "σ_t = 20.0 years, σ_f = 0.0100 per year, σ_t·σ_f = 0.2000 = 2.51"),
    ],
)
def test_the_spreads_are_said_in_units_that_are_read_easily(
    javascript, time, frequency, unit, words
):
    given = {"time": time, "frequency": frequency}
    assert javascript("signals.js", "describeSpread", given, unit).startswith(words)


@pytest.mark.parametrize("every", [2, 12])
def test_the_shortest_window_and_hop_that_are_left(javascript, every):
    signal = {"samples": noise(3, 200), "rate": 8000}
    state = {"window": "Hann", "window_length": 8, "hop": 1, "keep_every": every}
    got = javascript("signals.js", "analysis", signal, state)
    assert (len(got["window"]), got["hop"]) == (4, 1)


@pytest.mark.parametrize("name", sorted(WINDOWS))
@pytest.mark.parametrize("every", [1, 2, 3, 5, 12])
def test_both_sides_analyze_the_same(javascript, name, every):
    widget = SpectrogramExplorer(window=name, window_length=301, hop=25, keep_every=every)
    samples, rate, window, hop = widget.analysis()
    record = {"samples": np.frombuffer(widget.signals["chirp"]["samples"], "<i2") / 32767}
    state = {"window": name, "window_length": 301, "hop": 25, "keep_every": every}
    got = javascript("signals.js", "analysis", {**record, "rate": 8000}, state)
    assert (got["rate"], got["hop"]) == (rate, hop)
    np.testing.assert_allclose(got["samples"], samples, atol=1e-7)
    np.testing.assert_allclose(got["window"], window, atol=1e-12)


def peak_frequencies(javascript, frequencies, seconds, *, rate=4000, size=4096):
    """Find the peaks of a sum of tones, in phase at its middle, through a Hann window there."""
    t = np.arange(rate) / rate - 0.5
    x = np.mean([np.cos(2 * np.pi * f * t) for f in frequencies], axis=0)
    window = fourier.hann(round(seconds * rate))
    power = javascript("spectrum.js", "framePowers", x, window, [rate // 2], size)
    return np.array(javascript("spectrum.js", "peaks", power)) * rate / size


@given(low=st.floats(200, 1500), gap=st.floats(50, 200))
def test_tones_are_two_peaks_only_through_a_long_window(javascript, low, gap):
    tones = [low, low + gap]
    apart = peak_frequencies(javascript, tones, 6 / gap)
    np.testing.assert_allclose(apart, tones, atol=0.1 * gap)
    merged = peak_frequencies(javascript, tones, 0.8 / gap)
    assert len(merged) == 1
    assert low - 0.5 * gap < merged[0] < low + 1.5 * gap


def test_peaks_at_the_ends_and_of_silence(javascript):
    assert javascript("spectrum.js", "peaks", [0, 0, 0, 0]) == []
    assert javascript("spectrum.js", "peaks", [9, 1, 1, 9]) == [0, 3]
    assert javascript("spectrum.js", "peaks", [0, 9, 6, 9, 0.5, 0]) == [pytest.approx(1, abs=0.5)]


def test_the_sentence_names_the_alias(javascript):
    line = {"label": "1500 Hz", "points": [[0, 1500], [1, 1500]]}
    signal = {"unit": "s", "start": 0, "lines": [line]}
    text = javascript(
        "signals.js", "describeFrame", signal, 0.5, 2000, [{"frequency": 500, "level": -0.4}]
    )
    alias = float(fourier.alias_frequency(1500, 2000))
    assert text == (
        "At 0.500 s: one peak: 500 Hz (0 dB). "
        f"1500 Hz is above fₛ/2 = 1000 Hz and appears at {alias:.0f} Hz."
    )


@given(
    spots=st.lists(st.tuples(st.integers(70, 290), st.integers(20, 200)), min_size=1, max_size=6),
    upright=st.booleans(),
)
def test_labels_cover_no_other_peak_and_no_other_label(javascript, spots, upright):
    points = [{"x": x, "y": y, "text": "1000 Hz"} for x, y in spots]
    placed = javascript("spectrogram_panels.js", "placeLabels", points, upright, 360)
    wide = 7 * 7.5
    boxes = {}
    for i, spot in enumerate(placed):
        if spot is not None:
            left = spot["x"] - wide if spot["before"] else spot["x"]
            boxes[i] = (left, left + wide, spot["y"] - 10, spot["y"] + 2)  # the text itself
            assert left >= 0
            assert left + wide <= 360
    for i, (left, right, top, bottom) in boxes.items():
        assert not any(left < x < right and top < y < bottom for x, y in spots)
        for j, (left2, right2, top2, bottom2) in boxes.items():
            apart = right <= left2 or right2 <= left or bottom <= top2 or bottom2 <= top
            assert i == j or apart
    assert len(spots) > 1 or placed[0] is not None


def test_labels_of_two_close_peaks_stand_on_both_sides(javascript):
    beside = [{"x": 200, "y": 100, "text": "1000 Hz"}, {"x": 209, "y": 101, "text": "1060 Hz"}]
    placed = javascript("spectrogram_panels.js", "placeLabels", beside, False, 360)
    assert [spot["x"] for spot in placed] == [192, 217]
    above = [{"x": 150, "y": 100, "text": "1000 Hz"}, {"x": 149, "y": 92, "text": "1060 Hz"}]
    placed = javascript("spectrogram_panels.js", "placeLabels", above, True, 180)
    assert placed[0]["y"] > 100
    assert placed[1]["y"] < 92


# ---------------------------------------------------------------- WAV files, against SciPy's


def wav(samples: np.ndarray, rate: int = 8000) -> bytes:
    """Write samples as SciPy does."""
    file = io.BytesIO()
    scipy.io.wavfile.write(file, rate, samples)
    return file.getvalue()


FORMATS = {
    "u1": lambda x: np.round(x * 127 + 128).astype("u1"),
    "i2": lambda x: np.round(x * 32767).astype("<i2"),
    "i4": lambda x: np.round(x * (2**31 - 1)).astype("<i4"),
    "f4": lambda x: x.astype("<f4"),
    "f8": lambda x: x.astype("<f8"),
}


@pytest.mark.parametrize("kind", sorted(FORMATS))
@pytest.mark.parametrize("channels", [1, 2])
def test_wav_files_of_scipy_are_read(javascript, kind, channels):
    x = noise(1, 501 * channels).reshape(501, channels)
    data = wav(FORMATS[kind](x), 11025)
    rate, values = scipy.io.wavfile.read(io.BytesIO(data))
    zero, full = {"u1": (128, 128), "i2": (0, 2**15), "i4": (0, 2**31)}.get(kind, (0, 1))
    expected = ((values.reshape(501, channels).astype(float) - zero) / full).mean(axis=1)
    got = javascript("wav.js", "parseWav", list(data))
    assert got["rate"] == rate == 11025
    np.testing.assert_allclose(got["samples"], expected, atol=1e-6)
    np.testing.assert_allclose(expected, x.mean(axis=1), atol=1 / 64)


def test_wav_files_of_24_bits_are_read_as_scipy_reads_them(javascript):
    values = np.array([-(2**23), -1, 0, 1, 2**22, 2**23 - 1])
    sound = b"".join(int(v).to_bytes(3, "little", signed=True) for v in values)
    # Format 0xFFFE names its true format in an extension, as most programs write 24 bits.
    layout = struct.pack("<HHIIHHHHI", 0xFFFE, 1, 48000, 144000, 3, 24, 22, 24, 4)
    layout += struct.pack("<H", 1) + bytes.fromhex("000000001000800000AA00389B71")
    body = b"WAVEfmt " + struct.pack("<I", len(layout)) + layout
    body += b"LIST" + struct.pack("<I", 3) + b"odd\0"
    body += b"data" + struct.pack("<I", len(sound)) + sound
    data = b"RIFF" + struct.pack("<I", len(body)) + body
    rate, expected = scipy.io.wavfile.read(io.BytesIO(data))
    got = javascript("wav.js", "parseWav", list(data))
    assert got["rate"] == rate == 48000
    np.testing.assert_allclose(got["samples"], expected / 2**31, atol=1e-7)


GOOD = wav(FORMATS["i2"](noise(2, 300)))


def patched(at: int, replacement: bytes) -> bytes:
    """Return the good file with some bytes changed."""
    return GOOD[:at] + replacement + GOOD[at + len(replacement) :]


BAD_FILES = {
    "empty": (b"", "not a WAV file"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(100), "not a WAV file"),
    "RIFF of another kind": (patched(8, b"AVI "), "not a WAV file"),
    "WAVE in another file": (patched(0, b"FORM"), "not a WAV file"),
    "a header alone": (GOOD[:30], "ends before its sound begins"),
    "cut off": (GOOD[:400], "cut off: it announces 600 bytes of sound and has 356"),
    "compressed": (patched(20, b"\x55\x00"), "compressed or of a rare format"),
    "rate 0": (patched(24, bytes(4)), "a rate or channels of 0"),
    "no channels": (patched(22, bytes(2)), "a rate or channels of 0"),
    "format missing": (patched(12, b"junk"), "its format is missing"),
    "frames too small": (patched(32, b"\x01\0"), r"1 × 16 bits do not fit its frames of 1 bytes"),
    "frames of no size": (patched(32, bytes(2)), r"1 × 16 bits do not fit its frames of 0 bytes"),
    "half a byte for a channel": (
        patched(22, b"\x02\0\x40\x1f\0\0\x80\x3e\0\0\x03\0"),
        "2 × 16 bits",
    ),
    "65,535 channels": (patched(22, b"\xff\xff"), "65535 × 16 bits do not fit its frames of 2"),
    "no bits": (patched(34, bytes(2)), "compressed or of a rare format"),
    "floats of half size": (patched(20, b"\x03\0"), "compressed or of a rare format"),
    "not a number": (wav(np.array([0, np.nan], "<f4")), "values that are no numbers"),
}


@pytest.mark.parametrize("name", sorted(BAD_FILES))
def test_bad_files_are_refused_with_a_sentence(javascript, name):
    data, sentence = BAD_FILES[name]
    with pytest.raises(RuntimeError, match=sentence):
        javascript("wav.js", "parseWav", list(data))


UNKNOWN = {
    "ffmpeg": (0xFFFFFFFF, 0xFFFFFFFF),
    "SoX": (0x7FFFF024, 0x7FFFF000),
    "arecord": (0x80000024, 0x80000000),
    "arecord, rounded": (0x7FFFFFFF, 0x7FFFFFDB),
    "a header never finished": (0, 0),
    "its length without the sound": (36, 0),
    "the sound alone unknown": (636, 0xFFFFFFFF),
}
"""What recorders write as the sizes of the file and of the sound, where they cannot go back."""


@pytest.mark.parametrize("writer", sorted(UNKNOWN))
def test_a_stream_of_unknown_length_is_read_to_its_end(javascript, writer):
    whole, sound = (size.to_bytes(4, "little") for size in UNKNOWN[writer])
    stream = patched(4, whole)[:40] + sound + GOOD[44:]
    got = javascript("wav.js", "parseWav", list(stream))
    good = javascript("wav.js", "parseWav", list(GOOD))
    assert good["told"] == ""
    assert got == {**good, "told": "It says no length and is read to its end."}
    samples, rate = got["samples"], got["rate"]
    shown = javascript("signals.js", "ownSignal", "pipe.wav", samples, rate, got["told"])
    assert shown["note"] == (
        "pipe.wav: 0.04 s at 8000 Hz. It says no length and is read to its end. "
        "It stays on this device."
    )


def test_no_sound_is_no_stream(javascript):
    empty = wav(np.zeros(0, "<i2"))
    got = javascript("wav.js", "parseWav", list(empty))
    assert (got["samples"], got["told"]) == ([], "")
    behind = empty + b"LIST" + struct.pack("<I", 4) + b"INFO"
    behind = behind[:4] + struct.pack("<I", len(behind) - 8) + behind[8:]
    assert javascript("wav.js", "parseWav", list(behind))["samples"] == []


LONG = bytes.fromhex("000010008000 00AA00389B71".replace(" ", ""))
"""The end of the long name of a format, from its fifth byte on."""


def container(
    sound: bytes,
    *,
    kind: int,
    channels: int,
    bits: int,
    width: int,
    magic: bytes = b"RIFF",
    extensible: bool = False,
    before: list[int] | None = None,
) -> bytes:
    """Write a WAV file by the book, with chunks of these sizes around its format."""
    end = ">" if magic == b"RIFX" else "<"
    long = LONG[:2][::-1] + LONG[2:4][::-1] + LONG[4:] if end == ">" else LONG
    frame = channels * width
    tag = 0xFFFE if extensible else kind
    layout = struct.pack(f"{end}HHIIHH", tag, channels, 11025, 11025 * frame, frame, bits)
    if extensible:
        layout += struct.pack(f"{end}HHII", 22, bits, 0, kind) + long
    chunks = [(b"LIST", bytes(size)) for size in before or []] + [(b"fmt ", layout)]
    chunks += [(b"junk", b"data" + bytes(size)) for size in before or []]
    if magic in {b"RF64", b"BW64"}:
        chunks.insert(0, (b"ds64", struct.pack("<QQQI", 0, len(sound), 0, 0)))
    body = b"WAVE"
    for name, content in chunks:
        body += name + struct.pack(f"{end}I", len(content)) + content + bytes(len(content) % 2)
    size = 0xFFFFFFFF if magic in {b"RF64", b"BW64"} else len(sound)
    body += b"data" + struct.pack(f"{end}I", size) + sound + bytes(len(sound) % 2)
    if size == 0xFFFFFFFF:
        body = body[:12] + struct.pack("<Q", len(body)) + body[20:]
        return magic + struct.pack("<I", size) + body
    return magic + struct.pack(f"{end}I", len(body)) + body


@settings(max_examples=80)  # of kinds, widths, ends and long names
@given(data=st.data())
def test_every_layout_is_read_as_scipy_reads_it(javascript, data):
    channels = data.draw(st.integers(1, 5), "channels")
    kind = data.draw(st.sampled_from([1, 1, 1, 3]), "kind")
    width = data.draw(st.sampled_from([4, 8]) if kind == 3 else st.integers(1, 8), "width")
    fewest = 8 * width if kind == 3 else 9 if width > 1 else 1
    bits = data.draw(st.integers(fewest, 8 * width), "bits")
    magic = data.draw(st.sampled_from([b"RIFF", b"RIFF", b"RIFX", b"RF64", b"BW64"]), "magic")
    frames = data.draw(st.integers(0, 40), "frames")
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), "seed"))
    if kind == 3:
        order = ">" if magic == b"RIFX" else "<"
        sound = rng.uniform(-1, 1, frames * channels).astype(f"{order}f{width}").tobytes()
    else:
        sound = rng.bytes(frames * channels * width)
    file = container(
        sound,
        kind=kind,
        channels=channels,
        bits=bits,
        width=width,
        magic=magic,
        extensible=data.draw(st.booleans(), "extensible"),
        before=data.draw(st.lists(st.integers(0, 9), max_size=3), "before"),
    )
    got = javascript("wav.js", "parseWav", list(file))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the chunks that it skips
        rate, values = scipy.io.wavfile.read(io.BytesIO(file.replace(b"BW64", b"RF64", 1)))
    assert values.reshape(-1, channels).shape == (frames, channels)
    full = 1.0 if kind == 3 else 2.0 ** (8 * values.itemsize - 1)
    zero, full = (128, 128) if kind == 1 and width == 1 else (0, full)
    expected = ((values.reshape(-1, channels).astype(float) - zero) / full).mean(axis=1)
    assert got["rate"] == rate == 11025
    assert got["told"] == ""
    np.testing.assert_allclose(got["samples"], expected, atol=1e-6)


def test_24_bits_in_frames_of_four_bytes_are_as_many_samples_as_there_are(javascript):
    values = np.random.default_rng(5).integers(-(2**23), 2**23, 200)
    file = container((values << 8).astype("<i4").tobytes(), kind=1, channels=1, bits=24, width=4)
    got = javascript("wav.js", "parseWav", list(file))["samples"]
    np.testing.assert_allclose(got, values / 2**23, atol=1e-6)


@pytest.mark.parametrize("name", ["ambisonics", "another number"])
def test_a_long_name_that_is_no_pcm_is_refused(javascript, name):
    file = container(bytes(400), kind=1, channels=1, bits=16, width=2, extensible=True)
    other = file.replace(LONG[4:], bytes.fromhex("86 44 C8 C1 CA 00 00 00"))
    if name == "another number":
        other = file.replace(struct.pack("<I", 1) + LONG, struct.pack("<I", 0x10001) + LONG)
    assert other != file
    with pytest.raises(RuntimeError, match="compressed or of a rare format"):
        javascript("wav.js", "parseWav", list(other))


def test_long_sounds_are_cut_and_short_ones_refused(javascript):
    kept = javascript("signals.js", "ownSignal", "long.wav", np.full(25 * 100, 0.5), 100)
    assert (len(kept["samples"]), kept["scale"], max(kept["samples"])) == (1000, 0.5, 1)
    assert "25.00 s at 100 Hz, of which the first 10 s are shown" in kept["note"]
    assert 8 <= kept["window_length"] <= 1000
    for count, words in ((0, "0 samples"), (1, "1 sample"), (3, "3 samples"), (63, "63 samples")):
        with pytest.raises(RuntimeError, match=f"It holds {words}; at least 64 are needed"):
            javascript("signals.js", "ownSignal", "short.wav", [0.5] * count, 100)


@pytest.mark.parametrize(("rate", "shown"), [(1, 64), (3, 21.33), (6, 10.67), (7, 10)])
def test_of_a_slow_sound_64_samples_are_shown(javascript, rate, shown):
    kept = javascript("signals.js", "ownSignal", "slow.wav", [0.5] * 8000, rate)
    assert len(kept["samples"]) == max(64, 10 * rate)
    words = f"slow.wav: {8000 / rate:.2f} s at {rate} Hz, of which the first {shown} s are shown."
    assert kept["note"] == f"{words} It stays on this device."
    all_of_it = javascript("signals.js", "ownSignal", "slow.wav", [0.5] * 64, rate)
    assert (
        all_of_it["note"] == f"slow.wav: {64 / rate:.2f} s at {rate} Hz. It stays on this device."
    )


# ---------------------------------------------------------------- the Python side


def test_signals_are_the_librarys():
    for name, samples, rate in [
        ("chirp", fourier.chirp(8000, start=200, stop=3600), 8000),
        ("two tones", fourier.two_tones(4000), 4000),
        ("click + tone", fourier.click_and_tone(4000), 4000),
        ("plucked string", fourier.plucked_string(8000), 8000),
        ("sung vowel", fourier.sung_vowel(8000), 8000),
        ("sunspots", fourier.sunspots()[1] - fourier.sunspots()[1].mean(), 1),
    ]:
        record = known_signals()[name]
        got = np.frombuffer(record["samples"], "<i2") / 32767 * record["scale"]
        assert record["rate"] == rate
        np.testing.assert_allclose(got, samples, atol=record["scale"] * 2e-5)


@pytest.mark.parametrize("name", ["chirp", "two tones", "click + tone", "plucked string"])
def test_what_is_said_to_be_known_is_where_the_energy_is(name):
    widget = SpectrogramExplorer(signal=name, time=0.25)
    samples, rate, _, _ = widget.analysis()
    times, frequencies, power = fourier.spectrogram(samples, rate, fourier.hann(512), 1000)
    for line in widget.signals[name]["lines"][:2]:
        (t0, f0), (t1, f1) = line["points"]
        known = np.interp(times[2], [t0, t1], [f0, f1])
        near = np.abs(frequencies - known) < 20
        assert power[2, near].sum() > 0.02 * power[2].sum()


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"window_length": 8001}, "longer than the signal 'chirp' .8000."),
        ({"signal": "sunspots", "window_length": 310}, "longer than the signal 'sunspots' .309."),
        ({"hop": 0}, "hop must be 1 to"),
        ({"hop": 9000}, "hop .9000 samples. is longer"),
        ({"keep_every": 0}, "keep_every must be 1 to 12, got 0"),
        ({"time": float("nan")}, "time must be from 0 to 1, got nan"),
        ({"time": 1.5}, "time must be from 0 to 1, got 1.5"),
        ({"decibels": float("nan")}, "decibels must be 20 to 120, got nan"),
        ({"window": "triangle"}, "triangle"),
        ({"signal": "noise"}, "signal must be one of .*chirp.* got 'noise'"),
        ({"windowlength": 3}, "SpectrogramExplorer has no windowlength"),
    ],
)
def test_bad_traits_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        SpectrogramExplorer(**state)
    if "signal" not in state and "windowlength" not in state:
        widget = SpectrogramExplorer()
        before = repr(widget)
        with pytest.raises(traitlets.TraitError):
            widget.set_trait(*next(iter(state.items())))
        assert repr(widget) == before


@pytest.mark.parametrize(
    ("samples", "rate", "complaint"),
    [
        (np.zeros(100), 0, "sample_rate must be a finite number above 0"),
        (np.zeros(100), float("nan"), "sample_rate must be one finite number"),
        (np.full(100, np.nan), 8000, "samples must be finite"),
        (np.zeros(100, complex), 8000, "samples must hold real numbers"),
        (np.zeros(63), 8000, "at least 64"),
        (np.zeros((2, 100)), 8000, "one sequence"),
        (np.zeros(100), None, "need their sample_rate"),
    ],
)
def test_bad_samples_are_refused(samples, rate, complaint):
    with pytest.raises(ValueError, match=complaint):
        SpectrogramExplorer(samples, rate)


def test_own_samples_come_first_and_the_others_stay():
    widget = SpectrogramExplorer(np.sin(np.arange(500)), 100)
    assert widget.signal == "your samples"
    widget.signal = "two tones"
    assert (widget.window_length, widget.hop, widget.time) == (512, 16, 0.5)
    widget.signal = "sunspots"
    assert (widget.window_length, widget.decibels) == (64, 40)


@pytest.mark.parametrize("name", sorted(known_signals()))
def test_every_signal_has_a_picture(name):
    SpectrogramExplorer(signal=name, keep_every=2).picture().draw_without_rendering()


def test_a_signal_has_a_picture_in_pixels():
    assert png(SpectrogramExplorer(keep_every=2).picture()).startswith(b"\x89PNG")


def test_data_are_light():
    records = SpectrogramExplorer().signals.values()
    data = b"".join(base64.b64encode(record["samples"]) for record in records)
    assert len(gzip.compress(data)) < 60 * 1024


# ---------------------------------------------------------------- in a browser

STATE = "window.state = new Proxy({}, { get: (_, name) => model.get(name) })"


@pytest.fixture
def open_widget(widget_page):
    """Open the widget; the page's ``state`` holds its traits."""

    def open_page(width=1000, touch=False, clock=False, **state):
        options = {"width": width, "has_touch": touch, "reduced_motion": "no-preference"}
        page = widget_page(SpectrogramExplorer(**state), clock=clock, **options)
        page.evaluate(STATE)
        return page

    return open_page


def displayed_peaks(page):
    """Return the frequencies of the peaks in the spectrum now shown."""
    settle(page)
    return [float(f) for f in (page.locator("#widget").get_attribute("data-peaks") or "").split()]


def press(page, label, key, times):
    """Focus a control by its label and press a key."""
    control = page.get_by_label(label, exact=True)
    control.focus()
    for _ in range(times):
        control.press(key)


@pytest.mark.browser
def test_the_last_frame_that_can_be_chosen_lies_in_the_sound(open_widget):
    page = open_widget(hop=7)
    duration, rate = 1, 8000  # s, Hz
    last = page.get_by_label("Current frame", exact=True).get_attribute("max")
    assert int(last) == duration * rate // 7  # the next one begins behind the end


@pytest.mark.browser
def test_two_tones_merge_when_the_window_is_shortened(open_widget):
    page = open_widget()
    page.get_by_text("Two tones", exact=True).click()
    np.testing.assert_allclose(displayed_peaks(page), [1000, 1060], atol=3)
    press(page, "Window length", "ArrowLeft", 14)
    assert page.evaluate("state.window_length") == 45
    assert displayed_peaks(page) == [pytest.approx(1030, abs=20)]
    assert "one peak" in page.locator(".result").first.text_content()
    press(page, "Window length", "ArrowRight", 14)
    assert len(displayed_peaks(page)) == 2


@pytest.mark.browser
@pytest.mark.parametrize("every", [2, 3, 5])
def test_lowering_the_sampling_rate_shows_the_alias(open_widget, every):
    page = open_widget(signal="click + tone", time=0.25, window_length=512)
    press(page, "Sampling rate", "ArrowLeft", every - 1)
    alias = float(fourier.alias_frequency(1000, 4000 / every))
    assert displayed_peaks(page) == [pytest.approx(alias, abs=3)]
    sentence = page.locator(".result").first.text_content()
    assert ("appears at" in sentence) == (2000 / every < 1000)


@pytest.mark.browser
def test_a_click_smears_through_a_long_window(open_widget):
    page = open_widget(signal="click + tone", window_length=64)

    def width_of_click():
        """Return the part of the image, far from the tone, that the click has made bright."""
        return page.evaluate("""() => {
          const canvas = document.querySelector("canvas");
          const row = Math.round(canvas.height * 0.2);
          const { data } = canvas.getContext("2d").getImageData(0, row, canvas.width, 1);
          let bright = 0;
          for (let i = 0; i < data.length; i += 4) bright += data[i + 1] > 60;
          return bright / canvas.width;
        }""")

    displayed_peaks(page)
    short = width_of_click()
    press(page, "Window length", "ArrowRight", 8)
    displayed_peaks(page)
    assert 0 < short < 0.05
    assert 2 * short < width_of_click()


@pytest.mark.browser
def test_mouse_and_keys_move_the_frame_along_the_chirp(open_widget):
    page = open_widget()
    cursor = page.get_by_label("Current frame", exact=True)
    box = cursor.bounding_box()
    page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + 200)
    page.wait_for_function("Math.abs(state.time - 0.25) < 0.01")
    assert displayed_peaks(page) == [pytest.approx(200 + 0.25 * 3400, abs=40)]
    page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 220, steps=5)
    page.mouse.up()
    page.wait_for_function("Math.abs(state.time - 0.75) < 0.01")
    assert displayed_peaks(page) == [pytest.approx(200 + 0.75 * 3400, abs=40)]
    before = page.evaluate("state.time")
    cursor.press("ArrowLeft")
    after = page.evaluate("state.time")
    assert before - after == pytest.approx(32 / 8000, abs=1e-9)
    page.wait_for_function(
        "(text) => document.querySelector('.cursor').ariaValueText === text", arg=f"{after:.3f} s"
    )


@pytest.mark.browser
def test_a_large_hop_is_seen_as_steps(open_widget):
    """Columns wider than three pixels, unless the image has fewer of them than there are hops."""
    page = open_widget()
    seen = """[document.querySelector("canvas")].map((canvas) =>
      [canvas.clientWidth / canvas.width, getComputedStyle(canvas).imageRendering])[0]"""
    for hop, length, wide, rendering in (
        (40, 256, (2, 3), "auto"),
        (56, 256, (3, 4), "pixelated"),
        (512, 256, (20, 50), "pixelated"),
        (32, 2048, (4, 11), "auto"),
    ):
        set_both = (
            "([hop, length]) => { model.set('hop', hop); model.set('window_length', length) }"
        )
        page.evaluate(set_both, [hop, length])
        settle(page)
        width, found = page.evaluate(seen)
        assert wide[0] < width < wide[1]
        assert found == rendering


@pytest.mark.browser
def test_above_half_the_sampling_rate_there_is_nothing_and_below_the_alias(open_widget):
    page = open_widget(keep_every=3)
    image, edge = page.locator(".picture").bounding_box(), page.locator(".beyond path")
    line = float(re.findall(r"M\d+ ([\d.]+)", edge.get_attribute("d"))[0])
    panel = page.locator(".time-panel svg").bounding_box()
    assert image["y"] - panel["y"] == pytest.approx(line, abs=1)
    rest = page.locator(".beyond rect")
    top, height = (float(rest.get_attribute(name)) for name in ("y", "height"))
    assert top + height == line
    assert page.get_by_text("nothing above fₛ/2 = 1333.3 Hz").count() == 1
    assert image["y"] + image["height"] - panel["y"] == pytest.approx(374, abs=1)
    per_hertz = (374 - top) / 4000
    drawn = page.locator(".known path.alias").get_attribute("d")
    points = np.reshape([float(part) for part in re.findall(r"[\d.]+", drawn)], (-1, 2))
    frequencies = (374 - points[:, 1]) / per_hertz
    times = (points[:, 0] - points[-1, 0]) / image["width"] + 1
    chirp = 200 + 3400 * times
    assert chirp[0] == pytest.approx(4000 / 3, abs=30)
    np.testing.assert_allclose(frequencies, fourier.alias_frequency(chirp, 8000 / 3), atol=25)


@pytest.mark.browser
def test_names_of_near_lines_stand_apart_and_in_the_image(widget_page):
    widget = SpectrogramExplorer(signal="two tones")
    record = widget.signals["two tones"]
    lines = [{"label": f"{f} Hz", "points": [[0, f], [1, f]]} for f in (1000, 1060, 1960, 300)]
    widget.signals = widget.signals | {"two tones": record | {"lines": lines}}
    page = widget_page(widget, width=1000)
    names = page.locator(".known text")
    image = page.locator(".picture").bounding_box()
    found = []
    for name, line in zip(names.all(), lines, strict=True):
        box, frequency = name.bounding_box(), line["points"][0][1]
        height = image["y"] + image["height"] * (1 - frequency / 2000)
        middle = box["y"] + box["height"] / 2
        assert abs(middle - height) < 16
        assert (middle > height) == (frequency in (1000, 1960))  # below where there is no room
        assert image["y"] - 2 < box["y"]
        assert box["x"] + box["width"] < image["x"] + image["width"]
        found.append((box["y"], box["y"] + box["height"]))
    assert found[1][1] - 6 < found[0][0]


@pytest.mark.browser
def test_windows_and_hops_are_said_in_time_and_kept_samples_and_stay_in_the_signal(open_widget):
    page = open_widget()
    length, hop, rate = (
        page.get_by_label(name, exact=True) for name in ("Window length", "Hop", "Sampling rate")
    )

    def words():
        return [control.get_attribute("aria-valuetext") for control in (length, hop, rate)]

    assert words() == ["32.0 ms · 256 samples", "4.00 ms · 32 samples", "8000 Hz"]
    page.evaluate("model.set('keep_every', 4)")
    settle(page)
    assert words() == ["32.0 ms · 64 samples", "4.00 ms · 8 samples", "2000 Hz · 1 sample of 4"]
    page.evaluate("model.set('hop', 1)")
    settle(page)
    assert words()[1] == "0.125 ms · 1 sample"  # one is left, however few are kept
    for name, samples, longest, widest in (
        ("Chirp", 8000, 3444, 1024),
        ("Sunspots", 309, 152, 64),
    ):
        page.get_by_text(name, exact=True).click()
        settle(page)
        length.press("End")
        hop.press("End")
        assert page.evaluate("[state.window_length, state.hop]") == [longest, widest]
        assert longest <= samples / 2
        assert widest <= samples / 4
    assert words()[:2] == ["152 years · 152 samples", "64.0 years · 64 samples"]
    assert words()[2] == "1.00 per year"


@pytest.mark.browser
def test_the_stage_follows_the_width_of_the_page(open_widget):
    page = open_widget(width=700)
    panels = """["time-panel", "side"].map((name) => document.querySelector(`.${name}`)).map((e) =>
      [e.clientWidth, Number(e.querySelector("svg").getAttribute("width"))])"""
    before = page.evaluate(panels)
    page.set_viewport_size({"width": 390, "height": 900})
    settle(page)
    after = page.evaluate(panels)
    assert after[0] != before[0]
    for room, drawn in (*before, *after):
        assert drawn == room


@pytest.mark.browser
def test_signals_keep_their_order_though_a_notebook_sorts_their_names(widget_page):
    widget = SpectrogramExplorer()
    names = list(widget.signals)
    widget.signals = dict(sorted(widget.signals.items()))
    page = widget_page(widget)
    assert names != list(widget.signals)
    assert page.locator(".signals input").evaluate_all("all => all.map((i) => i.value)") == [
        *names,
        "own",
    ]
    page.get_by_label("Chirp").press("ArrowRight")
    assert page.evaluate("model.get('signal')") == names[1]


@pytest.mark.browser
def test_touch_on_a_telephone(open_widget):
    page = open_widget(width=390, touch=True)
    page.get_by_text("Sung vowel", exact=True).tap()
    assert page.evaluate("state.signal") == "sung vowel"
    box = page.get_by_label("Current frame", exact=True).bounding_box()
    page.touchscreen.tap(box["x"] + 0.75 * box["width"], box["y"] + 150)
    page.wait_for_function("Math.abs(state.time - 0.75) < 0.02")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
@pytest.mark.parametrize(("time", "inner"), [(0.0, 1), (1.0, 0)])
def test_a_frame_at_the_end_of_the_signal_stays_in_its_axes(open_widget, time, inner):
    page = open_widget(time=time)
    settle(page)
    drawn = page.locator("svg .frame").first.get_attribute("d")
    edges = [float(left) for left in re.findall(r"M([\d.]+) ", drawn)]
    head = float(re.match(r"M([\d.]+) ", page.locator("svg .head").first.get_attribute("d"))[1])
    assert edges[1 - inner] == head
    assert 5 < abs(edges[inner] - head) < 100


@pytest.mark.browser
def test_on_a_telephone_a_high_level_is_drawn_high(open_widget):
    page = open_widget(width=390, time=0.5)
    assert len(displayed_peaks(page)) == 1
    curve = re.findall(r"([\d.]+) ([\d.]+)", page.locator("svg .curve").first.get_attribute("d"))
    heights = [float(y) for _, y in curve]
    assert 18 <= min(heights) < 40 < np.median(heights)
    assert max(heights) == pytest.approx(172)


@pytest.mark.browser
def test_own_wav_is_shown_and_a_bad_one_changes_nothing(open_widget):
    page = open_widget()
    tone = np.cos(2 * np.pi * 2500 * np.arange(12000) / 16000)
    upload = page.locator("input[type=file]")
    upload.set_input_files(
        {"name": "tone.wav", "mimeType": "audio/wav", "buffer": wav(FORMATS["i2"](tone), 16000)}
    )
    page.get_by_text("tone.wav: 0.75 s at 16000 Hz").wait_for()
    assert displayed_peaks(page) == [pytest.approx(2500, abs=5)]
    assert page.get_by_label("Your sound").is_checked()
    upload.set_input_files(
        {"name": "broken.wav", "mimeType": "audio/wav", "buffer": BAD_FILES["cut off"][0]}
    )
    page.get_by_text("broken.wav: The WAV file is cut off").wait_for()
    assert displayed_peaks(page) == [pytest.approx(2500, abs=5)]
    press(page, "Sampling rate", "ArrowLeft", 3)
    alias = float(fourier.alias_frequency(2500, 4000))
    assert displayed_peaks(page) == [pytest.approx(alias, abs=5)]
    page.get_by_text("Chirp", exact=True).click()
    assert displayed_peaks(page) == [pytest.approx(1900, abs=20)]
    assert "tone.wav" not in str(page.evaluate("Object.keys(state.signals)"))


@pytest.mark.browser
def test_a_refused_microphone_is_a_sentence(open_widget):
    page = open_widget()
    page.get_by_role("button", name="Record 3 s").click()
    page.get_by_text("The signal before it stays.").wait_for()
    assert displayed_peaks(page) == [pytest.approx(1900, abs=20)]


# A microphone that hands out a file, and a clock on which three seconds are soon over.
MICROPHONE = """(bytes) => {
  const [after, failures] = [setTimeout, ["NotFoundError", "NotAllowedError"]];
  window.heard = { released: 0 };
  window.setTimeout = (call, milliseconds) => {
    heard.milliseconds = milliseconds;
    after(call, 10);
  };
  const stream = { getTracks: () => [{ stop() { heard.released += 1; } }] };
  const getUserMedia = async () => {
    if (failures.length) throw new DOMException("no", failures.shift());
    return stream;
  };
  Object.defineProperty(navigator, "mediaDevices", { value: { getUserMedia } });
  window.MediaRecorder = class extends EventTarget {
    start() { heard.disabled = document.querySelector(".sound button:last-of-type").disabled; }
    stop() {
      this.ondataavailable({ data: new Blob([Uint8Array.from(bytes)]) });
      this.dispatchEvent(new Event("stop"));
    }
  };
}"""


@pytest.mark.browser
def test_three_seconds_are_recorded_and_shown(open_widget):
    page = open_widget()
    tone = np.cos(2 * np.pi * 500 * np.arange(8000) / 16000)
    page.evaluate(MICROPHONE, list(wav(FORMATS["i2"](tone), 16000)))
    record = page.get_by_role("button", name="Record 3 s")
    for sentence in ("There is no microphone.", "The browser did not allow the microphone."):
        record.click()
        page.get_by_text(f"Microphone: {sentence} The signal before it stays").wait_for()
    record.click()
    page.get_by_text("Microphone: 0.50 s at 16000 Hz").wait_for()
    assert displayed_peaks(page) == [pytest.approx(500, abs=5)]
    assert page.evaluate("heard") == {"released": 1, "disabled": True, "milliseconds": 3000}
    assert record.is_enabled()
    assert page.locator(".sound + .result").inner_text() == ""
    page.evaluate("""() => {
      const input = document.querySelector("input[type=file]");
      const large = { name: "large.wav", size: 65 * 2 ** 20 };
      Object.defineProperty(input, "files", { value: [large] });
      input.dispatchEvent(new Event("change"));
      window.AudioContext = class { constructor() { throw new Error("It is broken."); } };
    }""")
    page.get_by_text("large.wav: The file has 65 MB; at most 64 are read.").wait_for()
    page.get_by_role("button", name="Play").click()
    page.get_by_text("The browser plays no sound: It is broken.").wait_for()


# A loudspeaker whose time is the page's, which a test turns: real sound waits for no busy machine.
SILENCE = """() => {
  window.AudioContext = class {
    get currentTime() { return performance.now() / 1000; }
    async resume() {}
    createBuffer(_channels, length, rate) {
      window.played = { length, rate };
      return {
        copyToChannel(samples) {
          played.loudest = samples.reduce((top, x) => Math.max(top, Math.abs(x)), 0);
        },
      };
    }
    close() { played.closed = true; }
  };
  window.sounding = 0;
  window.AudioBufferSourceNode = class {
    connect() {}
    start(when, from) {
      window.sounding += 1;
      Object.assign(played, { when, from });
    }
    stop() { window.sounding -= 1; }
  };
}"""


@pytest.fixture
def player(open_widget):
    """Open the widget with a clock of its own; return the page and its first play button."""

    def opened(name, share):
        record = SpectrogramExplorer().signals[name]
        duration = len(record["samples"]) / 2 / record["rate"]
        page = open_widget(signal=name, time=share * duration, clock=True)
        page.evaluate(SILENCE)
        page.get_by_role("button", name="Play").click()
        return page, duration

    return opened


@pytest.mark.browser
def test_a_sound_of_many_samples_is_played_as_it_is(open_widget):
    page = open_widget(clock=True)
    page.evaluate(SILENCE)
    tone = wav(FORMATS["i2"](noise(4, 4800)), 48000)
    page.locator("input[type=file]").set_input_files(
        {"name": "noise.wav", "mimeType": "audio/wav", "buffer": tone}
    )
    page.get_by_text("noise.wav: 0.10 s at 48000 Hz").wait_for()
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("sounding")
    played = page.evaluate("played")
    assert (played["rate"], played["length"]) == (48000, 4800)


@pytest.mark.browser
def test_one_sound_at_a_time_however_long_the_loudspeaker_sleeps(open_widget):
    page = open_widget(signal="chirp", clock=True)
    page.evaluate(SILENCE)
    page.evaluate("""() => {
      window.sleepers = [];
      AudioContext.prototype.resume = () => new Promise((awake) => sleepers.push(awake));
    }""")
    for name in ("Play", "Pause", "Play"):
        page.get_by_role("button", name=name).click()
    assert page.evaluate("[sleepers.length, sounding]") == [2, 0]
    page.evaluate("() => sleepers.forEach((awake) => awake())")
    page.wait_for_function("sounding")
    assert page.evaluate("sounding") == 1  # what was stopped before it began stays silent


# What can be heard lasts as long as it does, what cannot passes in eight seconds.
every_kind = pytest.mark.parametrize(("name", "seconds"), [("chirp", 1), ("sunspots", 8)])


@pytest.mark.browser
@every_kind
def test_play_moves_the_playhead_and_pause_keeps_it(player, name, seconds):
    page, duration = player(name, 0.0)
    page.clock.run_for(400 * seconds)
    page.get_by_role("button", name="Pause").click()
    stopped = page.evaluate("state.time")
    assert stopped == pytest.approx(0.4 * duration, rel=0.2)
    page.clock.run_for(100)
    assert page.evaluate("state.time") == stopped
    assert page.evaluate("sounding") == 0


@pytest.mark.browser
def test_a_slow_recording_is_played_at_a_rate_that_loudspeakers_know(player):
    page, duration = player("chirp", 0.25)
    page.wait_for_function("sounding")
    played, recorded = page.evaluate("played"), SpectrogramExplorer().signals["chirp"]["rate"]
    assert (played["when"], played["from"]) == (0, duration / 4)  # at once, from where it stands
    assert 0.5 <= played["loudest"] < 0.6  # half as loud as can be, and what lies between
    assert recorded < 32000 <= played["rate"] < 64000
    page.evaluate("unmount()")
    assert page.evaluate("[sounding, played.closed]") == [0, True]  # the loudspeaker is given back
    assert played["length"] == pytest.approx(duration * played["rate"])


@pytest.mark.browser
@every_kind
def test_play_ends_with_the_signal_and_begins_anew(player, name, seconds):
    page, duration = player(name, 0.95)
    page.clock.run_for(200 * seconds)
    assert page.evaluate("state.time") == pytest.approx(duration)
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(200 * seconds)
    page.get_by_role("button", name="Pause").click()
    assert page.evaluate("state.time") == pytest.approx(0.2 * duration, rel=0.3)


@pytest.mark.browser
def test_everything_has_a_name_and_takes_its_own_keys(open_widget):
    page = open_widget()
    controls = """[...document.querySelectorAll("main input, main button")]
      .filter((e) => !e.closest("[hidden]"))"""
    named = "(e.labels?.length || e.ariaLabel || e.textContent.trim())"
    marked = "e.dataset.lmSuppressShortcuts === 'true'"
    assert page.evaluate(f"{controls}.length") > 15
    for condition in (named, marked):
        lacking = page.evaluate(f"{controls}.filter((e) => !{condition}).map((e) => e.outerHTML)")
        assert lacking == []
