"""What leads from one place of the book to another: citations, pop-ups, the glossary, search."""
