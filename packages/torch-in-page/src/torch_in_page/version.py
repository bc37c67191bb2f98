"""``torch.version``: which torch this is like, and that it has no device but the processor."""

__version__ = "2.13.0+page"
cuda = hip = mps = None
git_version = "in the page"
