"""MLflow: a scorer for `mlflow.genai.evaluate` that gives each score with a rationale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citeverifier.answers.facade import CiteVerifier
from citeverifier.extras import brought_by
from citeverifier.integrations.asking import asker, explain, scores_of
from citeverifier.records import RecordError

with brought_by("mlflow"):
    from mlflow.entities import Feedback, SpanType, Trace
    from mlflow.genai.scorers import Scorer, scorer


def citation_scorer(
    verifier: CiteVerifier | None = None, *, threshold: float | None = None, lang: str | None = None,
    answer: str = "answer", documents: str = "documents", question: str = "question",
) -> Scorer:  # fmt: skip
    """A scorer with three feedbacks: citation_precision, citation_recall, supported_statements (see `scores_of`).

    The outputs are the answer, or a mapping with the key `answer`. Its documents are the outputs' or the inputs'
    `documents`; without such a key, what the trace's retriever spans gave, in order. `[1]` is the first. A score that
    has nothing to judge by is an error of its feedback.
    """
    ask = asker("verify", verifier, threshold, lang, names=(answer, documents))

    @scorer(name="citations")  # type: ignore[untyped-decorator]
    def citations(inputs: Any = None, outputs: Any = None, trace: Trace | None = None) -> list[Feedback]:
        asked = inputs if isinstance(inputs, Mapping) else {}
        given = outputs if isinstance(outputs, Mapping) else {answer: outputs}
        sources = given.get(documents, asked.get(documents))
        if sources is None:
            sources = _retrieved(trace, documents)
        [result] = ask(given.get(answer), sources, asked.get(question)).result()
        return [
            Feedback(
                name=name,
                value=score,
                rationale=explain(result),
                error="nothing to judge by" if score is None else None,
            )
            for name, score in scores_of(result).items()
        ]

    return citations


def _retrieved(trace: Trace | None, name: str) -> list[Any]:
    """The documents that the trace's retrievers gave."""
    spans = [] if trace is None else trace.search_spans(span_type=SpanType.RETRIEVER)
    if not spans:
        raise RecordError(
            f"expected the key {name!r} in outputs or inputs, or a trace with a retriever's span, got none"
        )
    return [document for span in spans for document in span.outputs or []]
