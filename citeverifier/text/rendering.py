"""How a pair becomes text. Every runtime that serves a checkpoint must do exactly this, so it has a name and a version.

Version "title-colon/1":

- a document reads `TITLE: TEXT`, or `TEXT` where it has no title;
- a premise of several documents reads them one after the other, a blank line between;
- the statement comes first and the premise second; context, where the verifier reads it, follows the statement after
  ` | `.
"""

from __future__ import annotations

from citeverifier.records import Document, Pair

RENDERING = "title-colon/1"
DOCUMENT_SEPARATOR = "\n\n"
CONTEXT_SEPARATOR = " | "


def render_document(document: Document) -> str:
    """One document as text."""
    return f"{document.title}: {document.text}" if document.title else document.text


def render_pair(pair: Pair, *, context: bool) -> tuple[str, str]:
    """The pair as (first text, second text) for a sequence-pair model; `context` says whether the verifier reads it."""
    first = pair.statement
    if context and pair.context:
        first = f"{pair.statement}{CONTEXT_SEPARATOR}{pair.context}"
    return first, DOCUMENT_SEPARATOR.join(render_document(document) for document in pair.documents)
