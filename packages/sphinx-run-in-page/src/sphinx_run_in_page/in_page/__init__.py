"""What runs in the page, in the worker's Python; the build uses the parts that read code."""
