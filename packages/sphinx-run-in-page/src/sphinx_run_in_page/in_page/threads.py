"""Jobs that were meant for threads: a page has one thread, so they are done one after another."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any


class InTurn(concurrent.futures.Executor):
    """Stands for ``ThreadPoolExecutor``: a job is done when it is handed in.

    The results are those that threads would give.  A job that waits for one handed in later would
    wait for ever, so no code may count on that.

    Parameters
    ----------
    max_workers : int, optional
        How many threads there would be.  Nothing comes of it.
    thread_name_prefix : str
        Likewise.
    initializer, initargs : callable, tuple
        What each thread would begin with: here it is called once.

    Examples
    --------
    >>> with InTurn(max_workers=2) as pool:
    ...     print(list(pool.map(pow, [2, 3], [5, 2])), pool.submit(divmod, 7, 2).result())
    [32, 9] (3, 1)
    """

    def __init__(
        self,
        max_workers: int | None = None,
        thread_name_prefix: str = "",
        initializer: Callable[..., object] | None = None,
        initargs: tuple[Any, ...] = (),
    ) -> None:
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._over = False
        if initializer is not None:
            initializer(*initargs)

    def submit(
        self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> concurrent.futures.Future[Any]:
        """Do a job; an error is kept for whoever asks for the result."""
        if self._over:
            raise RuntimeError("cannot schedule new futures after shutdown")
        done: concurrent.futures.Future[Any] = concurrent.futures.Future()
        done.set_running_or_notify_cancel()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no further jobs; none is left."""
        self._over = True


def install() -> None:
    """Be what ``concurrent.futures`` calls its pool of threads."""
    concurrent.futures.ThreadPoolExecutor = InTurn  # type: ignore[misc,assignment]
