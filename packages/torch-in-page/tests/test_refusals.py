"""What torch refuses is refused with the same kind of error; what is not here says so by name."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import torch_in_page as ours

WRONG: dict[str, Any] = {
    "shapes that do not meet": lambda T: T.ones(3) + T.ones(4),
    "shapes that do not meet in where": lambda T: T.where(T.ones(3).bool(), T.ones(4), T.ones(4)),
    "matrices that do not meet": lambda T: T.ones(2, 3) @ T.ones(2, 3),
    "stacks that do not meet": lambda T: T.ones(2, 3, 4) @ T.ones(3, 4, 5),
    "a matrix and a longer vector": lambda T: T.ones(2, 3) @ T.ones(2),
    "vectors of other lengths": lambda T: T.dot(T.ones(2), T.ones(3)),
    "kinds of a product": lambda T: T.ones(2, 2) @ T.ones(2, 2, dtype=T.float64),
    "kinds of a linear layer": lambda T: T.nn.functional.linear(
        T.ones(2, 2, dtype=T.float64), T.ones(2, 2)
    ),
    "whole numbers in a linear layer": lambda T: T.nn.Linear(2, 2)(T.ones(2, dtype=T.int64)),
    "a product with an array": lambda T: T.ones(2, 2) @ [[1.0]],
    "a text added": lambda T: T.ones(2) + "a",
    "None added": lambda T: T.ones(2) + None,
    "a list of texts": lambda T: T.tensor(["a"]),
    "lists of other lengths": lambda T: T.tensor([[1, 2], [3]]),
    "None as a number": lambda T: T.tensor([None]),
    "a number too large": lambda T: T.tensor([300], dtype=T.uint8).add_(T.tensor(2**70)),
    "reshape to another count": lambda T: T.ones(6).reshape(4),
    "reshape with two unknowns": lambda T: T.ones(6).reshape(-1, -1),
    "view of a transposed": lambda T: T.ones(2, 3).t().view(6),
    "an axis too far": lambda T: T.ones(2).sum(1),
    "an axis too far in softmax": lambda T: T.ones(2).softmax(3),
    "an axis twice": lambda T: T.ones(2, 2).sum((0, 0)),
    "an index too far": lambda T: T.ones(2)[2],
    "too many indices": lambda T: T.ones(2)[0, 0],
    "an index with a point": lambda T: T.ones(2)[T.tensor([0.5])],
    "a mask of another length": lambda T: T.ones(2)[T.ones(3).bool()],
    "a slice backwards": lambda T: T.ones(4)[::-1],
    "an embedding too far": lambda T: T.nn.Embedding(3, 2)(T.tensor([3])),
    "an embedding of numbers with a point": lambda T: T.nn.Embedding(3, 2)(T.tensor([1.0])),
    "gather too far": lambda T: T.ones(2, 2).gather(0, T.tensor([[2, 0]])),
    "gather with other axes": lambda T: T.ones(2, 2).gather(0, T.tensor([0])),
    "scatter of another kind": lambda T: T.zeros(2, 2).scatter(
        0, T.tensor([[0]]), T.ones(1, 1).double()
    ),
    "index_select too far": lambda T: T.ones(2).index_select(0, T.tensor([5])),
    "a value that does not fit": lambda T: T.zeros(3).__setitem__(slice(0, 2), T.ones(3)),
    "copy of another shape": lambda T: T.zeros(3).copy_(T.ones(2)),
    "a sum in place that grows": lambda T: T.zeros(1).add_(T.ones(3)),
    "a float into whole numbers": lambda T: T.ones(2, dtype=T.int64).mul_(0.5),
    "a mask that is none": lambda T: T.ones(2).masked_fill(T.ones(2), 0),
    "a mean of whole numbers": lambda T: T.ones(2, dtype=T.int64).mean(),
    "a spread of whole numbers": lambda T: T.ones(2, dtype=T.int64).std(),
    "softmax of whole numbers": lambda T: T.ones(2, dtype=T.int64).softmax(0),
    "truth values subtracted": lambda T: T.ones(2).bool() - T.ones(2).bool(),
    "minus of truth values": lambda T: -T.ones(2).bool(),
    "not of numbers": lambda T: ~T.ones(2),
    "bits of numbers": lambda T: T.ones(2) & T.ones(2),
    "division by zero": lambda T: T.ones(2, dtype=T.int64) // T.zeros(2, dtype=T.int64),
    "remainder by zero": lambda T: T.ones(2, dtype=T.int64) % 0,
    "a negative power of whole numbers": lambda T: T.tensor([2]) ** -1,
    "truth of several": lambda T: bool(T.ones(2)),
    "truth of none": lambda T: bool(T.ones(0)),
    "a number of several": lambda T: T.ones(2).item(),
    "the length of a number": lambda T: len(T.tensor(1.0)),
    "a number gone through": lambda T: list(T.tensor(1.0)),
    "a place that is no whole number": lambda T: [1, 2][T.tensor(0.5)],
    "concatenation of other shapes": lambda T: T.cat([T.ones(2, 2), T.ones(3, 3)]),
    "concatenation of nothing": lambda T: T.cat([]),
    "concatenation of numbers": lambda T: T.cat([T.tensor(1.0), T.tensor(2.0)]),
    "a stack of other shapes": lambda T: T.stack([T.ones(2), T.ones(3)]),
    "a stack of arrays": lambda T: T.stack([[1.0], [2.0]]),
    "split to another sum": lambda T: T.ones(4).split([1, 2]),
    "narrow too far": lambda T: T.ones(4).narrow(0, 2, 3),
    "expand of another length": lambda T: T.ones(2).expand(3),
    "expand to fewer axes": lambda T: T.ones(2, 2).expand(2),
    "permute with too few": lambda T: T.ones(2, 2).permute(0),
    "permute with one twice": lambda T: T.ones(2, 2).permute(0, 0),
    "t of three axes": lambda T: T.ones(2, 2, 2).t(),
    "diag of three axes": lambda T: T.ones(2, 2, 2).diag(),
    "topk of too many": lambda T: T.ones(2).topk(3),
    "the largest of none": lambda T: T.ones(0).max(),
    "argmax of none": lambda T: T.ones(0).argmax(),
    "clamp with nothing": lambda T: T.ones(2).clamp(),
    "einsum with too few": lambda T: T.einsum("ij,jk->ik", T.ones(2, 2)),
    "einsum with other lengths": lambda T: T.einsum("ij,jk->ik", T.ones(2, 3), T.ones(2, 2)),
    "einsum with other axes": lambda T: T.einsum("ijk->i", T.ones(2, 3)),
    "a quantile above 1": lambda T: T.ones(3).quantile(1.5),
    "bins of numbers with a point": lambda T: T.bincount(T.ones(2)),
    "the inverse of a singular matrix": lambda T: T.linalg.inv(T.zeros(2, 2)),
    "a singular system": lambda T: T.linalg.solve(T.zeros(2, 2), T.ones(2)),
    "a triangle of a matrix that has none": lambda T: T.linalg.cholesky(-T.eye(2)),
    "the inverse of what is not square": lambda T: T.linalg.inv(T.ones(2, 3)),
    "a determinant of a vector": lambda T: T.linalg.det(T.ones(2)),
    "eigenvalues of whole numbers": lambda T: T.linalg.eigvalsh(T.ones(2, 2, dtype=T.int64)),
    "classes that do not exist": lambda T: T.nn.functional.cross_entropy(
        T.ones(2, 3), T.tensor([0, 3])
    ),
    "classes for another batch": lambda T: T.nn.functional.cross_entropy(
        T.ones(2, 3), T.tensor([0, 1, 2])
    ),
    "a reduction that is none": lambda T: T.nn.functional.cross_entropy(
        T.ones(2, 3), T.tensor([0, 1]), reduction="median"
    ),
    "probabilities above 1": lambda T: T.nn.functional.binary_cross_entropy(
        T.full((2,), 1.5), T.ones(2)
    ),
    "one_hot below 0": lambda T: T.nn.functional.one_hot(T.tensor([-1])),
    "one_hot above": lambda T: T.nn.functional.one_hot(T.tensor([3]), 2),
    "dropout above 1": lambda T: T.nn.functional.dropout(T.ones(2), 1.5),
    "a norm over other axes": lambda T: T.nn.functional.layer_norm(T.ones(2, 3), (4,)),
    "a kernel too large": lambda T: T.nn.functional.conv1d(T.ones(1, 1, 2), T.ones(1, 1, 3)),
    "a kernel for other channels": lambda T: T.nn.functional.conv1d(
        T.ones(1, 2, 4), T.ones(1, 1, 3)
    ),
    "a mask and causal": lambda T: T.nn.functional.scaled_dot_product_attention(
        T.ones(2, 2), T.ones(2, 2), T.ones(2, 2), attn_mask=T.ones(2, 2), is_causal=True
    ),
    "another width for an LSTM": lambda T: T.nn.LSTM(3, 4)(T.ones(5, 2, 2)),
    "a state of another shape": lambda T: T.nn.GRU(3, 4)(T.ones(5, 2, 3), T.ones(2, 2, 4)),
    "heads that do not divide": lambda T: T.nn.MultiheadAttention(5, 2),
    "a module without forward": lambda T: T.nn.Module()(1),
    "a tensor as a parameter": lambda T: setattr(T.nn.Linear(2, 2), "weight", T.ones(2, 2)),
    "parameters before init": lambda T: setattr(
        T.nn.Module.__new__(T.nn.Module), "weight", T.nn.Parameter(T.ones(1))
    ),
    "a name with a point": lambda T: T.nn.Module().register_buffer("a.b", T.ones(1)),
    "a state with other names": lambda T: T.nn.Linear(2, 2).load_state_dict(
        {"weight": T.ones(2, 2), "b": T.ones(2)}
    ),
    "a state of other shapes": lambda T: T.nn.Linear(2, 2).load_state_dict(
        {"weight": T.ones(3, 2), "bias": T.ones(2)}
    ),
    "no such module": lambda T: T.nn.Sequential(T.nn.Linear(2, 2)).get_submodule("7"),
    "no such attribute": lambda T: T.nn.Linear(2, 2).bais,
    "no parameters": lambda T: T.optim.SGD([], lr=0.1),
    "a tensor instead of a list": lambda T: T.optim.SGD(T.ones(2), lr=0.1),
    "a negative rate": lambda T: T.optim.Adam([T.ones(2, requires_grad=True)], lr=-1),
    "a beta above 1": lambda T: T.optim.Adam([T.ones(2, requires_grad=True)], betas=(1.5, 0.9)),
    "a computed parameter": lambda T: T.optim.SGD([T.ones(2, requires_grad=True) * 2], lr=0.1),
    "a plan without length": lambda T: T.optim.lr_scheduler.OneCycleLR(
        T.optim.SGD([T.ones(1, requires_grad=True)], lr=1, momentum=0.9), 1
    ),
    "randint of nothing": lambda T: T.randint(3, 3, (2,)),
    "too many without replacement": lambda T: T.multinomial(T.ones(2), 3),
    "weights below 0": lambda T: T.multinomial(T.tensor([-1.0, 2.0]), 1),
    "weights of 0": lambda T: T.multinomial(T.zeros(2), 1),
    "a normal spread below 0": lambda T: T.empty(2).normal_(0, -1),
    "probabilities that are none": lambda T: T.bernoulli(T.tensor([2.0])),
    "whole uniform numbers": lambda T: T.rand(2, dtype=T.int64),
    "NumPy's generator": lambda T: T.rand(2, generator=__import__("numpy").random.default_rng(0)),
    "a keyword that is none": lambda T: T.zeros(2, colour="red"),
    "a shape with a point": lambda T: T.zeros(2.5),
    "a shape below 0": lambda T: T.zeros(-2),
    "a step of 0": lambda T: T.arange(0, 3, 0),
    "a step the wrong way": lambda T: T.arange(3, 0, 1),
    "a device that is none": lambda T: T.zeros(2, device="gpu"),
    "a kind that cannot ask for gradients": lambda T: T.ones(2, dtype=T.int64, requires_grad=True),
    "a reversed array": lambda T: T.from_numpy(__import__("numpy").arange(3)[::-1]),
    "an array of texts": lambda T: T.from_numpy(__import__("numpy").array(["a"])),
    "a list as an array": lambda T: T.from_numpy([1]),
    "complex numbers in order": lambda T: T.tensor([1j]) < T.tensor([2j]),
    "iinfo of a float": lambda T: T.iinfo(T.float32),
    "finfo of a whole number": lambda T: T.finfo(T.int8),
    "deepcopy of what was computed": lambda T: __import__("copy").deepcopy(
        T.ones(1, requires_grad=True) * 2
    ),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.filterwarnings("ignore")
def test_what_torch_refuses_is_refused(name: str) -> None:
    with pytest.raises(Exception, match=r"\w") as theirs:
        WRONG[name](torch)
    with pytest.raises(Exception, match=r"\w") as mine:
        WRONG[name](ours)
    assert type(mine.value).__name__.lstrip("_") == type(theirs.value).__name__.lstrip("_"), (
        mine.value
    )
    assert len(str(mine.value)) > 10


def test_what_is_not_here_says_so_by_name() -> None:
    for owner, name in (
        (ours, "stft"),
        (ours.nn, "ConvTranspose2d"),
        (ours.linalg, "ldl_factor"),
        (ours.nn.functional, "ctc_loss"),
        (ours.optim, "Rprop"),
        (ours.special, "bessel_j0"),
        (ours.ones(1), "sparse_mask"),
        (ours.nn.init, "dirac_"),
        (ours.func, "jvp"),
        (ours.utils, "tensorboard"),
        (ours.optim.lr_scheduler, "CyclicLR"),
    ):
        assert not hasattr(owner, name)
        with pytest.raises(AttributeError, match=f"{name}.*Jupyter"):
            getattr(owner, name)


def test_what_is_only_half_here_refuses_the_other_half() -> None:
    x = ours.ones(2, requires_grad=True)
    for call in (
        lambda: ours.autocast("cpu"),
        lambda: ours.save(x, "x"),
        lambda: ours.load("x"),
        lambda: ours.nn.LSTM(2, 2, proj_size=1),
        lambda: ours.poisson(x),
        lambda: ours.utils.flop_counter.FlopCounterMode(),
        lambda: ours.nn.utils.rnn.PackedSequence(),
        lambda: ours.linalg.eig(ours.eye(2).requires_grad_()),
        lambda: ours.zeros(2, device="meta"),
        lambda: ours.nn.parallel.DistributedDataParallel(None),
        lambda: ours.nn.Embedding(2, 2, max_norm=1.0),
        lambda: ours.nn.functional.max_pool2d(ours.ones(1, 1, 4, 4), 2, ceil_mode=True),
        lambda: ours.optim.Adam([x], capturable=True),
        lambda: ours.zeros(2, layout="torch.sparse_coo"),
        lambda: ours.utils.data.DataLoader([1], num_workers=2),
        lambda: ours.func.jacrev(abs, has_aux=True),
    ):
        with pytest.raises(NotImplementedError, match="torch in this page"):
            call()
    with pytest.raises(AssertionError, match="this page"):
        x.cuda()
