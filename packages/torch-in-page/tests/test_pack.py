"""The folders that a page gets: torch under its own name, safetensors, and what reads them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import torch_in_page as ours
from torch_in_page import products, safetensors_files
from torch_in_page.__main__ import write

PROGRAM = """
import copy, json, pickle, sys
import numpy as np
import torch, torch.nn.functional as F
from torch import nn, Tensor
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.nn.utils import clip_grad_norm_
from torch.utils.flop_counter import FlopCounterMode
from safetensors.torch import load, save

torch.manual_seed(3)
model = nn.Sequential(nn.Embedding(9, 8), nn.GRU(8, 8, batch_first=True))
x = torch.randint(9, (4, 6))
head = nn.Linear(8, 9)
both = [*model.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(both, lr=0.01)
plan = CosineAnnealingLR(optimizer, 10)
for _ in range(10):
    optimizer.zero_grad()
    loss = F.cross_entropy(head(model(x)[0]).flatten(0, 1), x.roll(-1, 1).flatten())
    loss.backward()
    clip_grad_norm_(both, 1.0)
    optimizer.step()
    plan.step()
with FlopCounterMode(display=False) as counter:
    head(torch.ones(2, 3, 8)).sum().backward()
state = load(save(head.state_dict()))
again = pickle.loads(pickle.dumps(copy.deepcopy(head)))
print(json.dumps({
    "where": torch.__file__, "version": torch.__version__, "flops": counter.get_total_flops(),
    "type": str(type(loss)), "loss": loss.item(), "text": repr(head.weight[0, :4]),
    "same": [bool((state["bias"] == head.bias).all()), bool((again.weight == head.weight).all())],
    "draw": torch.randn(3).tolist(), "parameter": str(type(head.weight)), "module": str(nn.Module),
}))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("page")
    assert [path.name for path in write(place)] == ["torch", "safetensors"]
    return place


def answer(path: str = "") -> dict[str, Any]:
    """Run the program in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_a_program_prints_with_the_folder_what_it_prints_with_torch(folder: Path) -> None:
    mine, theirs = answer(str(folder)), answer()
    assert mine["where"].startswith(str(folder))
    assert mine["version"].endswith("+page")
    assert mine["loss"] == pytest.approx(theirs["loss"], abs=1e-5)
    assert mine["flops"] == theirs["flops"]
    for name in ("type", "text", "same", "draw", "parameter", "module"):
        assert mine[name] == theirs[name], name


def test_the_folder_is_written_anew(folder: Path) -> None:
    (folder / "torch" / "old.py").write_text("")
    write(folder)
    assert not (folder / "torch" / "old.py").exists()
    assert not list(folder.rglob("__pycache__"))


KINDS = sorted(safetensors_files.KINDS.items())


@settings(max_examples=30, deadline=None)
@given(
    shapes=st.lists(st.lists(st.integers(0, 4), max_size=3), min_size=1, max_size=4),
    which=st.integers(0, 100),
    seed=st.integers(0, 99),
)
def test_files_are_read_and_written_as_by_safetensors(shapes: list, which: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mine, theirs = {}, {}
    for i, shape in enumerate(shapes):
        name = KINDS[(which + i) % len(KINDS)][1].name
        numbers = rng.integers(0, 3, size=shape).astype(np.float32)
        mine[f"x{i}"] = ours.from_numpy(numbers).to(getattr(ours, name))
        theirs[f"x{i}"] = torch.from_numpy(numbers).to(getattr(torch, name))
    about = {"made": "by a test"}
    raw = safetensors.torch.save(theirs, about)
    read = safetensors_files.load(raw)
    assert list(read) == sorted(theirs)
    for name, tensor in read.items():
        assert repr(tensor.dtype) == repr(theirs[name].dtype)
        assert tensor.tolist() == theirs[name].tolist()
    again = safetensors.torch.load(safetensors_files.save(mine, about))
    assert all(
        torch.equal(again[name].float(), theirs[name].float())
        for name in theirs
        if not theirs[name].is_complex()
    )


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    raw = safetensors_files.save({"x": ours.ones(3)}, {"about": "x"})
    (tmp_path / "x.safetensors").write_bytes(raw)
    with safetensors_files.safe_open(tmp_path / "x.safetensors", "pt") as file:
        assert file.metadata() == {"about": "x"}
        assert list(file.keys()) == ["x"]
        assert file.get_tensor("x").tolist() == [1, 1, 1]
        with pytest.raises(safetensors_files.SafetensorError, match="y"):
            file.get_tensor("y")
    for damaged in (b"", raw[:20], raw[:-1], b"\xff" * 30, raw[:8] + b"[" + raw[9:]):
        with pytest.raises(safetensors_files.SafetensorError, match="header"):
            safetensors_files.load(damaged)
    with pytest.raises(FileNotFoundError, match="none"):
        safetensors_files.safe_open(tmp_path / "none.safetensors")


@settings(max_examples=20, deadline=None)
@given(
    sizes=st.tuples(*[st.integers(1, 60)] * 3),
    turned=st.tuples(st.booleans(), st.booleans()),
    kind=st.sampled_from(["float32", "float64"]),
    batch=st.sampled_from([(), (2,), (2, 1)]),
)
def test_products_by_scipy_are_those_by_numpy(
    sizes: tuple, turned: tuple, kind: str, batch: tuple
) -> None:
    rng = np.random.default_rng(0)
    n, m, k = sizes
    a = rng.normal(size=(*batch, m, n) if turned[0] else (*batch, n, m)).astype(kind)
    b = rng.normal(size=(k, m) if turned[1] else (m, k)).astype(kind)
    a = a.swapaxes(-1, -2) if turned[0] else a
    b = b.T if turned[1] else b
    before, worth = products._Route.scipy, products.WORTH_IT
    try:
        products.use_scipy(True)
        products.WORTH_IT = 0
        got = products.product(a, b)
    finally:
        products.use_scipy(before)
        products.WORTH_IT = worth
    assert got.dtype == a.dtype
    np.testing.assert_allclose(got, a @ b, rtol=1e-4, atol=1e-4)
