"""Widgets: figures the reader can take hold of, alive with or without Python running."""
