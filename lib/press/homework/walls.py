"""Walls around a process that runs somebody else's code: time, memory, files, network.

Three of them, one behind the other.  Python itself refuses, in a sentence, what homework has no
reason to do (:func:`refuse`, an audit hook).  The kernel refuses what gets past that: Landlock
leaves one folder to write in and a few to read, and a process of its own name spaces has no network
and nobody to send a signal to.  Limits of memory and of the size of a file come from
:mod:`resource`.  Where a system lacks one of these, :func:`close_in` says so in words; the others
stand.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import sys
import sysconfig
from pathlib import Path
from typing import Any

MEMORY = 2 * 1024**3
"""Bytes that an answer may take beside what the library takes."""
FILE = 16 * 1024**2
"""Bytes that a file in the scratch folder may have."""

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # Landlock's system calls, the same on all machines
_NEWUSER, _NEWNET, _NEWPID, _NEWIPC = 0x10000000, 0x40000000, 0x20000000, 0x08000000
_NO_NEW_PRIVILEGES, _DIE_WITH_PARENT = 38, 1
_READ = 0b1101  # execute, read a file, read a folder


class Refused(PermissionError):
    """What a notebook wanted and may not; the sentence says what."""


def readable_folders(handed_in: Path) -> list[Path]:
    """List what a notebook may read: Python, the packages and the book's library.

    The folder with everybody's homework is in none of them, though it may lie in the folder where
    the command was called, from which Python imports too.
    """
    paths = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *sys.path}
    paths |= {"/usr", "/lib", "/lib64", "/proc", "/sys/devices/system/cpu", "/dev"}
    paths |= {"/etc/ld.so.cache", "/etc/localtime", "/System", "/Library"}
    found = {Path(path).resolve() for path in paths if path and Path(path).exists()}
    return sorted(path for path in found if not handed_in.resolve().is_relative_to(path))


def alone() -> list[str]:
    """Leave the network and all other processes behind; return what this system did not allow.

    To be called in a process with one thread.  Afterwards this process has no other child than the
    one that it starts next, which is the first of a space of its own: when that ends, so does all
    that it started.
    """
    if sys.platform != "linux":
        return ["this system has no network and processes apart: Python alone refuses them"]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEWUSER | _NEWNET | _NEWPID | _NEWIPC) != 0:
        why = os.strerror(ctypes.get_errno())
        return [f"no network and processes apart ({why}): Python alone refuses them"]
    return []


def close_in(scratch: Path, readable: list[Path]) -> list[str]:
    """Close this process in, for good; return what this system did not allow.

    Parameters
    ----------
    scratch : Path
        The only folder it can write in.
    readable : list of Path
        What it can read besides.
    """
    missing = []
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
        if why := _landlock(libc, scratch, readable):
            missing.append(f"no wall around the files ({why}): Python alone refuses them")
        space = _address_space() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
    else:
        missing.append("no wall around files and memory on this system: Python alone refuses files")
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file too long is an error, not the end
    refuse(scratch, readable)
    return missing


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _landlock(libc: Any, scratch: Path, readable: list[Path]) -> str:
    """Let the kernel hold this process to its folders; return why not, or nothing."""
    version = libc.syscall(_CREATE, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return f"Landlock: {os.strerror(ctypes.get_errno())}"
    files = (1 << (13 + (version >= 2) + (version >= 3) + (version >= 5))) - 1
    tcp = 0b11 if version >= 4 else 0
    scoped = 0b11 if version >= 6 else 0
    rules = (ctypes.c_uint64 * 3)(files, tcp, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), 0)
    for path, rights in [(scratch, files), *((path, _READ) for path in readable)]:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not path.is_dir():
            rights &= 0b101  # what a file can have
        rule = _Beneath(rights, place)
        refused = libc.syscall(_ADD, ruleset, 1, ctypes.byref(rule), 0)
        os.close(place)
        if refused:
            return f"Landlock, {path}: {os.strerror(ctypes.get_errno())}"
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.syscall(_RESTRICT, ruleset, 0):
        return f"Landlock: {os.strerror(ctypes.get_errno())}"
    os.close(ruleset)
    return ""


class _Beneath(ctypes.Structure):
    """What Landlock allows beneath a path."""

    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


_PROGRAMS = {
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "os.forkpty",
    "os.spawn",
    "pty.spawn",
    "os.startfile",
}
_CHANGES = {
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "os.chown",
    "os.chflags",
    "os.utime",
    "os.setxattr",
    "shutil.rmtree",
    "shutil.move",
}
_SIGNALS = {"os.kill", "os.killpg", "signal.pthread_kill"}


def refuse(scratch: Path, readable: list[Path]) -> None:
    """Let Python refuse, with a sentence, what no answer needs.  It cannot be taken back."""
    inside = os.fspath(scratch.resolve())
    roots = tuple(os.fspath(path) for path in [*readable, Path(inside)])

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _PROGRAMS:
            raise Refused("it wanted to start another program, which homework may not")
        if event in _SIGNALS:
            raise Refused("it wanted to stop another process, which homework may not")
        if event.startswith("socket.") and event != "socket.gethostname":
            local = event == "socket.__new__" and arguments[1] == getattr(socket, "AF_UNIX", None)
            if not local:
                raise Refused("it wanted to use the network, which homework may not")
        if event == "ctypes.dlopen":
            raise Refused("it wanted to load a library of C, which homework may not")
        if event in _CHANGES:
            named = [_place(each) for each in arguments if isinstance(each, str | bytes | Path)]
            for place in named:
                if not _beneath(place, (inside,)):
                    raise Refused(f"it wanted to change or delete {place}, which is not its own")
        if event == "open" and isinstance(arguments[0], str | bytes):
            place = _place(arguments[0])
            writes = bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))
            allowed = (inside, os.devnull) if writes else roots
            if not _beneath(place, allowed):
                verb = "write" if writes else "read"
                raise Refused(f"it wanted to {verb} {place}, which is not its own")

    sys.addaudithook(hook)


def _place(path: Any) -> str:
    return os.path.realpath(os.fsdecode(path))


def _beneath(place: str, roots: tuple[str, ...]) -> bool:
    return any(place == root or place.startswith(root.rstrip("/") + "/") for root in roots)
