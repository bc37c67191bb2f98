"""What every kernel of the environment is told: `make` copies this file into it.

A kernel listens on this machine alone, with signed messages, and yet warns at each start that its
ports are not encrypted: thirty-four times while the book is built, between the lines that say how
far it is.  Errors are still told.
"""

c = get_config()
c.IPKernelApp.log_level = "ERROR"
