"""Windows, the short-time transform, spreads, sampling, signals and cycles."""

import numpy as np
import pytest
import scipy.signal
from hypothesis import given
from hypothesis import strategies as st

from primer import fourier

# --- windows ---------------------------------------------------------------------------------


@given(st.integers(1, 300))
def test_windows_agree_with_scipy(length):
    for ours, theirs in [
        (fourier.rectangular(length), "boxcar"),
        (fourier.hann(length), "hann"),
        (fourier.gaussian(length, sigma=7.5), ("gaussian", 7.5)),
        (fourier.gaussian(length), ("gaussian", length / 6)),
    ]:
        if length > 1:  # for one sample SciPy returns 1 whatever the formula says
            np.testing.assert_allclose(ours, scipy.signal.get_window(theirs, length), atol=1e-12)


@pytest.mark.parametrize(
    ("window", "main_lobe", "sidelobe"),
    [  # Harris (1978), table 1; the lobe between the first zeros
        (fourier.rectangular(512), 2, -13.3),
        (fourier.hann(512), 4, -31.5),
        (scipy.signal.get_window("hamming", 512), 4, -42.7),
        (scipy.signal.get_window("blackman", 512), 6, -58.1),
    ],
)
def test_leakage_of_the_windows(window, main_lobe, sidelobe):
    measured = fourier.leakage(window)
    assert measured.main_lobe == pytest.approx(main_lobe, abs=0.02)
    assert measured.sidelobe == pytest.approx(sidelobe, abs=0.1)


def test_a_window_without_sidelobes_is_refused():
    with pytest.raises(ValueError, match="no sidelobe"):
        fourier.leakage([1.0])


# --- the short-time transform ----------------------------------------------------------------


@st.composite
def settings_of_an_stft(draw):
    size = draw(st.integers(2, 40))
    hop = draw(st.integers(1, size))
    length = draw(st.integers(size, 200))
    return size, hop, length


@given(settings_of_an_stft(), st.integers(0, 2**32 - 1))
def test_stft_agrees_with_scipy_and_inverts(sizes, seed):
    size, hop, length = sizes
    x = np.random.default_rng(seed).normal(size=(2, length))
    window = fourier.gaussian(size, sigma=size / 3)
    Z = fourier.stft(x, window, hop)
    frames = Z.shape[-2]
    theirs = scipy.signal.ShortTimeFFT(window, hop, fs=1.0, phase_shift=None)
    padded = np.pad(x, ((0, 0), (0, size + hop)))
    expected = theirs.stft(padded, p0=0, p1=frames)  # (batch, bins, frames)
    np.testing.assert_allclose(Z, expected.swapaxes(-1, -2), atol=1e-10)
    back = fourier.istft(Z, window, hop, length)
    np.testing.assert_allclose(back, x, atol=1e-10)


@given(st.integers(0, 2**32 - 1))
def test_istft_is_the_nearest_signal(seed):
    """For what is no transform, the result is the least-squares solution (Griffin and Lim)."""
    random = np.random.default_rng(seed)
    size, hop, length = 6, 2, 12
    window = fourier.hann(size) + 0.1
    Z = fourier.stft(random.normal(size=length), window, hop)
    Z = Z + random.normal(size=Z.shape) + 1j * random.normal(size=Z.shape)
    Z[:, [0, -1]] = Z[:, [0, -1]].real

    def two_sided(values):
        return np.concatenate([values, values[..., 1:-1][..., ::-1].conj()], axis=-1).ravel()

    columns = [two_sided(fourier.stft(e, window, hop)) for e in np.eye(length)]
    matrix = np.stack(columns, axis=-1)
    stacked = np.concatenate([matrix.real, matrix.imag])
    target = np.concatenate([two_sided(Z).real, two_sided(Z).imag])
    expected = np.linalg.lstsq(stacked, target, rcond=None)[0]
    np.testing.assert_allclose(fourier.istft(Z, window, hop, length), expected, atol=1e-10)


def test_stft_is_its_definition():
    x, window, hop = np.random.default_rng(3).normal(size=37), fourier.hann(10), 4
    Z = fourier.stft(x, window, hop)
    assert Z.shape == (11, 6)
    for m in range(11):
        for k in range(6):
            total = 0
            for n in range(10):
                i = n + m * hop - 5
                if 0 <= i < 37:
                    total += x[i] * window[n] * np.exp(-2j * np.pi * k * n / 10)
            assert Z[m, k] == pytest.approx(total, abs=1e-12)


def test_the_ridge_of_a_spectrogram_follows_a_chirp():
    x = fourier.chirp(8000, 1.0, start=200, stop=3000)
    times, frequencies, power = fourier.spectrogram(x, 8000, fourier.hann(256), 64)
    inside = slice(4, -5)
    ridge = frequencies[power[inside].argmax(axis=-1)]
    assert np.abs(ridge - (200 + 2800 * times[inside])).max() <= 8000 / 256


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: fourier.stft(np.ones(7), w, 4), "longer than the signal"),
        (lambda w: fourier.stft(np.ones(20), w, 0), "hop must be a whole number ≥ 1"),
        (lambda w: fourier.stft(np.ones(20), w, -2), "hop must be a whole number ≥ 1"),
        (lambda w: fourier.stft(np.ones(20) * 1j, w, 2), "must hold real numbers"),
        (lambda w: fourier.stft(np.full(20, np.nan), w, 2), "x must be finite"),
        (lambda w: fourier.stft(np.ones(20), np.zeros(8), 2), "zero everywhere"),
        (lambda w: fourier.stft(np.ones(20), np.ones((2, 8)), 2), "one sequence"),
        (lambda w: fourier.spectrogram(np.ones(20), 0, w, 2), "sample_rate must be"),
        (lambda w: fourier.spectrogram(np.ones(20), np.nan, w, 2), "sample_rate must be"),
        (lambda w: fourier.istft(np.ones((3, 5)), w, 4, 20), "make 6 frames of 5 bins"),
        (lambda w: fourier.istft(np.ones((6, 5)), w, 4, 0), "length must be a whole number ≥ 1"),
        (lambda w: fourier.istft(np.ones((3, 5)), w, 10, 20), "uncovered"),
        (lambda w: fourier.istft(np.ones((4, 5)), w, 8, 24), "uncovered"),  # Hann is 0 at its ends
    ],
)
def test_bad_input_of_the_stft_is_refused_with_a_reason(call, message):
    with pytest.raises(ValueError, match=message):
        call(fourier.hann(8))


# --- spreads ---------------------------------------------------------------------------------


@given(st.floats(5, 60), st.floats(1, 1e4))
def test_a_gaussian_reaches_the_bound(sigma, rate):
    x = fourier.gaussian(1000, sigma)
    result = fourier.spread(x, rate)
    assert result.time == pytest.approx(sigma / np.sqrt(2) / rate, rel=1e-6)
    assert result.product == pytest.approx(1 / (4 * np.pi), rel=1e-6)


@given(st.integers(1, 6), st.floats(10, 40))
def test_hermite_functions_have_their_closed_form(order, sigma):
    """The product of the Hermite function of order n is (2n + 1)/4π."""
    t = (np.arange(1000) - 500) / sigma
    x = np.polynomial.hermite.hermval(t, [0] * order + [1]) * np.exp(-(t**2) / 2)
    assert fourier.spread(x).product == pytest.approx((2 * order + 1) / (4 * np.pi), rel=1e-6)


def test_a_shift_in_time_or_frequency_leaves_the_spreads():
    x = fourier.gaussian(400, 20)
    moved = np.roll(x, 50) * np.exp(2j * np.pi * 0.2 * np.arange(400))
    assert fourier.spread(moved) == pytest.approx(fourier.spread(x), rel=1e-6)


@pytest.mark.parametrize(
    ("x", "rate", "message"),
    [
        (np.zeros(5), 1, "zero everywhere"),
        (np.ones((2, 5)), 1, "one sequence"),
        (np.ones(5), 0, "above 0"),
        ([np.nan], 1, "x must be finite"),
    ],
)
def test_bad_input_of_spread_is_refused(x, rate, message):
    with pytest.raises(ValueError, match=message):
        fourier.spread(x, rate)


# --- sampling --------------------------------------------------------------------------------


@given(st.floats(-1e3, 1e3), st.floats(0.1, 100))
def test_an_alias_has_the_same_samples(frequency, rate):
    alias = fourier.alias_frequency(frequency, rate)
    assert 0 <= alias <= rate / 2 * (1 + 1e-12)
    t = np.arange(50) / rate
    np.testing.assert_allclose(
        np.cos(2 * np.pi * alias * t), np.cos(2 * np.pi * frequency * t), atol=1e-8
    )


def test_interpolation_rebuilds_a_band_limited_function():
    """A sum of moved sinc functions below half the rate, all of whose samples are taken."""
    rate, n = 10.0, np.arange(4000)
    moves, weights = np.array([199.97, 200.0, 200.31]), np.array([1.0, -2.0, 0.5])

    def function(t):
        return np.sinc(4 * (t[:, None] - moves)) ** 2 @ weights  # band limit 4 Hz

    t = np.linspace(198, 202, 101)
    got = fourier.sinc_interpolate(function(n / rate), rate, t)
    np.testing.assert_allclose(got, function(t), atol=1e-9)


def test_interpolation_passes_through_the_samples():
    x = np.random.default_rng(4).normal(size=20)
    np.testing.assert_allclose(fourier.sinc_interpolate(x, 5, np.arange(20) / 5), x, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fourier.alias_frequency(3, 0), "above 0"),
        (lambda: fourier.alias_frequency(np.nan, 5), "frequency must be finite"),
        (lambda: fourier.sinc_interpolate([1, 2], 0, 0.1), "above 0"),
        (lambda: fourier.sinc_interpolate([[1, 2]], 1, 0.1), "one sequence"),
        (lambda: fourier.sinc_interpolate([1, 2], 1, 1j), "must hold real numbers"),
    ],
)
def test_bad_input_of_sampling_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- signals ---------------------------------------------------------------------------------

MADE = [
    fourier.chirp,
    fourier.two_tones,
    fourier.click_and_tone,
    fourier.plucked_string,
    fourier.sung_vowel,
]


@pytest.mark.parametrize("make", MADE, ids=lambda f: f.__name__)
@given(rate=st.integers(2000, 16000), duration=st.floats(0.01, 0.3))
def test_made_signals_are_samples_between_minus_one_and_one(make, rate, duration):
    x = make(sample_rate=rate, duration=duration)
    assert x.shape == (round(rate * duration),)
    assert np.isfinite(x).all()
    assert 0.2 < np.abs(x).max() <= 1 + 1e-12
    np.testing.assert_array_equal(x, make(sample_rate=rate, duration=duration))


@pytest.mark.parametrize("make", MADE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("bad", [{"sample_rate": 0}, {"duration": 0}, {"duration": 1e-9}])
def test_signals_without_rate_or_duration_are_refused(make, bad):
    with pytest.raises(ValueError, match=r"above 0|no sample"):
        make(**bad)


def test_chirp_agrees_with_scipy():
    t = fourier.sample_times(8000, 0.5)
    expected = scipy.signal.chirp(t, 100, 0.5, 2500)
    np.testing.assert_allclose(fourier.chirp(8000, 0.5, start=100, stop=2500), expected, atol=1e-9)


@pytest.mark.parametrize("frequency", [110.0, 220.0, 441.3])
def test_a_string_sounds_at_its_pitch(frequency):
    rate = 44100
    x = fourier.plucked_string(rate, 1.0, frequency=frequency)
    harmonic = fourier.peak_frequency(x, rate) / (rate / (round(rate / frequency - 0.5) + 0.5))
    assert round(harmonic) >= 1
    assert harmonic == pytest.approx(round(harmonic), abs=0.01)


def test_a_string_comes_to_rest_at_zero():
    x = fourier.plucked_string(8000, 2.0, seed=3)
    assert abs(x[-4000:].mean()) < 1e-4


def test_a_vowel_has_its_strongest_harmonic_at_its_first_formant():
    _, frequencies, power = fourier.spectrogram(
        fourier.sung_vowel(16000, 1.0, pitch=100), 16000, fourier.hann(2048), 512
    )
    strongest = frequencies[power[4:-4].mean(axis=0).argmax()]
    assert abs(strongest - 730) < 60


def test_pitches_too_high_for_the_rate_are_refused():
    with pytest.raises(ValueError, match="needs a sampling rate above 1500"):
        fourier.plucked_string(sample_rate=1000, frequency=1000)
    with pytest.raises(ValueError, match="needs a sampling rate above"):
        fourier.sung_vowel(sample_rate=200, pitch=150)
    with pytest.raises(ValueError, match="part of the duration"):
        fourier.click_and_tone(at=1.0)


# --- cycles ----------------------------------------------------------------------------------


@given(st.integers(16, 200), st.floats(0.1, 50))
def test_periodogram_agrees_with_scipy(length, rate):
    x = np.random.default_rng(length).normal(size=length)
    frequencies, power = fourier.periodogram(x, rate)
    theirs, density = scipy.signal.periodogram(
        x, rate, window="hann", nfft=16 * length, return_onesided=False
    )
    kept = len(frequencies)
    np.testing.assert_allclose(frequencies, np.abs(theirs[:kept]), rtol=1e-9)
    np.testing.assert_allclose(power, density[:kept], rtol=1e-6, atol=1e-12)


@given(st.floats(0.05, 0.45), st.floats(0, 6.28))
def test_peak_frequency_finds_a_tone(frequency, phase):
    x = np.cos(2 * np.pi * frequency * np.arange(300) + phase)
    assert fourier.peak_frequency(x) == pytest.approx(frequency, abs=1e-4)


@given(st.integers(6, 20))
def test_analytic_signal_agrees_with_scipy(cycles):
    """For a series inside the band it is SciPy's Hilbert transform."""
    n = np.arange(240)
    x = np.cos(2 * np.pi * cycles * n / 240) + 0.5 * np.sin(2 * np.pi * (cycles + 2) * n / 240)
    got = fourier.analytic_signal(x, 1.0, (0.02, 0.1))
    np.testing.assert_allclose(got, scipy.signal.hilbert(x), atol=1e-10)


def test_the_standard_error_of_a_cycle_covers_the_truth():
    """Series whose single cycles vary by 10 %: the mean is found within two errors, mostly."""
    hits, trials = 0, 200
    for seed in range(trials):
        random = np.random.default_rng(seed)
        ends = np.cumsum(np.r_[0, random.normal(11, 1.1, size=40)])
        t = np.arange(330.0)
        x = np.cos(2 * np.pi * np.interp(t, ends, np.arange(41)))
        x += 0.2 * random.normal(size=330)
        estimate = fourier.cycle_length(x, 1.0, (1 / 22, 1 / 5.5))
        hits += abs(estimate.mean - 11) < 2 * estimate.standard_error
    assert hits / trials > 0.85


def test_sunspots_have_a_cycle_near_eleven_years():
    years, numbers = fourier.sunspots()
    assert len(years) == len(numbers) == 309
    assert (np.diff(years) == 1).all()
    estimate = fourier.cycle_length(numbers, 1.0, (1 / 22, 1 / 5.5))
    assert abs(estimate.mean - 11) < 2 * estimate.standard_error
    assert 0.1 < estimate.standard_error < 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: fourier.periodogram(x, 0), "above 0"),
        (lambda x: fourier.periodogram(x[:3]), "at least 4"),
        (lambda x: fourier.periodogram(0 * x), "constant"),
        (lambda x: fourier.periodogram(1j * x), "must hold real numbers"),
        (lambda x: fourier.peak_frequency((-1.0) ** np.arange(40)), "edge"),
        (lambda x: fourier.analytic_signal(x, 1.0, (0.3, 0.2)), "band"),
        (lambda x: fourier.analytic_signal(x, 1.0, (0.3, 0.7)), "band"),
        (lambda x: fourier.analytic_signal(x, 1.0, (0.051, 0.052)), "widen"),
        (lambda x: fourier.cycle_length(x, 1.0, (0.02, 0.03)), "crests"),
    ],
)
def test_bad_input_of_cycles_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(5).normal(size=40))


def test_random_windows_obey_the_uncertainty_principle():
    random = np.random.default_rng(6)
    for _ in range(20):
        smooth = fourier.convolve(random.normal(size=200), fourier.gaussian(60, 6))
        assert fourier.spread(smooth).product > 1 / (4 * np.pi)


@given(st.integers(1, 16), st.integers(2, 8))
def test_hann_windows_add_up_evenly(step, parts):
    """Windows moved by a part of their length sum to a constant: why they are periodic."""
    total = fourier.hann(parts * step).reshape(parts, -1).sum(axis=0)
    np.testing.assert_allclose(total, parts / 2, atol=1e-12)
