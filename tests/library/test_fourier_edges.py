"""Windows that ripple, numbers at the ends of what floating point holds, and wrong calls."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.signal.windows
from hypothesis import given
from hypothesis import strategies as st

from primer import fourier

ANY = st.floats(allow_nan=False, allow_infinity=False)
ABOVE = st.floats(min_value=5e-324, allow_infinity=False)


# Windows ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "lobe", "level"),  # Harris (1978), table 1; for the flat top what SciPy's samples show
    [
        ("boxcar", 2, -13.3),
        ("bartlett", 4, -26.5),
        ("hann", 4, -31.5),
        ("blackman", 6, -58.1),
        ("blackmanharris", 8, -92.0),
        ("flattop", 10, -92.7),
    ],
)
@pytest.mark.parametrize("scale", [1, -1, 1e-200, 1e300])
def test_main_lobe_and_sidelobe(name, lobe, level, scale):
    window = getattr(scipy.signal.windows, name)(256, sym=False) * scale
    measured = fourier.leakage(window)
    assert measured.main_lobe == pytest.approx(lobe, abs=0.1)
    assert measured.sidelobe == pytest.approx(level, abs=0.1)


@pytest.mark.parametrize("cycles", [3, 10, 30])
def test_a_window_that_is_highest_elsewhere_is_refused(cycles):
    n = np.arange(64)
    window = fourier.hann(64) * np.cos(2 * np.pi * cycles * n / 64) + 0.01
    with pytest.raises(ValueError, match=rf"highest {cycles}(\.\d+)? bins from frequency 0"):
        fourier.leakage(window)


def test_a_window_without_a_sidelobe():
    with pytest.raises(ValueError, match="no sidelobe"):
        fourier.leakage([1.0])


# Any numbers that floating point holds ------------------------------------------------------------


@given(ANY, ABOVE)
def test_an_alias_is_exact(frequency, rate):
    below = Fraction(abs(frequency)) % Fraction(rate)
    expected = min(below, Fraction(rate) - below)
    assert float(fourier.alias_frequency(frequency, rate)) == float(expected)


@given(st.sampled_from([1e-300, 1e-200, 1.0, 1e200, 1e300]), st.sampled_from([1e-290, 1.0, 1e290]))
def test_spreads_do_not_depend_on_the_unit(unit, rate):
    x = fourier.gaussian(64, 7.0)
    expected, got = fourier.spread(x), fourier.spread(x * unit, rate)
    assert got.time == pytest.approx(expected.time / rate, rel=1e-9)
    assert got.frequency == pytest.approx(expected.frequency * rate, rel=1e-9)


@given(st.sampled_from([1e-300, 1e-200, 1e200, 1e300]))
def test_peak_and_way_back_do_not_depend_on_the_unit(unit):
    x = np.cos(2 * np.pi * 0.123 * np.arange(64))
    assert fourier.peak_frequency(x * unit) == pytest.approx(fourier.peak_frequency(x), rel=1e-9)
    window = fourier.hann(16) * unit
    back = fourier.istft(fourier.stft(x, window, 4), window, 4, 64)
    np.testing.assert_allclose(back, x, atol=1e-12)


SIGNALS = {
    fourier.chirp: ["start", "stop"],
    fourier.click_and_tone: ["frequency", "at"],
    fourier.plucked_string: ["frequency"],
    fourier.sung_vowel: ["pitch"],
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(st.data())
def test_a_signal_is_finite_or_refused(data):
    make = data.draw(st.sampled_from(list(SIGNALS)))
    name = data.draw(st.sampled_from([*SIGNALS[make], "sample_rate", "duration"]))
    value = data.draw(
        st.floats() | st.sampled_from([1e-300, 1e-6, 1e200, -1.0, 0.0, True, "2", None])
    )
    try:
        x = make(**({"sample_rate": 500, "duration": 0.1} | {name: value}))
    except ValueError as error:
        words = str(error)
        assert "Maximum allowed" not in words
        assert "cannot convert" not in words
    else:
        assert np.isfinite(x).all()


@pytest.mark.parametrize(
    ("formants", "sentence"),
    [
        (((730, np.nan),), "formants must be finite"),
        (((730, -80),), "pairs of a frequency and a bandwidth above 0"),
        (((730, 0),), "pairs of a frequency and a bandwidth above 0"),
        (((730, 80, 3),), "pairs of a frequency and a bandwidth above 0"),
        ((730, 80), "formants must be a matrix"),
        ("ab", "formants must hold numbers"),
    ],
)
def test_formants(formants, sentence):
    with pytest.raises(ValueError, match=sentence):
        fourier.sung_vowel(500, 0.1, formants=formants)
    assert len(fourier.sung_vowel(500, 0.1, formants=())) == 50


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1", 2**63, np.random.default_rng(0)])
def test_seeds_that_are_none(seed):
    with pytest.raises(ValueError, match="seed must be"):
        fourier.plucked_string(500, 0.1, seed=seed)


def test_large_seeds_differ():
    first, second = (fourier.plucked_string(8000, 0.1, seed=s) for s in (2**63 - 2, 2**63 - 1))
    assert not np.array_equal(first, second)


def test_a_string_of_one_sample_is_silent():
    assert np.isfinite(fourier.plucked_string(1000, 0.1, frequency=500)).all()
    with pytest.raises(ValueError, match=r"is silent at 1000 Hz: .* at least 1200 Hz"):
        fourier.plucked_string(1000, 0.1, frequency=600)


# Functions of the caller --------------------------------------------------------------------------

CALLS = {
    "x": lambda f: fourier.fourier_transform(f, [0.0, 1.0], (-1, 1)),
    "spectrum": lambda f: fourier.inverse_fourier_transform(f, [0.0, 1.0], (-1, 1)),
    "spectrum ": lambda f: fourier.inverse_dtft(f, [0, 1]),
    "spectrum  ": lambda f: fourier.sampled_spectrum(f, [0.0, 1.0], 2.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_function_of_each_point(name):
    call, name = CALLS[name], name.strip()
    for other in (3, None, "x", np.ones(3)):
        with pytest.raises(ValueError, match=f"^{name} must be a function of 1 argument, got"):
            call(other)
    for wrong in (
        lambda u: [1.0, 2.0],
        lambda u: [1.0],
        lambda u: u[:1],
        lambda u: np.ones((3, *u.shape)),
    ):
        with pytest.raises(ValueError, match=f"{name} must return a number for each point, shape"):
            call(wrong)
    for nothing in (lambda u: u * np.nan, lambda u: None, lambda u: "1"):
        with pytest.raises(ValueError, match="s values must"):
            call(nothing)
    np.testing.assert_allclose(call(lambda u: 1.0), call(lambda u: np.ones(u.shape)))


@given(st.floats(-400, 400), st.integers(1, 40))
def test_an_integral_is_right_or_refused(omega, panels):
    try:
        got = fourier.fourier_transform(np.ones_like, omega, (-1, 1), panels=panels)
    except ValueError as error:
        assert "turns" in str(error)  # noqa: PT017
        assert abs(omega) * 2 / panels > 3.2 * 2 * np.pi
    else:
        assert got == pytest.approx(2 * np.sinc(omega / np.pi), abs=1e-9)


def test_numbers_of_samples():
    def spectrum(w):
        return 1 + np.exp(-1j * w)

    with pytest.raises(ValueError, match=r"n must hold whole numbers, got 0\.5"):
        fourier.inverse_dtft(spectrum, [0, 0.5])
    with pytest.raises(ValueError, match="sample 4096 is an alias of another"):
        fourier.inverse_dtft(spectrum, [0, 4096])
    np.testing.assert_allclose(fourier.inverse_dtft(spectrum, 4096, points=8192), 0, atol=1e-10)


def test_shapes_and_sizes_that_do_not_go_together():
    with pytest.raises(ValueError, match="axes of x and kernel before the last must agree"):
        fourier.convolve(np.ones((2, 3)), np.ones((3, 3)))
    with pytest.raises(ValueError, match="x and kernel are too large to be multiplied"):
        fourier.convolve([1e200], [1e200])
    assert fourier.convolve(np.ones((2, 1, 3)), np.ones((3, 3))).shape == (2, 3, 5)
    for band in (3, "ab", (np.nan, 1.0), (0.1, 0.2, 0.3)):
        with pytest.raises(ValueError, match="band must"):
            fourier.analytic_signal(np.arange(8.0) % 3, 1.0, band)
