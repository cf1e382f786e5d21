"""The model card, written from the run: README.md of a checkpoint, with a header that the hub reads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from citeverifier.evaluation.reporting.snippets import EXAMPLE, snippets
from citeverifier.evaluation.reporting.tables import columns_of, markdown, runs_tables
from citeverifier.models.checkpoint import PACKAGE, CheckpointConfig
from citeverifier.text.rendering import CONTEXT_SEPARATOR, render_pair

LICENCE = "apache-2.0"
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


def model_card(
    config: CheckpointConfig,
    report: Mapping[str, Any],
    *,
    name: str = "PATH",
    results: Sequence[Mapping[str, Any]] = (),
    licence: str = LICENCE,
) -> str:
    """README.md of a checkpoint: what it answers, results, how a pair is rendered, use, data with hashes, limits.

    Args:
        config, report: the checkpoint's config and its training.json.
        name: what loads it: a hub id.
        results: metrics.json of runs of eval.py with this checkpoint; they are the header's model-index.
        licence: of the weights, as the hub spells it.
    """
    shape = config.shape.replace("_", "-")
    dev, late = report["dev"], config.shape == "late_interaction"
    wandb = (report.get("provenance") or {}).get("wandb")
    return f"""---
{_header(config, name, results, licence)}
---

# Citation verifier ({shape})

Answers how far documents support a statement: none, partial or full. One logit z, two cut points:
`P(support >= partial) = sigmoid(z)`, `P(support = full) = sigmoid(z - {config.delta:.4f})`.

| | partial | full |
|---|---|---|
| cut point of z (folded: probability 0.5) | 0 | {config.delta:.4f} |
| threshold fitted on dev (probability) | {config.thresholds["partial"]:.4f} | {config.thresholds["full"]:.4f} |
| AUROC on dev | {_value(dev["auroc_partial"])} | {_value(dev["auroc_full"])} |

"Should this document be cited?" asks for *partial*, "do these documents together support all of it?" for *full*. The
cut points' distance ({config.delta:.4f}), the temperature ({config.temperature:.4f}, folded in already) and the
thresholds are in the `citeverifier` section of `config.json`. Languages: {", ".join(config.languages) or "-"}.

## Results

{_results(results)}
## How a pair is rendered

`{config.rendering}`. A document reads `TITLE: TEXT`, or `TEXT` without a title; several are joined by a blank line. The
statement is the first text, its documents the second{_context(config)}.
{_length(config)}
One example, character by character (`\\n` is a line's end):

| | text |
|---|---|
{_example(config)}
{"Statement and documents are encoded apart: each document is a text of its own." if late else ""}
## Use

{snippets(name, config)}
## Training

{report["steps"]} steps, {report["seconds"]} s, from `{_shown(config.base_model)}`.
{f"[Weights & Biases run]({wandb})." if wandb else ""}

{_data(report["data"])}
Made with citeverifier {(report.get("provenance") or {}).get("citeverifier", "-")}.

## Licence

These weights: {licence}. The base model and the data have licences of their own.

## Limits

- A score says whether the given text supports the statement, not whether the statement is true.
- Dev results are on data of the same kind as the training data; other text may be harder. Fit thresholds on yours.
- A statement is scored as it stands: "It was founded in 1923." needs its context.
- Small alterations (a number, a name) are the hardest to see: look at `twin_accuracy` in the results.
{_limits(config)}"""


def _header(config: CheckpointConfig, name: str, results: Sequence[Mapping[str, Any]], licence: str) -> str:
    """The YAML block, as the hub's own library writes it."""
    from huggingface_hub import ModelCardData

    shape = config.shape.replace("_", "-")
    found = _eval_results(results)
    data = ModelCardData(
        language=list(config.languages) or None,
        license=licence,
        library_name="citeverifier" if config.shape == "late_interaction" else "sentence-transformers",
        tags=["citation-verification", "citeverifier", "ordinal", shape],
        base_model=config.base_model if HUB_ID.fullmatch(config.base_model) else None,
        pipeline_tag="text-classification",
        model_name=name if found else None,
        eval_results=found or None,
    )
    written: str = data.to_yaml()
    return written


def _eval_results(results: Sequence[Mapping[str, Any]]) -> list[Any]:
    """One entry a metric of a run that exists, with its interval."""
    from huggingface_hub import EvalResult

    return [
        EvalResult(
            task_type="text-classification",
            task_name=f"citation verification: {summary['scheme']}",
            dataset_type=_shown(summary["data"].get("path") or "data"),
            dataset_name=f"{_shown(summary['data'].get('path') or 'data')} ({summary['lang']})",
            dataset_config=summary["scheme"],
            dataset_split=summary["data"].get("split"),
            dataset_args={"lang": summary["lang"], "sha256": summary["data"]["sha256"]},
            metric_type=column.metric,
            metric_name=column.title,
            metric_value=summary["metrics"][column.metric],
            metric_args={
                "interval_95": summary["intervals"].get(column.metric),
                "trials": summary["n"] - summary["unscored"],
            },
        )
        for summary in results
        for column in columns_of(summary)
        if summary["metrics"].get(column.metric) is not None
    ]


def _results(results: Sequence[Mapping[str, Any]]) -> str:
    """A table a scheme, or what to do for one."""
    if not results:
        return "No run of `eval.py` was given; the thresholds' own dev set is above.\n"
    parts = ["Value [95 % interval, bootstrap over questions], decisions at the fitted thresholds."]
    for scheme in dict.fromkeys(summary["scheme"] for summary in results):
        summaries = [summary for summary in results if summary["scheme"] == scheme]
        data = [[_shown(s["data"].get("path") or "-"), f"`{s['data']['sha256'][:12]}`"] for s in summaries]
        for title, header, rows in runs_tables(summaries):
            parts.append(f"### {title}")
            parts.append(
                markdown(["data", "sha256", *header[1:]], [[*d, *row[1:]] for d, row in zip(data, rows, strict=True)])
            )
    return "\n\n".join(parts) + "\n"


def _context(config: CheckpointConfig) -> str:
    if not config.reads_context:
        return "; context is not read"
    return f"; context, where there is any, follows the statement after `{CONTEXT_SEPARATOR}`"


def _length(config: CheckpointConfig) -> str:
    if config.shape == "late_interaction":
        return f"A document over {config.max_length} tokens is read in windows; premises have no limit.\n"
    return (
        f"A pair may have {config.max_length} tokens; `citeverifier` reads longer premises in windows (partial) or "
        "packs their best sentences (full).\n"
    )


def _example(config: CheckpointConfig) -> str:
    first, second = render_pair(EXAMPLE, context=config.reads_context)
    rows = [("first", first), ("second", second)]
    return "\n".join(f"| {name} | `{_in_cell(text)}` |" for name, text in rows)


def _in_cell(text: str) -> str:
    """A text within a table's cell: the bar that Markdown would read is escaped."""
    return text.replace("\n", "\\n").replace("|", "\\|")


def _data(data: Mapping[str, Any]) -> str:
    """Every source with how much of it was used and the hash of what was read."""
    rows = [
        [role, _shown(str(part.get("data", "-"))), _number(part.get("records", part.get("pairs"))),
         _number((part.get("leaks") or {}).get("kept")), f"`{part.get('sha256', '-')}`"]
        for role in ("sources", "dev")
        for part in data.get(role) or ()
    ]  # fmt: skip
    if not rows:
        return "The data was not recorded.\n"
    named = [["train" if role == "sources" else role, *rest] for role, *rest in rows]
    return markdown(["part", "data", "pairs read", "kept after leaks were dropped", "sha256"], named) + "\n"


def _limits(config: CheckpointConfig) -> str:
    if config.shape == "late_interaction":
        return (
            "- Only `citeverifier` loads it: the encoder is a plain `AutoModel`, the head lies in `head.safetensors`.\n"
        )
    return f"- Other runtimes score only pairs within {config.max_length} tokens.\n"


def _shown(name: str) -> str:
    """A data source or base model as its readers know it: of a path on the trainer's disk the last part."""
    return PurePath(name).name if name.startswith(("/", ".", "~")) else name.removeprefix(PACKAGE)


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:,}"


def _value(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
