"""What turns the notebooks into the website: execution, normalization and Sphinx extensions."""
