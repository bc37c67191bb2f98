"""What every kernel of the environment is told: `make` copies this file into it.

A kernel listens on this machine alone, with signed messages, and yet warns at each start that its
ports are not encrypted: thirty-four times while the book is built, between the lines that say how
far it is.  Errors are still told.

The matrices of the chapters are small: shared out between two cores, each product waits for the
other core longer than it saves, and chapter 4 takes twice as much of both.  So NumPy, SciPy and
torch compute on one, as while the book is built, unless somebody sets another number.

Where a large array goes, glibc gives its memory back to Linux, which fills the next one's pages
with zeros first: to add 1 to 40 MB of numbers takes five times as long as it must.  So a kernel
keeps up to 256 MB for the array that follows.
"""

import ctypes
import os
import sys

MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1  # as malloc.h numbers them

c = get_config()
c.IPKernelApp.log_level = "ERROR"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when they are imported, which is later
if sys.platform == "linux" and hasattr(c_library := ctypes.CDLL(None), "mallopt"):
    for threshold in (MMAP_THRESHOLD, TRIM_THRESHOLD):
        c_library.mallopt(threshold, 1 << 28)
