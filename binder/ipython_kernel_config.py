"""What every kernel of the environment is told: `make` copies this file into it.

A kernel listens on this machine alone, with signed messages, and yet warns at each start that its
ports are not encrypted: thirty-four times while the book is built, between the lines that say how
far it is.  Errors are still told.

The matrices of the chapters are small: shared out between two cores, each product waits for the
other core longer than it saves, and chapter 4 takes twice as much of both.  So NumPy, SciPy and
torch compute on one, as while the book is built, unless somebody sets another number.
"""

import os

c = get_config()
c.IPKernelApp.log_level = "ERROR"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when they are imported, which is later
