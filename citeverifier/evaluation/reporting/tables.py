"""Tables of metrics.json contents: Markdown for reports, the same rows for the console. Papers' columns and order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# Column title -> metric, per scheme: the columns of paper 1, then ours.
_DECISIONS = {"accuracy": "accuracy", "acc. true": "acc_true", "acc. false": "acc_false", "F1": "f1", "AUROC": "auroc"}
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "merged": {**_DECISIONS, "twins": "twin_accuracy"},
    "separate": {**_DECISIONS, "twins": "twin_accuracy"},
    "cite_separate": {**_DECISIONS, "exact": "exact", "NDCG@10": "ndcg_10"},
    "cite_merged": {**_DECISIONS, "exact": "exact"},
    "cite_list": {**{title: metric for title, metric in _DECISIONS.items() if metric != "auroc"}, "exact": "exact"},
    "citation_prf": {
        "recall": "citation_recall",
        "precision": "citation_precision",
        "F1": "citation_f1",
        "recall of twins": "corrupted_recall",
    },
    "citefix": {
        "accuracy": "accuracy",
        "facts right before": "exact_before",
        "after": "exact",
        "repaired": "repaired",
        "harmed": "harmed",
        "unverifiable": "unverifiable",
        "wrongly cited": "wrongly_cited",
        "told right": "finding_accuracy",
        "MQLA": "question_accuracy",
    },
    "pairs": {**_DECISIONS, "macro-F1": "macro_f1", "three levels": "three_level_accuracy"},
    "support_levels": {
        "Pearson": "pearson",
        "Spearman": "spearman",
        "Kendall": "kendall",
        "AUC FS-NS": "auc_fs_ns",
        "AUC FS-PS": "auc_fs_ps",
        "AUC PS-NS": "auc_ps_ns",
        "AUC overall": "auc_overall",
        "NDCG@5": "ndcg_5",
        "NDCG@10": "ndcg_10",
        "NDCG@20": "ndcg_20",
        "3-way macro-F1": "three_level_macro_f1",
        "3-way accuracy": "three_level_accuracy",
    },
}

QUALITY = "Quality (fitted thresholds)"
# Schemes with several tables: title -> the beginnings of the metrics in it. All columns of others are of QUALITY.
GROUPS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "support_levels": {
        "Correlation with people's labels": ("pearson", "spearman", "kendall"),
        "ROC-AUC, one level against another": ("auc_",),
        "Ranking of chunks": ("ndcg_",),
        "Three-way decisions (fitted thresholds)": ("three_level_",),
    }
}


# The order of papers; what is not named here comes after, by name.
SCHEMES = (
    "merged", "separate", "cite_separate", "cite_merged", "cite_list", "citation_prf", "citefix", "pairs",
    "support_levels",
)  # fmt: skip
_OWN_VIEW = ("twin_accuracy_", "balanced_accuracy", "macro_f1")


def scheme_order(scheme: str) -> tuple[int, str]:
    """Sorts schemes."""
    return (SCHEMES.index(scheme) if scheme in SCHEMES else len(SCHEMES), scheme)


def columns_of(summaries: Sequence[Mapping[str, Any]]) -> Mapping[str, str]:
    """Column title -> metric of one scheme's runs; of a scheme not listed above, whatever metrics its runs have."""
    scheme = summaries[0]["scheme"]
    if scheme in COLUMNS:
        return COLUMNS[scheme]
    found = {name for s in summaries for name, value in s["metrics"].items() if value is not None}
    more = sorted(n for n in found - set(_DECISIONS.values()) if not n.startswith(_OWN_VIEW))
    return {**_DECISIONS, **{name.replace("_", " "): name for name in more}}


def group_of(scheme: str, metric: str) -> str:
    """The table that a scheme's metric stands in."""
    return next((title for title, starts in GROUPS.get(scheme, {}).items() if metric.startswith(starts)), QUALITY)


def cell(value: float | None, interval: Sequence[float] | None) -> str:
    """A value with its interval, "0.843 [0.801, 0.880]", or "-" where a metric does not exist."""
    if value is None:
        return "-"
    text = f"{value:.3f}"
    return text if not interval else f"{text} [{interval[0]:.3f}, {interval[1]:.3f}]"


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def headline_rows(summary: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """(header, rows): fitted thresholds, default 0.5, unscored as wrong."""
    columns = columns_of([summary])
    header = ["decisions", "trials", *columns]
    scored = str(summary["n"] - summary["unscored"])
    rows = [["fitted threshold", scored, *_cells(columns, summary["metrics"], summary["intervals"])]]
    at_default = summary["default"]
    rows.append(["default 0.5", scored, *_cells(columns, at_default["metrics"], at_default["intervals"])])
    if summary["unscored"]:
        wrong = summary["unscored_as_wrong"]["metrics"]
        rows.append(["fitted, unscored as wrong", str(summary["n"]), *_cells(columns, wrong, {})])
    return header, rows


_PER_PART = ("accuracy", "acc_true", "acc_false", "f1", "auroc", "macro_f1")
_NEED_BOTH = ("f1", "auroc", "macro_f1")


def part_rows(title: str, parts: Mapping[str, Any], scheme: str) -> tuple[list[str], list[list[str]]]:
    """(header, rows) of settings or kinds; metrics of whole statements have no part, F1 and AUROC need both classes."""
    own = COLUMNS["pairs" if scheme == "support_levels" else scheme] if scheme in COLUMNS else _DECISIONS
    columns = {name: metric for name, metric in own.items() if metric in _PER_PART}
    rows = []
    for name, part in parts.items():
        metrics = dict(part["metrics"])
        if metrics["acc_true"] is None or metrics["acc_false"] is None:
            metrics |= dict.fromkeys(_NEED_BOTH)
        rows.append([name, str(part["n"] - part["unscored"]), *_cells(columns, metrics, part["intervals"])])
    return [title, "trials", *columns], rows


_AUDIT = {
    "order": ("documents in another order", "changed"),
    "injection": ("an instruction planted in a document of false trials", "flipped_to_true"),
}


def audit_rows(audit: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """(header, rows): what changed when trials were asked again in another way; "-" where none could be."""
    columns = {"decisions changed": "", "mean shift of score": "mean_shift", "mean absolute shift": "mean_abs_shift"}
    rows = []
    for name, (text, changed) in _AUDIT.items():
        found = audit.get(name) or {"trials": 0, "intervals": {}}
        rows.append(
            [text, str(found["trials"]), *_cells(columns | {"decisions changed": changed}, found, found["intervals"])]
        )
    return ["asked again with", "trials", *columns], rows


def runs_tables(summaries: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """(title, header, rows) of each table of one scheme: a row a run, whatever verifier and language."""
    scheme = summaries[0]["scheme"]
    by_group: dict[str, dict[str, str]] = {}
    for name, metric in columns_of(summaries).items():
        by_group.setdefault(group_of(scheme, metric), {})[name] = metric
    for group, columns in by_group.items():
        rows = [
            [s["verifier"], s["lang"], str(s["n"]), str(s["unscored"]), *_cells(columns, s["metrics"], s["intervals"])]
            for s in summaries
        ]
        title = scheme if group == QUALITY else f"{scheme}: {group}"
        yield title, ["verifier", "lang", "trials", "unscored", *columns], rows


def details_tables(details: Mapping[str, Any]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """(title, header, rows): confusion matrix, the other reading of labels below full, what was left out."""
    levels = list(details["confusion"])
    confusion = [[level, *(str(n) for n in details["confusion"][level].values())] for level in levels]
    yield "Decided (columns) of labels (rows)", ["label", *levels], confusion
    other = details["below_full"]
    if other:
        columns = {name: metric for name, metric in COLUMNS["support_levels"].items() if metric in other["metrics"]}
        title = (
            f"With the {other['pairs']} pairs labelled none to partial read as {other['other']}, "
            f"not as {other['read_as']}"
        )
        yield title, list(columns), [_cells(columns, other["metrics"], other["intervals"])]
    counts = {**details["ranking"], **{f"pairs left out: {why}": n for why, n in details["left_out"].items()}}
    yield "Ranked, and left out", ["what", "number"], [[name.replace("_", " "), str(n)] for name, n in counts.items()]


def _cells(columns: Mapping[str, str], metrics: Mapping[str, Any], intervals: Mapping[str, Any]) -> list[str]:
    return [cell(metrics.get(metric), intervals.get(metric)) for metric in columns.values()]


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The table on the console, intervals under their values, never cut to the console's width."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for i, name in enumerate(header):
        table.add_column(name, justify="left" if i == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(value.replace(" [", "\n[") for value in row))
    needed = Console(width=1000).measure(table).maximum
    console = Console()
    Console(width=max(console.width, needed)).print(table, crop=False)
