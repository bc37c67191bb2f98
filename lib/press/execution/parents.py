"""Processes that end with the one that started them, however that one ended."""

from __future__ import annotations

import os
import threading
import time

POLL = 1.0  # seconds between two looks at the parent


def end_with(parent: int) -> None:
    """End this process, at once, soon after another one is no longer its parent.

    A worker would otherwise wait for work for ever.  Its kernels look after themselves in the same
    way.

    Parameters
    ----------
    parent : int
        The process that started this one.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(POLL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="end with the parent").start()
