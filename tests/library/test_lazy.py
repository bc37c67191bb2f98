"""What needs no torch is imported without it, and one widget without the others."""

import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

LAZY = ["widgets", "beyond_attention", "language_models", "optimization", "statistics"]
# In chapters 1 to 5, 10 and 16; what is left out computes with torch.
WITHOUT_TORCH = [
    "primer.notebook", "primer.datasets", "primer.palette",
    "primer.statistics", "primer.exercises.statistics",
    "primer.regression", "primer.exercises.regression",
    "primer.optimization", "primer.exercises.optimization",
    "primer.networks", "primer.exercises.networks",
    "primer.language_models", "primer.exercises.language_models",
    "primer.beyond_attention", "primer.beyond_attention.memories",
    "primer.exercises.beyond_attention",
    "primer.fourier", "primer.exercises.fourier",
]  # fmt: skip
WIDGETS_WITHOUT_TORCH = [
    "AliasByEar", "BytePairStepper", "CurveMemory", "DrawAgain", "EachDirection",
    "EigenvaluesInHand", "EraseATone", "Fold", "FourMemories", "LeastSquaresByHand", "NormBall",
    "PowerExplorer", "SlidingKernel", "SmallNetwork", "SpectrogramExplorer", "StepSize",
    "TooManyParameters", "WindingMachine",
]  # fmt: skip
NO_TORCH = """
import importlib, sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ImportError(f"{sys.argv[1]} imports {name}")
sys.meta_path.insert(0, NoTorch())
"""


def python(code: str, *arguments: str) -> str:
    """Run code in a process of its own and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_widget_is_imported_without_the_others() -> None:
    loaded = python(
        "import sys\nfrom primer.widgets import RopeRotation\n"
        "print(*[name for name in sys.modules if name.partition('.')[0] == 'primer'])"
    ).split()
    assert "primer.positions" in loaded
    assert len(loaded) < 60
    assert [name for name in loaded if "spectrogram" in name] == []


def test_what_computes_with_arrays_is_imported_where_there_is_no_torch() -> None:
    python(
        NO_TORCH
        + "for sys.argv[1] in sys.argv[2:]:\n    importlib.import_module(sys.argv[1])\n"
        + f"from primer.widgets import {', '.join(WIDGETS_WITHOUT_TORCH)}",
        "a widget",
        *WITHOUT_TORCH,
    )


def test_who_needs_torch_says_so_where_there_is_none() -> None:
    said = python(
        NO_TORCH
        + "try:\n    from primer.optimization import Muon\nexcept ImportError as e:\n    print(e)",
        "Muon",
    )
    assert said == "Muon imports torch\n"


def test_surprises_of_arrays_need_no_torch() -> None:
    told = python(
        NO_TORCH
        + "from primer.language_models import cross_entropy, entropy, kl_divergence\n"
        + "p, q = [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]\n"
        + "print(entropy(p, 2), cross_entropy(p, q, 2), kl_divergence(p, q, 2))\n"
        + "print(kl_divergence(q, p))",
        "one of them",
    )
    assert told == "1.0 2.0 1.0\ninf\n"


@pytest.mark.parametrize("name", LAZY)
def test_every_name_is_there_and_listed(name: str) -> None:
    package = import_module(f"primer.{name}")
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match=f"module 'primer.{name}' has no attribute 'nothing'"):
        _ = package.nothing


@pytest.mark.parametrize("name", LAZY)
def test_no_lazy_name_is_that_of_its_module(name: str) -> None:
    """Python would put the module in the place of what it defines."""
    package = import_module(f"primer.{name}")
    modules = [n for n in package.__all__ if isinstance(getattr(package, n), ModuleType)]
    assert modules == []
