"""What prints the book: it turns the notebooks into the website, paper and cards.

A room for each step, and each feature's Python, script and style beside one another:

* :mod:`press.registry`, :mod:`press.notebook`, :mod:`press.site` — what all rooms read: the list of
  the chapters, a notebook, the pages of the built site.
* :mod:`press.execution` — from a notebook that changed to its outputs.
* :mod:`press.audit` — what a chapter owes: form, proofs, markup that harms nobody.
* :mod:`press.pages` — what a page says and shows.
* :mod:`press.links` — what leads from one place to another.
* :mod:`press.publish` — the site as files.
* :mod:`press.downloads` — what a reader takes along.
* :mod:`press.workshop` — what an author works with.

Readers install :mod:`primer` alone; nothing that they import imports the press.
"""
