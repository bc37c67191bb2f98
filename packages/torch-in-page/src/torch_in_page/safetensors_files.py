"""Reading and writing safetensors: a length, a header in JSON, and the numbers."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from . import dtypes
from .dtypes import dtype, to_bytes
from .tensor import Tensor, made

KINDS = {
    "F64": dtypes.float64,
    "F32": dtypes.float32,
    "F16": dtypes.float16,
    "BF16": dtypes.bfloat16,
    "F8_E4M3": dtypes.float8_e4m3fn,
    "F8_E5M2": dtypes.float8_e5m2,
    "I64": dtypes.int64,
    "I32": dtypes.int32,
    "I16": dtypes.int16,
    "I8": dtypes.int8,
    "U8": dtypes.uint8,
    "U16": dtypes.uint16,
    "U32": dtypes.uint32,
    "U64": dtypes.uint64,
    "BOOL": dtypes.bool_,
    "C64": dtypes.complex64,
}
_NAMES = {kind: name for name, kind in KINDS.items()}


class SafetensorError(Exception):
    """A file that is no safetensors file, or is damaged."""


def _header(data: bytes) -> tuple[dict[str, Any], dict[str, str], int]:
    """Return what a file says of its tensors, its metadata, and where the numbers begin."""
    if len(data) < 8:
        raise SafetensorError("Error while deserializing header: header too small")
    (length,) = struct.unpack_from("<Q", data)
    if length > 100_000_000:
        raise SafetensorError("Error while deserializing header: header too large")
    if 8 + length > len(data):
        raise SafetensorError("Error while deserializing header: invalid header length")
    try:
        header = json.loads(data[8 : 8 + length].decode("utf-8"))
    except ValueError as error:
        raise SafetensorError(
            f"Error while deserializing header: invalid JSON in header: {error}"
        ) from None
    if not isinstance(header, dict):
        raise SafetensorError("Error while deserializing header: invalid header")
    metadata = header.pop("__metadata__", None)
    end = 0
    for name, entry in sorted(header.items(), key=lambda pair: pair[1]["data_offsets"]):
        start, stop = entry["data_offsets"]
        kind = KINDS.get(entry["dtype"])
        if kind is None:
            raise SafetensorError(
                f"torch in this page has no kind {entry['dtype']} (tensor {name!r})"
            )
        count = int(np.prod(entry["shape"], dtype=np.int64))
        if start != end or stop - start != count * kind.itemsize:
            raise SafetensorError(
                "Error while deserializing header: invalid offset for tensor " + name
            )
        end = stop
    if 8 + length + end != len(data):
        raise SafetensorError(
            "Error while deserializing header: incomplete metadata, file not fully covered"
        )
    return header, metadata, 8 + length


def _tensor(data: bytes, entry: dict[str, Any], begin: int) -> Tensor:
    kind: dtype = KINDS[entry["dtype"]]
    start, stop = entry["data_offsets"]
    raw = data[begin + start : begin + stop]
    if kind.rounded:
        array = dtypes.from_bytes(np.frombuffer(raw, f"<u{kind.itemsize}"), kind)
    else:
        array = np.frombuffer(raw, kind.array.newbyteorder("<")).astype(kind.array)
    return made(array.reshape(entry["shape"]).copy(), kind)


def load(data: bytes) -> dict[str, Tensor]:
    """Return the tensors in some bytes."""
    header, _, begin = _header(data)
    return {name: _tensor(data, entry, begin) for name, entry in sorted(header.items())}


def load_file(filename: Any, device: Any = "cpu") -> dict[str, Tensor]:
    """Return the tensors of a file."""
    return load(Path(filename).read_bytes())


def save(tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """Return tensors, and what is said of them, as bytes: the widest kinds first, then by name."""
    order = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
    parts, at = [], 0
    for name in order:
        tensor = tensors[name]
        raw = to_bytes(tensor._a, tensor.dtype).tobytes()
        header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [at, at + len(raw)]}  # fmt: skip
        parts.append(raw)
        at += len(raw)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


def save_file(
    tensors: dict[str, Tensor], filename: Any, metadata: dict[str, str] | None = None
) -> None:
    """Write tensors, and what is said of them, to a file."""
    Path(filename).write_bytes(save(tensors, metadata))


class safe_open:
    """A file whose tensors are read one by one."""

    def __init__(self, filename: Any, framework: str = "pt", device: Any = "cpu") -> None:
        if framework not in ("pt", "torch", "pytorch"):
            raise SafetensorError(
                f"torch in this page reads tensors of torch, not of {framework!r}"
            )
        if not Path(filename).exists():
            raise FileNotFoundError(f"No such file or directory: {filename}")
        self._data = Path(filename).read_bytes()
        self._header, self._metadata, self._begin = _header(self._data)

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def metadata(self) -> dict[str, str] | None:
        """Return what is said of the tensors."""
        return self._metadata

    def keys(self) -> list[str]:
        """Return the names of the tensors."""
        return sorted(self._header)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def get_tensor(self, name: str) -> Tensor:
        """Return one tensor."""
        if name not in self._header:
            raise SafetensorError(f"File does not contain tensor {name}")
        return _tensor(self._data, self._header[name], self._begin)

    def get_slice(self, name: str) -> Tensor:
        """Return one tensor, of which parts may be taken."""
        return self.get_tensor(name)
