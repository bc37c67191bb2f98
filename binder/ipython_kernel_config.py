"""What every kernel of the environment is told: `make` copies this file into it.

A kernel listens on this machine alone, with signed messages, and yet warns at each start that its
ports are not encrypted: thirty-four times while the book is built, between the lines that say how
far it is.  Errors are still told.

The matrices of the chapters are small: shared out between two cores, each product waits for the
other core longer than it saves, and chapter 4 takes twice as much of both.  So NumPy and SciPy
compute on one, unless somebody set another number; the chapters say as much to torch.
"""

import os

c = get_config()
c.IPKernelApp.log_level = "ERROR"
# NumPy reads it when it is imported, which is later
os.environ.setdefault("OPENBLAS_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
