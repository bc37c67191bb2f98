"""Our speed beside a peer's on the same work. `make bench` prints the table; no test depends on it."""
