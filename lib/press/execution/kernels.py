"""Kernels that start within milliseconds, and none of which is given the port of another.

A kernel imports IPython, torch, matplotlib and the library, for more than two seconds; the book has
forty notebooks.  Here one process imports them once, and each kernel is a copy of it, in
which no notebook has run yet: no name is defined, no seed is drawn.

Jupyter chooses five free ports for a kernel, which takes them when it is ready: of many kernels
that start at a time two are now and then given the same, and one of them dies.  These kernels are
spoken to through files.

Jupyter asks a *provisioner* for a kernel's process, and takes the one that the environment variable
of :data:`NAMED_IN` names: in tests :class:`KernelWithoutPorts`, for a book on Linux
:class:`ForkedKernel`; elsewhere a copy of a process is no safe thing to have, and kernels start as
they always do.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing.context import ForkServerProcess
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from subprocess import Popen
from typing import Any, cast

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

NAME = "primer-forked"
"""Under which Jupyter finds what forks; see the entry points in :file:`pyproject.toml`."""
WITHOUT_PORTS = "primer-without-ports"
NAMED_IN = "JUPYTER_DEFAULT_PROVISIONER_NAME"
IMPORTED = (
    "ipykernel.kernelapp",
    "press.execution.running",  # nearly all that is imported where it runs: each process reads it
    "matplotlib.pyplot",
    "primer.notebook",
    "primer.widgets.base",
    "scipy.stats",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "torch",
    "torch._dynamo",  # which the first optimizer would import
)
INLINE = "module://matplotlib_inline.backend_inline"
"""What a kernel names before it imports matplotlib, so that figures are drawn into the notebook."""


def use(*, forked: bool) -> None:
    """Let no kernel that this process starts need a port; fork them, where that is safe.

    Parameters
    ----------
    forked : bool
        Whether they shall be forked: it takes some seconds before the first, and none for others.
    """
    os.environ[NAMED_IN] = WITHOUT_PORTS
    if not forked or sys.platform != "linux":
        return
    multiprocessing.get_context("forkserver").set_forkserver_preload([*IMPORTED])
    os.environ["MPLBACKEND"] = INLINE
    ensure_running()
    os.environ[NAMED_IN] = NAME


def run(arguments: list[str], environment: Mapping[str, str], folder: str) -> None:
    """Be a kernel, in a process that was forked for it."""
    from ipykernel.kernelapp import launch_new_instance

    os.setsid()  # as Jupyter starts it: an interrupt of the terminal is not for the kernel
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    gc.freeze()  # what was imported stays
    parent = f"--IPKernelApp.parent_handle={os.getppid()}"  # with which the kernel ends
    launch_new_instance([*arguments, parent])


class _Process:
    """A process as Jupyter asks about it, in the words of :class:`subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, process: ForkServerProcess) -> None:
        self.process = process
        self.pid = process.pid
        self.kill, self.terminate = process.kill, process.terminate

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        return self.process.exitcode

    def wait(self) -> int | None:
        """Wait for its end and return the exit code."""
        self.process.join()
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        if self.pid and self.poll() is None:
            os.kill(self.pid, number)


class KernelWithoutPorts(LocalProvisioner):
    """Gives Jupyter a kernel that is spoken to through files: no other can be given the same."""

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Name the files before Jupyter writes down where the kernel is found."""
        manager = cast("Any", self.parent)  # the files' paths may have a hundred letters, not more
        manager.transport, manager.ip = "ipc", str(Path(tempfile.gettempdir(), self.kernel_id))
        return await super().pre_launch(**kwargs)


class ForkedKernel(KernelWithoutPorts):
    """Gives Jupyter a kernel that is forked."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Fork a kernel: ``cmd`` reads ``python -m ipykernel_launcher -f file``."""
        given = cmd[cmd.index("ipykernel_launcher") + 1 :], kwargs["env"], str(kwargs["cwd"])
        process = multiprocessing.get_context("forkserver").Process(target=run, args=given)
        process.start()
        self.process = cast("Popen[Any]", _Process(process))
        self.pid, self.cwd = process.pid, kwargs["cwd"]
        return self.connection_info
