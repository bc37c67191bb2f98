"""What a reader takes along: the book as an archive, a notebook, flash cards, paper."""
