"""Processes that start within milliseconds: they are forked from one that has imported it all.

Every optimizer needs torch's compiler, which takes as long to import as torch.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing.forkserver import ensure_running

PRELOADED = ("primer.train.__main__", "studies.scaling.sweep", "torch._dynamo")


def fork_server() -> multiprocessing.context.ForkServerContext:
    """Start the process that is forked, and give what forks it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*PRELOADED])
    ensure_running()
    return context
