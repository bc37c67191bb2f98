"""What an author works with: a new chapter, a widget that follows its files, bundles, pins."""
