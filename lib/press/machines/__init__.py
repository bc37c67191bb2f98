"""The book for programs that read: Markdown twins, a list of pages, and who wrote what."""
