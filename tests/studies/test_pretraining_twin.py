"""The masked twin's training: what its steps are, and that it goes on from what it saved alone."""

import math
from pathlib import Path

import pytest
import torch
from rates import watched_rates
from torch.nn.functional import cross_entropy

from primer.pretraining import MaskedModel, mask_tokens
from primer.pretraining.twin import MASK, with_mask
from primer.tables import read_records, write_records
from primer.train import Batches, token_stream
from primer.train.checkpointing import read_state, write_state
from primer.train.optimizer import make_optimizer
from primer.transformers import TransformerConfig, load_pretrained
from studies.pretraining import twin

LINE = ("500", "5.0", "4.9")
TEXT = "To be, or not to be, that is the question:\n" * 40


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make the twin narrow; give a folder for its state."""
    monkeypatch.setattr(twin, "BATCH", 2)
    monkeypatch.setattr(twin, "HELD_OUT_WINDOWS", 2)
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
    monkeypatch.setattr(twin, "split_plays", lambda: ({"a": TEXT}, {"b": TEXT}))
    return tmp_path / "run"


@pytest.fixture
def small(narrow: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make its training short, too."""
    for name, value in {"STEPS": 4, "SAVE_EVERY": 2, "WARMUP": 1}.items():
        monkeypatch.setattr(twin, name, value)
    return narrow


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


def test_a_training_is_a_plain_loop_with_torchs_adamw(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"STEPS": 6, "SAVE_EVERY": 3, "WARMUP": 2, "HELD_OUT_WINDOWS": 5}.items():
        monkeypatch.setattr(twin, name, value)
    new = "Whether 'tis nobler in the mind to suffer\n" * 30
    monkeypatch.setattr(twin, "split_plays", lambda: ({"a": TEXT}, {"b": new}))
    tokenizer = with_mask(load_pretrained("plays")[1])
    mask = tokenizer.special_tokens[MASK]
    seen, unseen = (token_stream({"one": text}, tokenizer) for text in (TEXT, new))
    places = torch.linspace(0, (len(unseen) - 1) // 16 - 1, 5, dtype=torch.float64).long() * 16
    windows = unseen[places[:, None] + torch.arange(17)][:, 1:]
    torch.manual_seed(1)
    model = MaskedModel(twin.shape(tokenizer.vocab_size))
    flat = [p for p in model.parameters() if p.ndim < 2]
    deep = [p for p in model.parameters() if p.ndim >= 2]
    groups = [{"params": deep, "weight_decay": 0.1}, {"params": flat, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98))

    def surprise(rows: torch.Tensor, seed: int) -> torch.Tensor:  # nats of a hidden token
        draw = torch.Generator().manual_seed(seed)
        text = mask_tokens(rows, draw, mask_id=mask, vocab_size=mask, rate=0.3)
        asked = torch.where(text.counted, text.targets, -100).long()
        return cross_entropy(model.logits(text.inputs).mT, asked, ignore_index=-100)

    losses, lines = [], []
    for step in range(6):
        for group in optimizer.param_groups:  # two steps up, four along a cosine to a hundredth
            fallen = (1 + math.cos(math.pi * (step - 2) / 3)) / 2
            group["lr"] = 3e-3 * ((step + 1) / 2 if step < 2 else 0.01 + 0.99 * fallen)
        rows = Batches(seen, 16, 2, 1).at(step)[:, 1:]  # no token before: a twin needs no start
        loss = surprise(rows, 2**32 + step)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step in (2, 5):
            with torch.no_grad():
                lines.append((step + 1, sum(losses[-3:]) / 3, surprise(windows, 0).item()))
    twin.train(small)
    for run, line in zip(read_records(twin.CURVE, twin.Run), lines, strict=True):
        assert run == pytest.approx(line, abs=1.5e-4)
    trained = read_state(small / "state.pt", twin.FORMAT)["model"]
    for name, weight in model.state_dict().items():
        torch.testing.assert_close(trained[name], weight, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    ("first", "shares"),
    [
        (0, [1 / 200, 2 / 200, 3 / 200]),
        (198, [199 / 200, 1, 1]),
        (2997, [0.01 + 0.99 * math.sin(math.pi * left / 5598) ** 2 for left in (2, 1, 0)]),
    ],
)
def test_the_stored_twins_rate_rose_for_200_steps_and_fell_to_a_hundredth(
    first: int, shares: list[float], narrow: Path
) -> None:
    narrow.mkdir()
    model = MaskedModel(twin.shape(load_pretrained("plays")[1].vocab_size + 1))
    optimizer = make_optimizer(model)
    write_state(narrow / "state.pt", twin.FORMAT, model, optimizer, step=first, lines=[LINE])
    with watched_rates() as rates:
        twin.train(narrow, 3)
    assert rates == [pytest.approx([0.003 * share] * 2, rel=1e-9) for share in shares]


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
