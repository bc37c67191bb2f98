"""What a cell printed, in one piece: where the kernel cut it is chance.

A kernel sends what is printed whenever its buffer is flushed, also in the middle of a line.  Here
the pieces are put together as they are, the same way for the stored notebook and for the page.
"""

from __future__ import annotations

from nbformat import NotebookNode


def joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    r"""Join neighboring pieces of one stream, letter by letter.

    Parameters
    ----------
    outputs : list of NotebookNode
        The outputs of a cell, which stay as they are.

    Returns
    -------
    list of NotebookNode
        The outputs in their order; what was printed before a figure stays before it.

    Examples
    --------
    >>> from nbformat.v4 import new_output
    >>> cut = [new_output("stream", name="stdout", text=text) for text in ("191", " levels\n")]
    >>> [output.text for output in joined(cut)]
    ['191 levels\n']
    """
    pieces: list[NotebookNode] = []
    for output in outputs:
        last = pieces[-1] if pieces else None
        same = last is not None and output.output_type == "stream" == last.output_type
        if same and last is not None and last.name == output.name:
            pieces[-1] = NotebookNode({**last, "text": last.text + output.text})
        else:
            pieces.append(output)
    return pieces


def join(notebook: NotebookNode) -> None:
    """Join what each cell of a notebook printed, in place."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = joined(cell.outputs)
