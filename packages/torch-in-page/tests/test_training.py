"""Modules, optimizers and plans do what torch's do, step by step."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from agree import same

import torch_in_page as ours

BOTH = (ours, torch)
OPTIMIZERS: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 0.1},
    "SGD momentum": {"lr": 0.05, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01},
    "SGD nesterov": {"lr": 0.05, "momentum": 0.9, "nesterov": True, "maximize": True},
    "Adam": {"lr": 0.05},
    "Adam decay": {"lr": 0.05, "betas": (0.8, 0.9), "weight_decay": 0.1, "amsgrad": True},
    "AdamW": {"lr": 0.05, "weight_decay": 0.2},
    "RMSprop": {"lr": 0.01, "momentum": 0.5, "centered": True, "weight_decay": 0.1},
    "Adagrad": {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.01},
    "LBFGS": {"lr": 0.5, "max_iter": 7},
    "LBFGS strong": {"line_search_fn": "strong_wolfe", "history_size": 3},
}
PLANS: dict[str, Any] = {
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda t: 1 / (t + 1)),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda t: 0.9),
    "StepLR": lambda s, o: s.StepLR(o, 3, 0.5),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 5]),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.8),
    "ConstantLR": lambda s, o: s.ConstantLR(o, 0.5, 4),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.1, 1.0, 6),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, 8, 2.0),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 5, 0.01),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.5, total_steps=12, anneal_strategy="linear"),
    "OneCycleLR cos": lambda s, o: s.OneCycleLR(o, 0.5, total_steps=12, pct_start=0.4),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.1, 20), s.ExponentialLR(o, 0.9)], [4]
    ),
}


def parameters(T: Any) -> list[Any]:
    rng = np.random.default_rng(2)
    return [T.nn.Parameter(T.from_numpy(rng.normal(size=shape))) for shape in ((3, 2), (4,))]


def valley(x: Any, y: Any) -> Any:
    return (
        ((x - 1) ** 2).sum() + (x.sum() * y.sum() / 5) ** 2 + (y**4).mean() + (x[0, 0] * y[1]).sin()
    )


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_takes_torchs_steps(name: str) -> None:
    traces = []
    for T in BOTH:
        x, y = parameters(T)
        optimizer = getattr(T.optim, name.split()[0])([x, y], **OPTIMIZERS[name])
        trace = []

        def closure(x: Any = x, y: Any = y, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = valley(x, y)
            loss.backward()
            return loss

        for _ in range(6):
            trace.append(optimizer.step(closure))
            trace += [x.detach().clone(), y.detach().clone()]
        stored = copy.deepcopy(optimizer.state_dict()) if T is torch else optimizer.state_dict()
        again = getattr(T.optim, name.split()[0])([x, y], **OPTIMIZERS[name])
        if not name.startswith("LBFGS"):
            again.load_state_dict(stored)
            closure()
            again.step()
        trace += [x.detach().clone(), y.detach().clone()]
        traces.append(trace)
    for a, b in zip(*traces, strict=True):
        same(a.detach(), b.detach(), name, 1e-7)


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_sets_torchs_rates(name: str) -> None:
    rates = []
    for T in BOTH:
        x, y = parameters(T)
        optimizer = T.optim.SGD([{"params": [x], "lr": 0.2}, {"params": [y]}], lr=0.1, momentum=0.9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plan = PLANS[name](T.optim.lr_scheduler, optimizer)
            found = []
            for _ in range(10):
                found.append(
                    plan.get_last_lr() + [group["momentum"] for group in optimizer.param_groups]
                )
                optimizer.step()
                plan.step()
        rates.append(found)
    np.testing.assert_allclose(rates[0], rates[1], rtol=1e-9)


def test_a_rate_falls_when_nothing_gets_better() -> None:
    rates = []
    for T in BOTH:
        optimizer = T.optim.SGD(parameters(T), lr=1.0)
        plan = T.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
        found = []
        for loss in (3.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0):
            plan.step(loss)
            found.append(optimizer.param_groups[0]["lr"])
        rates.append(found)
    assert rates[0] == rates[1]


LAYERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "Linear": (lambda nn: nn.Linear(4, 3), (5, 4)),
    "RNN": (lambda nn: nn.RNN(4, 3, 2, nonlinearity="relu"), (5, 2, 4)),
    "LSTM": (lambda nn: nn.LSTM(4, 3, 2, batch_first=True, bidirectional=True), (2, 5, 4)),
    "GRU": (lambda nn: nn.GRU(4, 3, bias=False), (5, 4)),
    "RNNCell": (lambda nn: nn.RNNCell(4, 3), (2, 4)),
    "LSTMCell": (lambda nn: nn.LSTMCell(4, 3), (2, 4)),
    "GRUCell": (lambda nn: nn.GRUCell(4, 3), (2, 4)),
    "LayerNorm": (lambda nn: nn.LayerNorm(4), (2, 4)),
    "RMSNorm": (lambda nn: nn.RMSNorm(4), (2, 4)),
    "BatchNorm1d": (lambda nn: nn.BatchNorm1d(4), (6, 4)),
    "BatchNorm2d": (lambda nn: nn.BatchNorm2d(2), (3, 2, 4, 4)),
    "GroupNorm": (lambda nn: nn.GroupNorm(2, 4), (3, 4, 5)),
    "Conv1d": (lambda nn: nn.Conv1d(4, 3, 2, stride=2, padding=1, dilation=2), (2, 4, 7)),
    "Conv2d": (lambda nn: nn.Conv2d(2, 4, 3, padding="same", groups=2), (2, 2, 5, 5)),
    "MaxPool2d": (lambda nn: nn.MaxPool2d(2), (2, 2, 4, 4)),
    "AvgPool1d": (lambda nn: nn.AvgPool1d(2), (2, 2, 4)),
    "TransformerEncoder": (
        lambda nn: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), 2
        ),
        (2, 3, 4),
    ),
    "norm first": (
        lambda nn: nn.TransformerEncoderLayer(4, 2, 8, 0.0, "gelu", norm_first=True),
        (3, 2, 4),
    ),
    "Sequential": (
        lambda nn: nn.Sequential(
            nn.Unflatten(1, (2, 2)),
            nn.Flatten(),
            nn.PReLU(),
            nn.Softmax(-1),
            nn.GLU(),
            nn.Identity(),
        ),
        (3, 4),
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_computes_what_torchs_does(name: str) -> None:
    build, shape = LAYERS[name]
    found = []
    for T in BOTH:
        T.manual_seed(1)
        layer = build(T.nn).double()
        x = T.from_numpy(np.random.default_rng(1).normal(size=shape)).requires_grad_()
        out = layer(x)
        parts = (
            [out]
            if not isinstance(out, tuple)
            else [out[0], *(out[1] if isinstance(out[1], tuple) else out[1:])]
        )
        sum((part**2).sum() for part in parts).backward()
        layer.eval()
        again = layer(x)
        found.append(
            [
                *parts,
                x.grad,
                *(p.grad for p in layer.parameters()),
                *layer.buffers(),
                again[0] if isinstance(again, tuple) else again,
            ]
        )
    assert len(found[0]) == len(found[1])
    for a, b in zip(*found, strict=True):
        same(a.detach(), b.detach(), name)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_a_recurrent_layers_gradient_is_differentiated_again(name: str) -> None:
    found = []
    for T in BOTH:
        T.manual_seed(1)
        layer = getattr(T.nn, name)(3, 4).double()
        x = T.from_numpy(np.random.default_rng(1).normal(size=(5, 2, 3))).requires_grad_()
        out = layer(x)[0]
        first = T.autograd.grad((out**2).sum(), [x, *layer.parameters()], create_graph=True)
        second = T.autograd.grad(sum((g**2).sum() for g in first), [x, *layer.parameters()])
        found.append([*first, *second])
    for a, b in zip(*found, strict=True):
        same(a.detach(), b.detach(), name)


def test_attention_and_the_first_transformer_compute_what_torchs_do() -> None:
    found = []
    for T in BOTH:
        T.manual_seed(1)
        attention = T.nn.MultiheadAttention(4, 2, batch_first=True).double()
        x = T.from_numpy(np.random.default_rng(1).normal(size=(2, 3, 4)))
        later = T.ones(3, 3).bool().triu(1)
        padded = T.tensor([[False, False, True], [False, False, False]])
        whole = T.nn.Transformer(4, 2, 1, 1, 8, 0.0, batch_first=True).double()
        mask = T.nn.Transformer.generate_square_subsequent_mask(3).double()
        found.append(
            [
                *attention(x, x, x, attn_mask=later),
                *attention(x, x, x, key_padding_mask=padded, average_attn_weights=False),
                whole(x, x, tgt_mask=mask),
                attention(x[0], x[0], x[0])[0],
            ]
        )
    for a, b in zip(*found, strict=True):
        same(a.detach(), b.detach(), "attention")


def test_a_model_is_taken_apart_and_put_together_as_in_torch() -> None:
    said = []
    for T in BOTH:
        nn = T.nn

        class Model(nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self, nn: Any = nn, T: Any = T) -> None:
                super().__init__()
                self.first = nn.Linear(2, 3)
                self.blocks = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
                self.tied = self.first
                self.register_buffer("kept", T.ones(2))
                self.register_buffer("lost", T.zeros(1), persistent=False)
                self.scale = nn.Parameter(T.ones(()))
                self.none = None

            def forward(self, x: Any) -> Any:
                for block in self.blocks:
                    x = block(self.first(x) if x.shape[-1] == 2 else x)
                return x * self.scale

        model = Model()
        seen: list[Any] = []
        model.blocks[0].register_forward_hook(
            lambda m, a, out, seen=seen: seen.append(tuple(out.shape))
        )
        handle = model.register_forward_pre_hook(
            lambda m, a, k, seen=seen: seen.append(sorted(k)), with_kwargs=True
        )
        model(x=T.ones(4, 2))
        handle.remove()
        model(T.ones(2))
        model.set_submodule("blocks.1", nn.Identity())
        state = model.state_dict()
        other = Model()
        other.set_submodule("blocks.1", nn.Identity())
        result = other.load_state_dict(state)
        partly = other.load_state_dict({"scale": T.tensor(3.0), "more": T.ones(1)}, strict=False)
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        model.apply(lambda m, seen=seen: seen.append(type(m).__name__))
        half = copy.deepcopy(model).to(T.float16)
        said.append(
            [
                [name for name, _ in model.named_modules()],
                [name for name, _ in model.named_parameters()],
                [name for name, _ in model.named_parameters(remove_duplicate=False)],
                [name for name, _ in model.named_buffers()],
                list(state),
                repr(result),
                repr(partly),
                seen,
                [name for name, _ in model.named_children()],
                repr(model),
                str(half.first.weight.dtype),
                str(half.kept.dtype),
                other.scale.item(),
                model.training,
                model.eval().training,
                model.blocks[0].training,
                len(model.blocks),
                repr(model.get_submodule("blocks.0")),
                tuple(model.get_parameter("first.weight").shape),
            ]
        )
    assert said[0] == said[1]


def test_gradients_are_clipped_as_in_torch() -> None:
    found = []
    for T in BOTH:
        x, y = parameters(T)
        valley(x * 30, y).backward()
        norm = T.nn.utils.clip_grad_norm_([x, y], 1.5)
        first = [x.grad.clone(), y.grad.clone()]
        T.nn.utils.clip_grad_value_([x, y], 0.2)
        vector = T.nn.utils.parameters_to_vector([x, y])
        T.nn.utils.vector_to_parameters(vector.detach() * 2, [x, y])
        found.append(
            [norm, *first, x.grad, y.grad, vector, x, y, T.nn.utils.get_total_norm([x, y])]
        )
    for a, b in zip(*found, strict=True):
        same(a.detach(), b.detach(), "clipping")


def test_a_mode_sees_each_call_of_a_function() -> None:
    seen = []
    for T in BOTH:
        names: list[str] = []

        class Mode(T.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
            def __torch_function__(
                self, f: Any, types: Any, a: Any = (), k: Any = None, names: Any = names
            ) -> Any:
                names.append(f.__name__)
                return f(*a, **(k or {}))

        x = T.ones(2, 2)
        with Mode():
            x.softmax(0)
            T.nn.functional.softmax(x, dim=1)
            T.cat([x, x])
        x.exp()
        seen.append([name for name in names if "get" not in name])
    assert seen[0] == seen[1]
