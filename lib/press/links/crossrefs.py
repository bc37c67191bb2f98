"""Sphinx extension: a link from a notebook to a place in another file leads there on the site.

JupyterLab knows the labels of the notebook that is open, and no others.  So what lies in another
file is linked by its path, which both can follow: ``[softmax](appendix/glossary.md#term-softmax)``
to a term, ``[leakage](16-fourier.ipynb#fourier-leakage)`` to a section, theorem or equation.
MyST alone would look only for headings; here the part behind ``#`` is a term or a label.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

GLOSSARY = "chapters/appendix/glossary"


def term_anchors(env: Any) -> dict[str, str]:
    """Map the anchors of the glossary's terms, in small letters, to the terms."""
    terms = env.get_domain("std").data["objects"]
    return {
        anchor.lower(): name
        for (kind, name), (docname, anchor) in terms.items()
        if kind == "term" and docname == GLOSSARY
    }


def numbered_anchors(env: Any) -> dict[str, tuple[str, str]]:
    """Map the labels of equations and theorems to their pages and anchors."""
    equations = env.get_domain("math").equations
    found = {label: (page, f"equation-{label}") for label, (page, _) in equations.items()}
    theorems = getattr(env, "proof_list", {})
    return found | {label: (item["docname"], label) for label, item in theorems.items()}


class ResolveCrossings(SphinxPostTransform):
    """Turn links to labels and terms in other files into Sphinx's own references."""

    default_priority = 5  # before MyST and Sphinx resolve theirs

    def run(self, **kwargs: Any) -> None:
        """Look at each link that MyST left to be resolved."""
        terms = term_anchors(self.env)
        labels = self.env.get_domain("std").data["anonlabels"]
        anchors = numbered_anchors(self.env)
        for link in list(self.document.findall(addnodes.pending_xref)):
            target, page = link.get("reftargetid"), link.get("reftarget")
            if link.get("reftype") != "myst" or link.get("refdomain") != "doc" or not target:
                continue
            if page == GLOSSARY and target.lower() in terms:
                link.replace_self(self.reference("term", terms[target.lower()], link))
            elif labels.get(target, ("",))[0] == page:
                link.replace_self(self.reference("ref", target, link))
            elif anchors.get(target, ("",))[0] == page:
                words = nodes.inline("", "", *link.children, classes=["std", "std-ref"])
                builder, here = self.app.builder, self.env.docname
                link.replace_self(make_refnode(builder, here, *anchors[target], words))

    def reference(self, kind: str, target: str, link: addnodes.pending_xref) -> nodes.Element:
        """Make a reference of Sphinx's with the words of a link."""
        words = nodes.inline("", "", *link.children, classes=["std", f"std-{kind}"])
        reference = addnodes.pending_xref(
            "",
            words,
            refdomain="std",
            reftype=kind,
            reftarget=target,
            refexplicit=True,
            refwarn=True,
            refdoc=self.env.docname,
        )
        reference.source, reference.line = link.source, link.line
        return reference


def setup(app: Sphinx) -> dict[str, Any]:
    """Resolve the links when a page is written."""
    app.add_post_transform(ResolveCrossings)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
