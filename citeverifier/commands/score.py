"""citeverifier score IN... OUT: pairs of any number into parquet parts, on one process or many, going on after a stop.

A part is a fixed number of rows of one input file and has one output file, whichever process makes it: the processes
of a run share the parts out by number and never talk to each other. A part's file appears under its name only when it
is whole, so a run that was stopped, or is run again with more processes, makes what is not there yet.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import citeverifier
from citeverifier.data.corpus import CorpusRow, find_files, parts
from citeverifier.processes import rank, world_size
from citeverifier.records import LANGUAGES, Support

RUN = "_run.json"  # underscores: readers of parquet folders pass such files over
SUMMARY = "_summary.json"
BAD = "bad record: "
_ENDS = 1 << 20  # bytes at both ends of an input that identify it, with its size
_SHOWN = 20  # bad records that the summary names


@dataclass(frozen=True)
class Job:
    """What is scored, and how.

    `threshold`: from where on a score decides true; None = no decisions. `part_rows`: rows of an input file in one
    output file.
    """

    files: list[Path]
    out: Path
    verifier: Any
    level: Support
    threshold: float | None
    part_rows: int = 8192
    lang: str | None = None


def score(job: Job) -> dict[str, Any] | None:
    """Score this process's parts; returns the summary, or None where other processes still have parts to do.

    Raises ValueError where `out` holds scores of something else.
    """
    from tqdm.auto import tqdm

    _claim(job)
    names: list[str] = []

    def wanted(file: int, part: int) -> bool:
        return (file + part) % world_size() == rank() and not (job.out / part_name(file, part)).is_file()

    with tqdm(desc="scoring", unit=" pairs", disable=True if rank() else None) as bar:
        for part in parts(job.files, job.part_rows, wanted, job.lang):
            names.append(part_name(part.file, part.number))
            if part.rows is not None:
                _write_part(job, job.out / names[-1], str(job.files[part.file]), part.rows)
                bar.update(len(part.rows))
    if not all((job.out / name).is_file() for name in names):
        return None
    summary = _summarise(job.out, names)
    _write_json(job.out / SUMMARY, summary)
    return summary


def part_name(file: int, part: int) -> str:
    """The output file of part `part` of input file `file`, both from 0."""
    return f"part-{file:05d}-{part:06d}.parquet"


def job_from_options(
    inputs: Sequence[str],
    out: Path,
    *,
    model: str | None,
    verifier: str,
    level: str,
    threshold: float | None,
    settings: Sequence[str],
    part_rows: int,
    lang: str | None,
) -> Job:
    """A job as the command line names it; `verifier` is a name of configs/verifier, `model` its checkpoint.

    Raises ValueError where the verifier scores no pairs, or must be fitted on data first; on an unknown language,
    verifier or setting.
    """
    from hydra import compose, initialize_config_dir
    from hydra.errors import ConfigCompositionException, OverrideParseException
    from hydra.utils import instantiate
    from omegaconf import OmegaConf

    from citeverifier.paths import configs_dir

    if lang is not None and lang not in LANGUAGES:
        raise ValueError(f"--lang: expected one of {', '.join(LANGUAGES)}, came {lang!r}")
    files = find_files(inputs)
    try:
        with initialize_config_dir(str(configs_dir()), version_base="1.3"):
            config = compose("eval", overrides=[f"verifier={verifier}", *settings])
    except (ConfigCompositionException, OverrideParseException) as error:
        asked = " ".join([f"--verifier {verifier}", *(f"--setting {each}" for each in settings)])
        raise ValueError(
            f"{asked}: expected names of configs/verifier and keys of configs/eval.yaml: {error}"
        ) from error
    if model is not None:
        if "path" not in config.verifier:
            raise ValueError(f"--verifier {verifier} has no model to load, came --model {model}; leave one of them out")
        OmegaConf.update(config, "verifier.path", model)
    _take_device()
    made = instantiate(config.verifier, _convert_="all")
    if not hasattr(made, "score"):
        raise ValueError(f"--verifier {verifier} selects from lists; expected one that scores pairs")
    if made.needs_training_pairs or made.needs_dev_pairs:
        raise ValueError(f"--verifier {verifier} must be fitted on data first; expected one that scores as it is")
    chosen = Support.parse(level)
    if threshold is None and made.thresholds is not None:
        threshold = made.thresholds[chosen]
    return Job(files, out, made, chosen, threshold, part_rows, lang)


def _take_device() -> None:
    """Show this process its own GPU only, of those of the machine."""
    if world_size() > 1:
        local = int(os.environ.get("LOCAL_RANK", rank()))
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        os.environ["CUDA_VISIBLE_DEVICES"] = str(local) if visible is None else visible.split(",")[local]


def _claim(job: Job) -> None:
    """Write what the folder holds, or check that it is this."""
    from citeverifier.verifiers.cache import fingerprint_of

    described = {
        "inputs": [_identity(path) for path in job.files],
        "verifier": job.verifier.name,
        "fingerprint": fingerprint_of(job.verifier),
        "level": job.level.label,
        "threshold": job.threshold,
        "part_rows": job.part_rows,
        "lang": job.lang,
        "version": citeverifier.__version__,
    }
    job.out.mkdir(parents=True, exist_ok=True)
    file = job.out / RUN
    if not file.is_file():
        if any(job.out.glob("part-*.parquet")):
            raise ValueError(f"{job.out}: expected an empty folder or one with {RUN}, came parts without it")
        _write_json(file, described)
        return
    came = json.loads(file.read_text(encoding="utf-8"))
    other = [key for key in described if came.get(key) != described[key]]
    if other:
        raise ValueError(
            f"{job.out} holds scores of another run: {', '.join(other)} differ ({file} says what it was); "
            "name another folder, or remove this one"
        )


def _identity(path: Path) -> dict[str, Any]:
    size = path.stat().st_size
    with path.open("rb") as content:
        start = content.read(_ENDS)
        content.seek(max(0, size - _ENDS))
        ends = hashlib.sha256(start + content.read(_ENDS)).hexdigest()
    return {"path": str(path), "bytes": size, "ends_sha256": ends}


def _write_part(job: Job, path: Path, source: str, rows: Sequence[CorpusRow]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pairs = [row.pair for row in rows if row.pair is not None]
    scored = job.verifier.score(pairs, job.level) if pairs else None
    values: list[dict[str, Any]] = []
    asked = 0
    for row in rows:
        made: dict[str, Any] = {"id": None, "source": source, "row": row.number}
        if row.pair is None or scored is None:
            values.append(made | {"reason": f"{BAD}{row.error}"})
            continue
        value = float(scored.values[asked])
        made["id"] = row.pair.id
        if value != value:  # nan
            values.append(made | {"reason": scored.reasons.get(asked, "the verifier gave no score")})
        else:
            decision = None if job.threshold is None else value >= job.threshold
            values.append(made | {"score": value, "decision": decision})
        asked += 1
    schema = pa.schema(
        [("id", pa.string()), ("source", pa.string()), ("row", pa.int64()), ("score", pa.float64()),
         ("decision", pa.bool_()), ("reason", pa.string())]
    )  # fmt: skip
    partial = path.with_name(f"{path.name}.partial")
    pq.write_table(pa.Table.from_pylist(values, schema=schema), partial, compression="zstd")
    partial.replace(path)


def _summarise(out: Path, names: Sequence[str]) -> dict[str, Any]:
    """Counts over all parts; places of the first bad records."""
    import pyarrow.parquet as pq

    counts = {"pairs": 0, "scored": 0, "unscored": 0, "bad_records": 0, "decided_true": 0}
    reasons: Counter[str] = Counter()
    shown: list[str] = []
    for name in names:
        table = pq.read_table(out / name)
        unscored = table.filter(table["score"].is_null()).to_pylist()
        bad = [row for row in unscored if row["reason"].startswith(BAD)]
        counts["pairs"] += table.num_rows
        counts["scored"] += table.num_rows - len(unscored)
        counts["unscored"] += len(unscored) - len(bad)
        counts["bad_records"] += len(bad)
        counts["decided_true"] += sum(value is True for value in table["decision"].to_pylist())
        reasons.update(row["reason"] for row in unscored if not row["reason"].startswith(BAD))
        shown += [f"{row['source']}:{row['row']}: {row['reason'].removeprefix(BAD)}" for row in bad]
        del shown[_SHOWN:]
    return {**counts, "reasons": dict(reasons.most_common(_SHOWN)), "first_bad_records": shown, "parts": len(names)}


def _write_json(path: Path, value: dict[str, Any]) -> None:
    partial = path.with_name(f"{path.name}.{rank()}.partial")  # every process may write it, all of them the same
    partial.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(path)


def say(job: Job, summary: dict[str, Any] | None, started: float) -> None:
    """Tell what was done; the process that found everything done, the first or not, tells the whole."""
    if summary is None:
        print(f"this process's parts are done; {job.out / SUMMARY} comes with the last part of the others")
        return
    lines = [
        f"{summary['pairs']} pairs: {summary['scored']} scored, {summary['unscored']} unscored, "
        f"{summary['bad_records']} bad records; {time.perf_counter() - started:.1f} s",
        *(f"  {place}" for place in summary["first_bad_records"]),
        f"scores: {job.out}",
    ]
    print("\n".join(lines), file=sys.__stdout__)
