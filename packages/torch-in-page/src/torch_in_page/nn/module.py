"""The module: parameters, buffers and other modules by name, hooks, and its state."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from typing import Any

from .. import dtypes
from ..engine import Handle, no_grad
from ..sizes import here
from ..tensor import Tensor
from .parameter import Buffer, Parameter


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """Which names of a state were missing, and which nobody knows."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()


class Module:
    """The base of all layers and models: subclasses write ``forward``."""

    __module__ = "torch.nn.modules.module"
    training: bool = True

    def __init__(self) -> None:
        own = self.__dict__
        own["training"] = True
        own["_parameters"] = {}
        own["_buffers"] = {}
        own["_modules"] = {}
        own["_non_persistent_buffers_set"] = set()
        for kind in ("_forward_pre_hooks", "_forward_hooks", "_saving_hooks", "_loading_hooks"):
            own[kind] = {}

    # ------------------------------------------------------------ what belongs to it

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        parameters, modules, buffers = (own.get(k) for k in ("_parameters", "_modules", "_buffers"))
        if isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, parameters)
            parameters[name] = value
        elif isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, modules)
            modules[name] = value
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as parameter '{name}' "
                    f"(torch.nn.Parameter or None "
                    "expected)"
                )
            parameters[name] = None
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as child module '{name}' "
                    f"(torch.nn.Module or None "
                    "expected)"
                )
            modules[name] = None
        elif buffers is not None and (name in buffers or isinstance(value, Buffer)):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' object to buffer '{name}' "
                    f"(torch.Tensor or None "
                    "required)"
                )
            own.pop(name, None)
            buffers[name] = value
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name: str, but: dict[str, Any]) -> None:
        own = self.__dict__
        own.pop(name, None)
        for kind in ("_parameters", "_buffers", "_modules"):
            if own[kind] is not but:
                own[kind].pop(name, None)

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in own.get(kind, ()):
                return own[kind][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[kind]:
                del self.__dict__[kind][name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        own = self.__dict__
        return sorted(
            {*object.__dir__(self), *own["_parameters"], *own["_buffers"], *own["_modules"]}
        )

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, or say that there is none of this name."""
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_type_name(param)}' object to parameter '{name}' "
                f"(torch.nn.Parameter or "
                "None required)"
            )
        self._named(name)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is kept with the parameters and not learned."""
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' (torch Tensor "
                f"or None "
                "required)"
            )
        self._named(name, self._buffers)
        self._buffers[name] = tensor
        (
            self._non_persistent_buffers_set.discard
            if persistent
            else self._non_persistent_buffers_set.add
        )(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        self._named(name, self._modules)
        self._modules[name] = module

    register_module = add_module

    def _named(self, name: str, own: Any = None) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError('a name can\'t contain "."')
        if name == "":
            raise KeyError('a name can\'t be empty string ""')
        if hasattr(self, name) and (own is None or name not in own):
            raise KeyError(f"attribute '{name}' already exists")

    # ------------------------------------------------------------ calling

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result: subclasses write this."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result, and call the hooks before and after."""
        own = self.__dict__
        for hook, named in list(own["_forward_pre_hooks"].values()):
            changed = hook(self, args, kwargs) if named else hook(self, args)
            if changed is None:
                continue
            if named:
                args, kwargs = changed
            else:
                args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook, named in list(own["_forward_hooks"].values()):
            changed = hook(self, args, kwargs, result) if named else hook(self, args, result)
            result = result if changed is None else changed
        return result

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> Handle:
        """Call a function before each call; what it returns takes the place of the inputs."""
        return _hooked(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> Handle:
        """Call a function after each call; what it returns takes the place of the result."""
        if always_call:
            raise NotImplementedError("torch in this page has no always_call= for hooks")
        return _hooked(self._forward_hooks, (hook, with_kwargs), prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> Handle:
        """Call a function with the result's gradients when they come back through this module."""

        def after(module: Module, args: Any, result: Any) -> None:
            out = result[0] if isinstance(result, tuple) else result
            if isinstance(out, Tensor) and out.requires_grad:
                out.register_hook(lambda g: hook(module, (None,), (g,)) and None)

        return _hooked(self._forward_hooks, (after, False), prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call a function with the state that is made."""
        return Handle(self._saving_hooks, hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call a function after a state was loaded."""
        return Handle(self._loading_hooks, hook)

    # ------------------------------------------------------------ going through

    def named_modules(
        self, memo: set[int] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Go through this module and all below it, with their names."""
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        if remove_duplicate:
            memo.add(id(self))
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                below = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, below, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """Go through this module and all below it."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Go through the modules directly below, with their names."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Module]:
        """Go through the modules directly below."""
        return (module for _, module in self.named_children())

    def _members(
        self, kind: str, prefix: str, recurse: bool, once: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        own = (
            self.named_modules(prefix=prefix, remove_duplicate=once)
            if recurse
            else [(prefix, self)]
        )
        for path, module in own:
            for name, tensor in getattr(module, kind).items():
                if tensor is None or id(tensor) in seen:
                    continue
                if once:
                    seen.add(id(tensor))
                yield (f"{path}.{name}" if path else name), tensor

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Go through the parameters, with their names."""
        return self._members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Go through the parameters."""
        return (tensor for _, tensor in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Go through the buffers, with their names."""
        return self._members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Go through the buffers."""
        return (tensor for _, tensor in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """Return the module of a name such as ``"blocks.0.attention"``."""
        module: Any = self
        for part in target.split(".") if target else []:
            if not hasattr(module, part):
                raise AttributeError(f"{type(module).__name__} has no attribute `{part}`")
            module = getattr(module, part)
            if not isinstance(module, Module):
                raise AttributeError(f"`{part}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put another module where one of a name such as ``"blocks.0.attention"`` is."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter of a name."""
        path, _, name = target.rpartition(".")
        found = getattr(self.get_submodule(path), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer of a name."""
        path, _, name = target.rpartition(".")
        holder = self.get_submodule(path)
        if name not in holder._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return holder._buffers[name]

    # ------------------------------------------------------------ its state

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Return parameters and buffers by name; they share their memory with the module's."""
        out = OrderedDict() if destination is None else destination
        for name, tensor in self._parameters.items():
            if tensor is not None:
                out[prefix + name] = tensor if keep_vars else tensor.detach()
        for name, tensor in self._buffers.items():
            if tensor is not None and name not in self._non_persistent_buffers_set:
                out[prefix + name] = tensor if keep_vars else tensor.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=out, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._saving_hooks.values():
            hook(self, out, prefix, {})
        return out

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Take over parameters and buffers by name."""
        if not isinstance(state_dict, dict) and not hasattr(state_dict, "keys"):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        own = self.state_dict(keep_vars=True)
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        errors = []
        if strict and unexpected:
            listed = ", ".join(f'"{name}"' for name in unexpected)
            errors.append(f"Unexpected key(s) in state_dict: {listed}. ")
        if strict and missing:
            errors.append(
                "Missing key(s) in state_dict: " + ", ".join(f'"{k}"' for k in missing) + ". "
            )
        wrong = []
        for name, tensor in own.items():
            if name not in state_dict:
                continue
            given = state_dict[name]
            if not isinstance(given, Tensor):
                wrong.append(
                    f'While copying the parameter named "{name}", expected torch.Tensor or '
                    f"Tensor-like "
                    f"object from checkpoint but received {type(given)}"
                )
            elif given.shape != tensor.shape:
                wrong.append(
                    f"size mismatch for {name}: copying a param with shape {given.shape} from "
                    f"checkpoint, "
                    f"the shape in current model is {tensor.shape}."
                )
            elif assign:
                self._assign(name, given)
            else:
                with no_grad():
                    tensor.copy_(given)
        errors += wrong
        if errors:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                + "\n\t".join(errors)
            )
        found = _IncompatibleKeys(missing, unexpected)
        for module in self.modules():
            for hook in module._loading_hooks.values():
                hook(module, found)
        return found

    def _assign(self, name: str, given: Tensor) -> None:
        path, _, leaf = name.rpartition(".")
        holder = self.get_submodule(path)
        if leaf in holder._parameters:
            wanted = holder._parameters[leaf].requires_grad
            given = given if isinstance(given, Parameter) else Parameter(given, wanted)
            holder._parameters[leaf] = given
        else:
            holder._buffers[leaf] = given

    # ------------------------------------------------------------ changing all of it

    def train(self, mode: bool = True) -> Module:
        """Set this module and all below it to training, or not."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Module:
        """Set this module and all below it to evaluation."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Ask for gradients of all parameters, or not."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad = parameter.grad.detach().zero_()

    def apply(self, fn: Callable[[Module], Any]) -> Module:
        """Call a function with each module below, then with this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _changed(self, change: Callable[[Tensor], Tensor]) -> Module:
        for module in self.modules():
            for tensors in (module._parameters, module._buffers):
                for name, tensor in tensors.items():
                    if tensor is None:
                        continue
                    with no_grad():
                        other = change(tensor)
                    if isinstance(tensor, Parameter):
                        tensor.data = other
                        if tensor.grad is not None:
                            with no_grad():
                                tensor.grad = change(tensor.grad)
                    else:
                        tensors[name] = other
        return self

    def to(
        self,
        *args: Any,
        dtype: Any = None,
        device: Any = None,
        non_blocking: bool = False,
        memory_format: Any = None,
    ) -> Module:
        """Turn floating-point parameters and buffers into another kind."""
        for one in args:
            if isinstance(one, dtypes.dtype):
                dtype = one
            elif isinstance(one, Tensor):
                dtype = one.dtype
            elif not isinstance(one, bool) and one is not None:
                here(one)
        here(device)
        if dtype is None:
            return self
        if dtype.kind < 2:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired "
                f"dtype={dtype}"
            )
        return self._changed(lambda x: x.to(dtype) if x.is_floating_point() else x)

    def float(self) -> Module:
        """Turn floating-point parameters and buffers into 32 bits."""
        return self.to(dtypes.float32)

    def double(self) -> Module:
        """Turn floating-point parameters and buffers into 64 bits."""
        return self.to(dtypes.float64)

    def half(self) -> Module:
        """Turn floating-point parameters and buffers into 16 bits."""
        return self.to(dtypes.float16)

    def bfloat16(self) -> Module:
        """Turn floating-point parameters and buffers into bfloat16."""
        return self.to(dtypes.bfloat16)

    def cpu(self) -> Module:
        """Return the module, which is on the processor."""
        return self

    def cuda(self, device: Any = None) -> Module:
        """Refuse: a page has no such device."""
        here("cuda")
        return self

    def compile(self, *_: Any, **__: Any) -> None:
        """Do nothing: a module computes as it is written here."""

    # ------------------------------------------------------------ its text

    def extra_repr(self) -> str:
        """Return what stands in the brackets of the module's text."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [
            f"({name}): " + repr(module).replace("\n", "\n  ")
            for name, module in self._modules.items()
        ]
        text = self._get_name() + "("
        if not children and len(lines) <= 1:
            return text + extra + ")"
        return text + "\n  " + "\n  ".join(lines + children) + "\n)"


def _hooked(hooks: dict[int, Any], entry: Any, first: bool) -> Handle:
    handle = Handle(hooks, entry)
    if first:
        mine = hooks.pop(handle.id)
        others = dict(hooks)
        hooks.clear()
        hooks.update({handle.id: mine, **others})
    return handle


def _type_name(value: Any) -> str:
    kind = type(value)
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"
