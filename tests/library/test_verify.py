"""The checks of the chapters accept what is true, refuse what is false, and print both sides."""

import base64
import itertools
import re
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.font_manager import findfont

from primer.notebook import (
    Mistake,
    exercise,
    measured,
    show,
    show_source,
    use_book_style,
    verify,
    verify_between,
    verify_raises,
    verify_that,
)
from primer.notebook.source import source_without_docstring

reals = st.floats(-1e6, 1e6)


class TestVerify:
    @given(reals, st.floats(1e-9, 1.0))
    def test_accepts_what_lies_within_the_tolerance(self, x, atol):
        verify("x", x, x, atol=atol)

    @given(reals, st.floats(1e-6, 1.0))
    def test_refuses_what_lies_outside(self, x, atol):
        with pytest.raises(AssertionError, match="exceeds the tolerance"):
            verify("x", x + 2.1 * atol + abs(x) * 1e-9, x, atol=atol)

    def test_prints_name_numbers_and_tolerance(self, capsys):
        verify("a third", 1 / 3, 0.33333, atol=1e-4)
        assert capsys.readouterr().out == ("✓ a third: 0.333333 ≈ 0.33333 (tolerance 0.0001)\n")

    def test_what_is_below_the_tolerance_prints_as_zero(self, capsys):
        verify("rounding", 3e-16, 0, atol=1e-12)
        assert "0 to within 1e-12" in capsys.readouterr().out

    def test_arrays_tensors_and_complex_numbers(self, capsys):
        verify("tensors", torch.ones(2, 3), np.ones((2, 3)), atol=1e-7)
        verify("complex", [1 + 2j, 3 - 1j], [1 + 2j, 3 - 1j], atol=1e-12)
        out = capsys.readouterr().out
        assert "2×3 numbers agree to within 1e-07" in out
        assert "[1+2j, 3-1j]" in out

    def test_relative_tolerance(self):
        verify("large", 1.0001e9, 1e9, atol=0, rtol=1e-3)
        with pytest.raises(AssertionError):
            verify("large", 1.01e9, 1e9, atol=0, rtol=1e-3)

    def test_nan_never_passes(self):
        with pytest.raises(AssertionError, match="NaN"):
            verify("nan", float("nan"), float("nan"), atol=1)

    @pytest.mark.parametrize(
        ("got", "expected", "message"),
        [([1, 2], [1, 2, 3], "shape"), ([], [], "empty"), (True, True, "verify_that")],
    )
    def test_what_cannot_be_compared(self, got, expected, message):
        with pytest.raises(ValueError, match=message):
            verify("x", got, expected, atol=1)


class TestOtherChecks:
    def test_between(self, capsys):
        verify_between("loss", 1.5, 1, 2)
        verify_between("gain", 1.5, 1, float("inf"))
        assert capsys.readouterr().out == "✓ loss: 1 ≤ 1.5 ≤ 2\n✓ gain: 1.5 ≥ 1\n"
        for value in (0.9, 2.1, float("nan")):
            with pytest.raises(AssertionError, match="is not between"):
                verify_between("loss", value, 1, 2)

    def test_between_keeps_machine_numbers_out_of_the_comparison(self, capsys):
        verify_between("time", 0.123, 0, 1, machine=True)
        assert capsys.readouterr().out == "~ time: 0.123\n✓ time: between 0 and 1\n"

    def test_that(self):
        verify_that("equal sets", np.bool_(True))
        with pytest.raises(AssertionError, match="does not hold"):
            verify_that("equal sets", False)
        with pytest.raises(ValueError, match="True or False"):
            verify_that("equal sets", [True])

    def test_raises(self, capsys):
        verify_raises("a letter", ValueError, lambda: int("x"))
        assert "ValueError: invalid literal" in capsys.readouterr().out
        with pytest.raises(AssertionError, match="nothing was raised"):
            verify_raises("a digit", ValueError, lambda: int("1"))
        with pytest.raises(AssertionError, match="raised TypeError"):
            verify_raises("a list", ValueError, lambda: int([]))

    def test_measured_marks_every_line(self, capsys):
        measured("one\ntwo")
        assert capsys.readouterr().out == "~ one\n~ two\n"


class TestExercise:
    @staticmethod
    @exercise("1.1")
    def check_square(answer):
        """Say which mistake was made."""
        if answer(3) == 6:
            raise Mistake("you doubled")
        if answer(3) != 9:
            raise Mistake(f"9 was expected, not {answer(3)}")

    def test_right_wrong_and_unanswered(self, capsys):
        self.check_square(lambda x: x * x)
        self.check_square(lambda x: ...)
        out = capsys.readouterr().out
        assert "✓ Exercise 1.1 is solved." in out
        assert "waits for your answer" in out
        with pytest.raises(Mistake, match=r"Exercise 1\.1: you doubled"):
            self.check_square(lambda x: 2 * x)

    def test_an_error_of_the_answer_is_reported_as_the_mistake(self):
        with pytest.raises(Mistake, match="stopped with ZeroDivisionError"):
            self.check_square(lambda x: 1 / 0)

    def test_a_mistake_is_shown_without_the_code_of_the_check(self):
        assert Mistake("you doubled")._render_traceback_() == ["✗ you doubled"]


@pytest.fixture
def displayed(monkeypatch):
    """Record what the notebook helpers display, instead of displaying it."""
    outputs = []

    def record(data, *, raw, metadata=None):
        assert raw
        outputs.append((data, metadata))

    monkeypatch.setattr("primer.notebook.figures.display", record)
    monkeypatch.setattr("primer.notebook.source.display", record)
    return outputs


class TestShow:
    def draw(self):
        figure, axes = plt.subplots()
        axes.plot([0, 1])
        return figure

    def test_shows_a_png_with_its_description(self, displayed, monkeypatch):
        monkeypatch.delenv("PRIMER_FIGURES", raising=False)
        show(self.draw(), alt="A rising line.")
        ((data, metadata),) = displayed
        assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
        assert data["text/plain"] == "<Figure: A rising line.>"
        assert metadata == {"image/png": {"alt": "A rising line."}}
        assert plt.get_fignums() == []

    def test_the_site_gets_the_same_svg_every_time(self, displayed, monkeypatch):
        monkeypatch.setenv("PRIMER_FIGURES", "svg")
        use_book_style()
        show(self.draw(), alt="A rising line.")
        show(self.draw(), alt="A rising line.")
        first, second = (data["image/svg+xml"] for data, _ in displayed)
        assert first == second
        assert "<svg" in first

    def test_a_slow_machine_prints_what_a_fast_one_does(self, monkeypatch):
        clock = itertools.count(step=2.0)  # each look at it is two seconds later
        monkeypatch.setattr("matplotlib.legend.time.perf_counter", lambda: next(clock))
        figure, axes = plt.subplots()
        axes.plot([1, 2], label="line")
        axes.legend()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            figure.canvas.draw()
            assert any("can be slow" in str(warning.message) for warning in said)
            said.clear()
            use_book_style()
            figure.canvas.draw()
        assert not said
        plt.close(figure)

    def test_a_title_longer_than_its_figure_is_not_cut_off(self, displayed, monkeypatch):
        monkeypatch.setenv("PRIMER_FIGURES", "svg")
        use_book_style()
        for title in ("Short", "A title that says so much that a small figure cannot hold it"):
            figure, axes = plt.subplots(figsize=(3, 2))
            axes.set_title(title)
            show(figure, alt=title)
        short, long = (
            re.search(r'viewBox="0 0 (\S+) (\S+)"', data["image/svg+xml"]) for data, _ in displayed
        )
        assert [float(size) for size in short.groups()] == [3 * 72, 2 * 72]
        assert float(long[1]) > 1.5 * 3 * 72
        assert float(long[2]) == 2 * 72

    def test_labels_above_and_below_axes_of_equal_scales_are_not_cut_off(
        self, displayed, monkeypatch
    ):
        monkeypatch.setenv("PRIMER_FIGURES", "svg")
        use_book_style()
        for height in (3.4, 2.7):
            figure, panels = plt.subplots(1, 3, figsize=(7.2, height), sharex=True, sharey=True)
            for axes in panels:
                axes.set(title="above", xlabel="below", xlim=(-2, 2), ylim=(-2, 2), aspect="equal")
            show(figure, alt="Equal scales.")
        high, low = (
            float(re.search(r'viewBox="0 0 \S+ (\S+)"', data["image/svg+xml"])[1])
            for data, _ in displayed
        )
        assert high == pytest.approx(3.4 * 72)
        assert low > 2.8 * 72

    def test_letters_are_those_of_the_site(self, caplog):
        use_book_style()
        figure, axes = plt.subplots()
        texts = axes.set(
            title="η ≤ 2/λ → ½, “σ²” − 1",
            xlabel=r"$\mathcal{L}(\hat\theta) = \sum_i x_i^2 / \sqrt{n} \to \infty$",
            ylabel="λ₁ ≈ ŷ ± ∂L/∂w",
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of a sign that no typeface has
            figure.canvas.draw()
        assert caplog.messages == []
        for text in texts:
            assert Path(findfont(text.get_fontproperties())).name.startswith("SourceSansPro-")
        plt.close(figure)

    def test_wants_a_description(self):
        with pytest.raises(ValueError, match="describe the figure"):
            show(self.draw(), alt=" ")
        plt.close("all")


def test_show_source_quotes_the_code_that_runs_without_its_docstring(displayed):
    show_source(measured)
    ((data, _),) = displayed
    assert data["text/plain"] == "<Source of primer.notebook.verify.measured>"
    page = BeautifulSoup(data["text/html"], "html.parser")
    assert page.details is not None
    assert not page.details.has_attr("open")
    assert page.summary is not None
    assert page.summary.text == "▸ In the library: primer.notebook.measured"
    assert page.pre is not None
    assert page.pre.text.strip() == source_without_docstring(measured)
    assert 'print(f"~ {line}")' in page.pre.text
    assert page.select("span.k")
    assert "Examples" not in page.pre.text
    with pytest.raises(TypeError):
        show_source(len)
