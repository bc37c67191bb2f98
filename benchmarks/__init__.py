"""Our speed beside a peer's on the same work; no test depends on it."""
