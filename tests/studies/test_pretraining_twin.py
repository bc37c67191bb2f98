"""The masked twin's training goes on from what it saved, and from nothing else."""

from pathlib import Path

import pytest
import torch

from primer.pretraining import MaskedModel
from primer.tables import write_records
from primer.train.checkpointing import read_state, write_state
from primer.train.optimizer import make_optimizer
from primer.transformers import TransformerConfig
from studies.pretraining import twin

LINE = ("500", "5.0", "4.9")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make the twin narrow and its training short; give a folder for its state."""
    for name, value in {"STEPS": 4, "SAVE_EVERY": 2, "BATCH": 2, "HELD_OUT_WINDOWS": 2}.items():
        monkeypatch.setattr(twin, name, value)
    monkeypatch.setattr(twin, "WARMUP", 1)
    monkeypatch.setattr(twin, "CURVE", tmp_path / "curve.csv")
    monkeypatch.setattr(
        twin,
        "shape",
        lambda vocab_size: TransformerConfig(
            vocab_size=vocab_size,
            n_layers=1,
            d_model=8,
            n_heads=2,
            context_length=16,
            positions="learned",
        ),
    )
    monkeypatch.setattr(twin, "publish", lambda *_: None)
    text = "To be, or not to be, that is the question:\n" * 40
    monkeypatch.setattr(twin, "split_plays", lambda: ({"a": text}, {"b": text}))
    return tmp_path / "run"


def test_in_two_parts_it_ends_with_the_same_weights(small: Path) -> None:
    twin.train(small)
    whole = read_state(small / "state.pt", twin.FORMAT)
    (small / "state.pt").unlink()
    twin.train(small, 2)
    twin.train(small, 2)
    parts = read_state(small / "state.pt", twin.FORMAT)
    assert parts["step"] == whole["step"] == 4
    assert all(torch.equal(parts["model"][name], whole["model"][name]) for name in whole["model"])
    assert [line[0] for line in parts["lines"]] == ["step", "2", "4"]
    assert twin.CURVE.read_text().splitlines()[0] == "step,training,held_out"
    content = (small / "state.pt").read_bytes()
    for cut in (0, 10, len(content) // 2, len(content) - 1):
        (small / "state.pt").write_bytes(content[:cut])
        with pytest.raises(ValueError, match="damaged and cannot be continued"):
            twin.train(small, 2)


@pytest.mark.parametrize(
    ("step", "lines"),
    [
        (-1, []),
        (2.0, []),
        (True, []),
        (3001, []),
        (2, [("500", 5.0, 4.9)]),
        (2, [LINE[:2]]),
        (2, 3),
    ],
)
def test_a_state_of_no_run(step: object, lines: object, tmp_path: Path) -> None:
    model = MaskedModel(twin.shape(9))
    write_state(
        tmp_path / "state.pt",
        twin.FORMAT,
        model,
        make_optimizer(model),
        step=step,
        lines=lines,
    )
    saved = read_state(tmp_path / "state.pt", twin.FORMAT)
    with pytest.raises(ValueError, match=r"cannot be continued: .*delete it to start anew"):
        twin.continued(tmp_path / "state.pt", saved)
    assert twin.continued(tmp_path, saved | {"step": 2, "lines": [LINE]}) == (2, [LINE])


def test_the_curve_is_written_as_it_is_read(tmp_path: Path) -> None:
    write_records(tmp_path / "again.csv", twin.Run, twin.curve())
    assert (tmp_path / "again.csv").read_bytes() == twin.CURVE.read_bytes()
