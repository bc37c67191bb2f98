"""What optimizers share: groups of parameters, settings, and what is remembered of each."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..dtypes import float32
from ..engine import Handle, enable_grad, no_grad
from ..tensor import Tensor, made


class Optimizer:
    """The base of optimizers: subclasses write ``step``, or ``change`` for one parameter."""

    __module__ = "torch.optim.optimizer"

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: dict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._before: OrderedDict[int, Any] = OrderedDict()
        self._after: OrderedDict[int, Any] = OrderedDict()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                "dicts, but got "
                f"{type(params).__module__}.{type(params).__name__}"
            )
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with settings of their own."""
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        if params and isinstance(params[0], tuple):
            param_group = {**param_group, "param_names": [name for name, _ in params]}
            params = [parameter for _, parameter in params]
        for parameter in params:
            if not isinstance(parameter, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is "
                    f"{type(parameter)}"
                )
            if not parameter.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if known & {id(p) for p in params}:
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**self.defaults, **param_group, "params": params})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    parameter.grad = None
                elif parameter.grad is not None:
                    parameter.grad = parameter.grad.detach().zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change each parameter by its gradient."""
        for hook in list(self._before.values()):
            hook(self, (), {})
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self.change(parameter, parameter.grad._a, group, self.state[parameter])
                        parameter._version[0] += 1
        for hook in list(self._after.values()):
            hook(self, (), {})
        return loss

    def change(
        self, parameter: Tensor, gradient: np.ndarray, group: dict[str, Any], state: Any
    ) -> None:
        """Change one parameter."""
        raise NotImplementedError

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call a function before each step."""
        return Handle(self._before, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call a function after each step."""
        return Handle(self._after, hook)

    def state_dict(self) -> dict[str, Any]:
        """Return settings and what is remembered, parameters by their numbers."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(id(parameter), len(numbers))
            packed = {name: value for name, value in group.items() if name != "params"}
            groups.append({**packed, "params": [numbers[id(p)] for p in group["params"]]})
        state = {numbers[id(p)]: dict(kept) for p, kept in self.state.items() if id(p) in numbers}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over settings and what was remembered."""
        groups = state_dict["param_groups"]
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(
            len(a["params"]) != len(b["params"])
            for a, b in zip(groups, self.param_groups, strict=True)
        ):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's "
                "group"
            )
        self.state = defaultdict(dict)
        for group, own in zip(groups, self.param_groups, strict=True):
            for number, parameter in zip(group["params"], own["params"], strict=True):
                if number in state_dict["state"]:
                    self.state[parameter] = {
                        name: value.clone() if isinstance(value, Tensor) else value
                        for name, value in state_dict["state"][number].items()
                    }
            own.update({name: value for name, value in group.items() if name != "params"})

    def __repr__(self) -> str:
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            for name in sorted(group):
                if name != "params":
                    text += f"    {name}: {group[name]}\n"
        return text + ")"


def counted(state: dict[str, Any]) -> int:
    """Return the number of this step, and remember it as torch does."""
    step = state.get("step")
    if step is None:
        state["step"] = step = made(np.zeros((), np.float32), float32)
    step._a += 1
    return int(step._a)


def zeros_of(parameter: Tensor) -> Tensor:
    """Return zeros in a parameter's shape, to remember something in."""
    return made(np.zeros_like(parameter._a), parameter._dtype)


def refused(name: str, settings: Iterable[tuple[str, Any]]) -> None:
    """Refuse settings that are for other machines."""
    for setting, value in settings:
        if value:
            raise NotImplementedError(f"torch in this page has no {setting}= for {name}")


def at_least(settings: Iterable[tuple[str, Any]]) -> None:
    """Refuse numbers below 0."""
    for said, value in settings:
        if not isinstance(value, Tensor) and not value >= 0.0:
            raise ValueError(f"Invalid {said}: {value}")
