"""How sure the book's own benchmarks are: what options cost, what leaks, what a seed does."""
