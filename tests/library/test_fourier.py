"""The transforms against numpy.fft, scipy.signal and closed forms."""

import numpy as np
import pytest
import scipy.signal
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from primer import fourier

finite = st.floats(-1e3, 1e3, allow_subnormal=False)
lengths = st.integers(1, 200)


@st.composite
def real_batches(draw, low=1, high=200):
    shape = (*draw(st.lists(st.integers(1, 3), max_size=2)), draw(st.integers(low, high)))
    return draw(arrays(float, shape, elements=finite))


@st.composite
def complex_batches(draw):
    x = draw(real_batches())
    return x + 1j * draw(arrays(float, x.shape, elements=finite))


def relative_error(got, expected):
    return np.abs(got - expected).max() / max(np.abs(expected).max(), 1e-300)


# --- the discrete Fourier transform, slow and fast -------------------------------------------


@given(complex_batches())
def test_fft_and_dft_agree_with_numpy_for_every_length(x):
    expected = np.fft.fft(x)
    scale = np.abs(x).sum() + 1e-300
    assert np.abs(fourier.fft(x) - expected).max() <= 1e-12 * scale
    assert np.abs(fourier.dft(x) - expected).max() <= 1e-12 * scale
    assert np.abs(fourier.ifft(x) - np.fft.ifft(x)).max() <= 1e-12 * scale
    assert np.abs(fourier.idft(x) - np.fft.ifft(x)).max() <= 1e-12 * scale
    assert np.abs(fourier.ifft(fourier.fft(x)) - x).max() <= 1e-12 * scale


@given(real_batches())
def test_rfft_agrees_with_numpy(x):
    got = fourier.rfft(x)
    assert got.shape == np.fft.rfft(x).shape
    assert np.abs(got - np.fft.rfft(x)).max() <= 1e-12 * (np.abs(x).sum() + 1e-300)


@pytest.mark.parametrize(
    "length",
    [2**16, 2**16 - 1, 2**16 + 2, 1009, 65537, 99991],
    ids=["2^16", "composite", "even", "prime-1009", "fermat-prime", "prime-99991"],
)
def test_long_transforms_agree_with_numpy(length):
    random = np.random.default_rng(length)
    x = random.normal(size=length) + 1j * random.normal(size=length)
    assert relative_error(fourier.fft(x), np.fft.fft(x)) < 1e-12
    assert relative_error(fourier.rfft(x.real), np.fft.rfft(x.real)) < 1e-12


def test_a_batch_is_transformed_row_by_row():
    x = np.random.default_rng(0).normal(size=(3, 5, 48))
    rows = [[fourier.fft(row) for row in block] for block in x]
    np.testing.assert_allclose(fourier.fft(x), rows, atol=1e-12)


def test_fft_leaves_its_input_and_its_tables_alone():
    x = np.arange(6.0)
    first = fourier.fft(x)
    first[:] = 0
    np.testing.assert_array_equal(x, np.arange(6.0))
    np.testing.assert_allclose(fourier.fft(x), np.fft.fft(x), atol=1e-12)
    fourier.dft_matrix(8)[:] = 0
    np.testing.assert_allclose(fourier.fft(np.ones(8))[0], 8)


@given(lengths)
def test_dft_matrix_is_vandermonde_symmetric_and_unitary_up_to_scale(length):
    W = fourier.dft_matrix(length)
    roots = np.exp(-2j * np.pi * np.arange(length) / length)
    np.testing.assert_allclose(W, np.vander(roots, increasing=True), atol=1e-9)
    np.testing.assert_array_equal(W, W.T)
    np.testing.assert_allclose(W @ W.conj().T, length * np.eye(length), atol=1e-10 * length)


@given(complex_batches())
def test_parseval(x):
    energy = (np.abs(x) ** 2).sum(-1)
    spectral = (np.abs(fourier.fft(x)) ** 2).mean(-1)
    np.testing.assert_allclose(spectral, energy, rtol=1e-10, atol=1e-10)


@given(
    arrays(float, st.integers(1, 60), elements=finite),
    arrays(float, st.integers(1, 60), elements=finite),
)
def test_convolve_agrees_with_numpy(x, kernel):
    expected = np.convolve(x, kernel)
    scale = np.abs(x).sum() * np.abs(kernel).sum() + 1e-300
    got = fourier.convolve(x, kernel)
    assert got.dtype == float
    assert np.abs(got - expected).max() <= 1e-12 * scale
    if len(kernel) <= len(x):
        wrapped = np.zeros(len(x))
        np.add.at(wrapped, np.arange(len(expected)) % len(x), expected)
        got = fourier.convolve(x, kernel, circular=True)
        assert np.abs(got - wrapped).max() <= 1e-12 * scale


def test_convolve_broadcasts_a_kernel_and_keeps_complex_numbers():
    random = np.random.default_rng(1)
    x, kernel = random.normal(size=(4, 30)), random.normal(size=7)
    expected = scipy.signal.fftconvolve(x, kernel[None], axes=-1)
    np.testing.assert_allclose(fourier.convolve(x, kernel), expected, atol=1e-12)
    np.testing.assert_allclose(fourier.convolve([1j], [1j, 2]), [-1, 2j], atol=1e-12)


def test_a_circular_kernel_longer_than_the_signal_is_refused():
    with pytest.raises(ValueError, match="longer than the signal"):
        fourier.convolve([1, 2], [1, 2, 3], circular=True)


# --- Fourier transforms of functions and sequences -------------------------------------------


@given(st.floats(0.3, 3))
def test_gaussian_and_box_and_exponential_have_their_closed_forms(a):
    w = np.linspace(-12, 12, 25)
    gaussian = fourier.fourier_transform(lambda t: np.exp(-(t**2) / (2 * a**2)), w, (-40, 40))
    expected = a * np.sqrt(2 * np.pi) * np.exp(-(a**2) * w**2 / 2)
    np.testing.assert_allclose(gaussian, expected, atol=1e-12)
    box = fourier.fourier_transform(np.ones_like, w, (-a, a))
    np.testing.assert_allclose(box, 2 * a * np.sinc(a * w / np.pi), atol=1e-12)
    decay = fourier.fourier_transform(
        lambda t: np.exp(-a * np.abs(t)), w, (-100, 0, 100), panels=128
    )
    np.testing.assert_allclose(decay, 2 * a / (a**2 + w**2), atol=1e-11)


def test_the_inverse_fourier_transform_brings_the_function_back():
    t = np.linspace(-3, 3, 13)
    back = fourier.inverse_fourier_transform(
        lambda w: np.sqrt(2 * np.pi) * np.exp(-(w**2) / 2 - 1j * w), t, (-12, 12)
    )
    np.testing.assert_allclose(back, np.exp(-((t - 1) ** 2) / 2), atol=1e-12)


@given(arrays(float, st.integers(1, 40), elements=finite), st.integers(-50, 50))
def test_dtft_agrees_with_scipy_is_periodic_and_inverts(x, start):
    w = np.linspace(-7, 7, 30)
    scale = np.abs(x).sum() + 1e-300
    got = fourier.dtft(x, w, start=start)
    response = scipy.signal.freqz(x, worN=w)[1] * np.exp(-1j * w * start)
    assert np.abs(got - response).max() <= 1e-11 * scale
    again = fourier.dtft(x, w + 2 * np.pi, start=start)
    assert np.abs(got - again).max() <= 1e-11 * scale
    n = start + np.arange(-2, len(x) + 2)
    back = fourier.inverse_dtft(lambda v: fourier.dtft(x, v, start=start), n, points=128)
    assert np.abs(back - np.pad(x, 2)).max() <= 1e-11 * scale


def test_dft_samples_the_dtft():
    x = np.random.default_rng(2).normal(size=31)
    w = 2 * np.pi * np.arange(31) / 31
    np.testing.assert_allclose(fourier.dft(x), fourier.dtft(x, w), atol=1e-12)


@pytest.mark.parametrize("rate", [0.5, 1.0, 1 / 0.7, 4.0])
def test_sampled_spectrum_is_the_dtft_of_the_samples(rate):
    f = np.linspace(-2, 2, 21)
    n = np.arange(-200, 201)
    samples = np.exp(-np.pi * (n / rate) ** 2)  # its own transform, in hertz
    direct = fourier.dtft(samples, 2 * np.pi * f / rate, start=-200)
    copies = fourier.sampled_spectrum(lambda v: np.exp(-np.pi * v**2), f, rate)
    np.testing.assert_allclose(copies, direct, atol=1e-12)


# --- bad input -------------------------------------------------------------------------------

SEQUENCE_FUNCTIONS = [fourier.fft, fourier.ifft, fourier.dft, fourier.idft, fourier.rfft]


@pytest.mark.parametrize("function", SEQUENCE_FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([1.0, np.nan], r"got nan at \[1\]; remove or fill the gaps"),
        ([np.inf, 0], r"got inf at \[0\]"),
        ([], "empty"),
        (3.0, "one number"),
        (["a", "b"], "must hold numbers"),
    ],
)
def test_what_is_no_signal_is_refused(function, x, message):
    with pytest.raises(ValueError, match=message):
        function(x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fourier.rfft([1j, 2]), "must hold real numbers"),
        (lambda: fourier.dft_matrix(0), "length must be a whole number ≥ 1"),
        (lambda: fourier.dtft([[1.0, 2]], 0.0), "one sequence"),
        (lambda: fourier.dtft([1.0, 2], 1j), "must hold real numbers"),
        (
            lambda: fourier.inverse_dtft(np.ones_like, 0, points=0),
            "points must be a whole number ≥ 1",
        ),
        (lambda: fourier.fourier_transform(np.ones_like, 0.0, (1, 1)), "growing"),
        (lambda: fourier.fourier_transform(np.ones_like, 0.0, (1,)), "growing"),
        (
            lambda: fourier.fourier_transform(lambda t: t * np.nan, 0.0, (0, 1)),
            "function's values must be finite",
        ),
        (lambda: fourier.sampled_spectrum(np.ones_like, 0.0, 0), "sample_rate must be"),
        (lambda: fourier.sampled_spectrum(np.ones_like, 0.0, -1), "above 0"),
    ],
)
def test_bad_input_of_transforms_is_refused_with_a_reason(call, message):
    with pytest.raises(ValueError, match=message):
        call()
