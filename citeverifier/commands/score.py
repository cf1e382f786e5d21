"""citeverifier score IN... OUT: pairs of any number into parquet files of scores, one for each input file.

A file is read, scored and written a block at a time, in this process or, with the same function, by Ray's workers. Its
scores appear under their name only when they are whole, so a run that was stopped goes on with the files that are
missing.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import citeverifier
from citeverifier.commands.answer_files import KEYWORD_THRESHOLDS
from citeverifier.commands.errors import check_lang
from citeverifier.data.corpus import CorpusRow, find_files, read_blocks
from citeverifier.evaluation.reporting.plain import write_json
from citeverifier.processes import world_size
from citeverifier.records import Support

RUN = "_run.json"  # underscores: readers of parquet folders pass such files over
SUMMARY = "_summary.json"
BLOCK = 8192  # rows held in memory
_BAD = "bad record: "
_ENDS = 1 << 20  # bytes at both ends of an input that identify it, with its size
_SHOWN = 20  # bad records that the summary names
_QUIET_RAY = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DATA_LOG_LEVEL": "ERROR", "RAY_BACKEND_LOG_LEVEL": "fatal"}
_STORE = 1 << 27  # bytes of Ray's object store on this machine: no rows pass through it


@dataclass(frozen=True)
class ScoreJob:
    """What is scored, and how. Every worker makes a verifier of its own with `build`.

    `threshold`: from where on a score decides true; None = no decisions.
    """

    files: list[Path]
    out: Path
    build: Callable[[], Any]
    level: Support
    threshold: float | None = None
    lang: str | None = None

    def scores_of(self, number: int) -> Path:
        """Where the scores of input file `number` go."""
        return self.out / f"part-{number:05d}.parquet"


def score(job: ScoreJob, verifier: Any, workers: int = 1, address: str | None = None) -> dict[str, Any]:
    """Score the files that have no scores yet and return the summary of all.

    One worker is this process with `verifier`; several, or those of the Ray cluster at `address`, build their own.

    Raises ValueError where the folder holds scores of something else, OSError or ValueError where a file cannot be
    read.
    """
    from tqdm.auto import tqdm

    if world_size() > 1:
        raise ValueError("citeverifier score: expected one process, got several; it starts its own with --workers N")
    _claim(job, verifier)
    missing = [number for number in range(len(job.files)) if not job.scores_of(number).is_file()]
    with tqdm(desc="scoring", unit=" pairs") as bar:
        if workers == 1 and address is None:
            for number in missing:
                score_file(job, verifier, number, bar.update)
        elif missing:
            for pairs in _score_with_ray(job, missing, workers, address):
                bar.update(pairs)
    for leftover in job.out.glob("*.partial"):  # of runs that were killed
        leftover.unlink()
    summary = _summarise(job)
    write_json(job.out / SUMMARY, summary)
    return summary


def score_file(
    job: ScoreJob, verifier: Any, number: int, progress: Callable[[int], Any] = lambda pairs: None, block: int = BLOCK
) -> None:
    """Score one input file, a block at a time; `progress` is told the rows of each."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [("id", pa.string()), ("source", pa.string()), ("row", pa.int64()), ("score", pa.float64()),
         ("decision", pa.bool_()), ("reason", pa.string())]
    )  # fmt: skip
    source, path = job.files[number], job.scores_of(number)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.partial")
    with pq.ParquetWriter(unfinished, schema, compression="zstd") as writer:
        for rows in read_blocks(source, block, job.lang):
            writer.write_table(pa.Table.from_pylist(_score_rows(job, verifier, str(source), rows), schema=schema))
            progress(len(rows))
    unfinished.replace(path)


def _score_rows(job: ScoreJob, verifier: Any, source: str, rows: Sequence[CorpusRow]) -> list[dict[str, Any]]:
    """A row of scores for each row of a block."""
    pairs = [row.pair for row in rows if row.pair is not None]
    scores = verifier.score(pairs, job.level) if pairs else None
    scored: list[dict[str, Any]] = []
    position = 0
    for row in rows:
        result: dict[str, Any] = {"id": None, "source": source, "row": row.number, "reason": f"{_BAD}{row.error}"}
        if row.pair is not None and scores is not None:
            value = float(scores.values[position])
            result["id"] = row.pair.id
            if math.isnan(value):
                result["reason"] = scores.reasons.get(position, "the verifier gave no score")
            else:
                decision = None if job.threshold is None else value >= job.threshold
                result |= {"score": value, "decision": decision, "reason": None}
            position += 1
        scored.append(result)
    return scored


def _summarise(job: ScoreJob) -> dict[str, Any]:
    """Counts over the rows of all files, a batch at a time."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    counts = Counter(pairs=0, scored=0, unscored=0, bad_records=0, decided_true=0)
    reasons: Counter[str] = Counter()
    bad: list[str] = []
    for number in range(len(job.files)):
        for batch in pq.ParquetFile(job.scores_of(number)).iter_batches():
            counts["pairs"] += batch.num_rows
            counts["decided_true"] += pc.sum(batch["decision"]).as_py() or 0
            for row in batch.filter(pc.is_valid(batch["reason"])).select(["source", "row", "reason"]).to_pylist():
                if not row["reason"].startswith(_BAD):
                    reasons[row["reason"]] += 1
                    continue
                counts["bad_records"] += 1
                if len(bad) < _SHOWN:
                    bad.append(f"{row['source']}:{row['row']}: {row['reason'].removeprefix(_BAD)}")
    counts["unscored"] = reasons.total()
    counts["scored"] = counts["pairs"] - counts["unscored"] - counts["bad_records"]
    named = {"reasons": dict(reasons.most_common(_SHOWN)), "first_bad_records": bad, "parts": len(job.files)}
    return {**counts, **named}


class _RayWorker:
    """Scores the files it is given, with a verifier of its own; what it cannot read it gives back as an error."""

    def __init__(self, job: ScoreJob) -> None:
        self.job, self.verifier = job, job.build()

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        pairs: list[int] = []
        try:
            score_file(self.job, self.verifier, int(row["number"]), pairs.append)
        except (ValueError, OSError) as error:
            return {"pairs": sum(pairs), "error": str(error)}
        return {"pairs": sum(pairs), "error": ""}


def _score_with_ray(job: ScoreJob, numbers: Sequence[int], workers: int, address: str | None) -> Iterator[int]:
    """Score files on a cluster (None: this machine); yields the pairs of each file that is done."""
    for name, value in _QUIET_RAY.items():
        os.environ.setdefault(name, value)
    import ray
    import ray.data

    local = {"include_dashboard": False, "object_store_memory": _STORE} if address is None else {}
    ray.init(address or "local", log_to_driver=False, logging_level="ERROR", **local)
    try:
        there = ray.cluster_resources()
        if workers > there.get("CPU", 0):
            raise ValueError(
                f"--workers: expected at most {there.get('CPU', 0):.0f}, the cluster's processors, got {workers}"
            )
        ray.data.DataContext.get_current().enable_progress_bars = False
        results = ray.data.from_items(
            [{"number": number} for number in numbers], override_num_blocks=len(numbers)
        ).map(
            _RayWorker, fn_constructor_args=(job,), num_gpus=min(1.0, there.get("GPU", 0) / workers),
            compute=ray.data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=1),
        )  # fmt: skip
        for row in results.iter_rows():
            if row["error"]:
                raise ValueError(row["error"])
            yield row["pairs"]
    finally:
        ray.shutdown()


def score_corpus(
    inputs: Sequence[str], out: Path, verifier: str, model: str | None, settings: Sequence[str], level: str,
    threshold: float | None, lang: str | None, workers: int, address: str | None,
) -> None:  # fmt: skip
    """Score as the command line asks and print what was done. `verifier`: a name of configs/verifier.

    Raises ValueError where the verifier scores no pairs, or must be fitted on data first; on an unknown language,
    verifier or setting; and where nothing could be scored.
    """
    from citeverifier.commands.serving import check_scores_as_it_is

    check_lang(lang)
    files = find_files(inputs)
    asked, own = Support.parse(level), None
    if model == "keyword" and verifier in ("citeverifier", "keyword"):  # as for `citeverifier verify`
        verifier, model, own = "keyword", None, KEYWORD_THRESHOLDS
    build = partial(_build, verifier, model, tuple(settings))
    built = build()
    check_scores_as_it_is(built, f"--verifier {verifier}")
    own = own or built.thresholds
    if threshold is None and own is not None:
        threshold = own[asked]
    started = time.perf_counter()
    summary = score(ScoreJob(files, out, build, asked, threshold, lang), built, workers, address)
    print(
        f"{summary['pairs']} pairs: {summary['scored']} scored, {summary['unscored']} unscored, "
        f"{summary['bad_records']} bad records; {time.perf_counter() - started:.1f} s"
    )
    for place in summary["first_bad_records"]:
        print(f"  {place}")
    print(f"scores: {out}")
    if not summary["scored"]:
        raise ValueError(f"expected a pair that can be scored, got {summary['pairs']} records and none")


def _build(verifier: str, model: str | None, settings: Sequence[str]) -> Any:
    """The verifier of that name, as eval.py would build it."""
    from hydra import compose, initialize_config_dir
    from hydra.errors import ConfigCompositionException, OverrideParseException
    from hydra.utils import instantiate
    from omegaconf import OmegaConf

    from citeverifier.commands import verifier_configs  # noqa: F401  (makes the published metrics' names known)
    from citeverifier.paths import configs_dir

    try:
        with initialize_config_dir(str(configs_dir()), version_base="1.3"):
            config = compose("eval", overrides=[f"verifier={verifier}", *settings])
    except (ConfigCompositionException, OverrideParseException) as error:
        options = " ".join([f"--verifier {verifier}", *(f"--setting {each}" for each in settings)])
        raise ValueError(
            f"{options}: expected names of configs/verifier and keys of configs/eval.yaml: {error}"
        ) from error
    if model is not None:
        if "path" not in config.verifier:
            raise ValueError(f"--verifier {verifier} has no model to load, got --model {model}; leave one of them out")
        OmegaConf.update(config, "verifier.path", model)
    return instantiate(config.verifier, _convert_="all")


def _claim(job: ScoreJob, verifier: Any) -> None:
    """Write what the folder holds, or check that it is this."""
    from citeverifier.verifiers.cache import fingerprint_of

    described = {
        "inputs": [_identity(path) for path in job.files],
        "verifier": verifier.name,
        "fingerprint": fingerprint_of(verifier),
        "level": job.level.label,
        "threshold": job.threshold,
        "lang": job.lang,
        "version": citeverifier.__version__,
    }
    job.out.mkdir(parents=True, exist_ok=True)
    file = job.out / RUN
    expected = {job.scores_of(number) for number in range(len(job.files))} if file.is_file() else set()
    unknown = sorted(path.name for path in set(job.out.glob("part-*.parquet")) - expected)
    if unknown:
        raise ValueError(
            f"{job.out}: expected an empty folder or one of this run, got {', '.join(unknown[:3])}; name another folder"
        )
    if not file.is_file():
        write_json(file, described)
        return
    before = json.loads(file.read_text(encoding="utf-8"))
    other = [key for key in described if before.get(key) != described[key]]
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
