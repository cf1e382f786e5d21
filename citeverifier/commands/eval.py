"""python eval.py scheme=separate lang=pl: score a verifier in a scheme; leaves predictions, metrics and a report."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from citeverifier.commands.entry import entry
from citeverifier.commands.errors import plain_errors

if TYPE_CHECKING:
    from citeverifier.evaluation.thresholds import Threshold
    from citeverifier.records import Support

log = logging.getLogger(__name__)


def run(config: DictConfig) -> Path:
    """Ask, write predictions, then metrics and report; returns the run's folder.

    With `resume`, a run that is there already, of the same config, data and verifier, is left as it is.
    """
    from dataclasses import asdict

    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode
    from hydra.utils import instantiate

    from citeverifier.commands.serving import check_served
    from citeverifier.commands.sources import check_records
    from citeverifier.data.load import fingerprint
    from citeverifier.evaluation.audit import audit, check_auditable
    from citeverifier.evaluation.reporting.plain import write_json
    from citeverifier.evaluation.reporting.predictions import write_answers, write_predictions
    from citeverifier.evaluation.reporting.report import unscored_warning, write_report
    from citeverifier.evaluation.reporting.summary import summarise
    from citeverifier.evaluation.reporting.tables import headline_rows, part_rows, print_table
    from citeverifier.evaluation.run import run_scheme
    from citeverifier.evaluation.schemes.base import Corrects, Measured
    from citeverifier.processes import rank
    from citeverifier.provenance import provenance

    folder = Path(HydraConfig.get().runtime.output_dir)
    records = instantiate(config.data, _convert_="all")
    scheme = instantiate(config.scheme)
    records = check_records(scheme, records, config)
    corrects = isinstance(scheme, Corrects)
    verifier = instantiate(config.correction if corrects else config.verifier, _convert_="all")
    check_served(scheme, verifier, records)
    if config.audit:
        check_auditable(scheme)
    data = {"path": str(config.data.get("path", "")), "split": config.data.get("split")} | asdict(fingerprint(records))
    identity = _identity(config, data["sha256"], verifier)
    if config.resume and _finished(folder, identity):
        print(f"resume: {folder} holds this run already, skipped")
        return folder
    ready = _prepare(config, scheme, verifier, records)
    predictions, cost = run_scheme(scheme, ready.verifier, records, ready.thresholds)
    if getattr(verifier, "dry_run", False):
        print(f"dry run: {cost.calls} calls, about {cost.tokens} prompt tokens{_price(cost.money)}; nothing was sent")
        return folder
    if rank() == 0:
        write_predictions(folder / "predictions.jsonl", predictions, scheme.name)
        if any(prediction.answers for prediction in predictions):
            write_answers(folder / "answers.jsonl", predictions, scheme.name)
    again: dict[str, Any] = {}
    audited = None
    if config.audit:
        again, audited = audit(scheme, ready.verifier, records, ready.thresholds, predictions, config.seed)
    if rank() > 0:  # all processes have asked; one writes
        return folder
    for change, asked in again.items():
        write_predictions(folder / f"audit_{change}.jsonl", asked, scheme.name)
    summary = summarise(
        predictions, scheme, verifier=config.label or verifier.name, lang=config.lang, data=data,
        thresholds=ready.thresholds, parameters=ready.parameters, cost=cost, seed=config.seed, audit=audited,
        left_out=scheme.left_out(records) if isinstance(scheme, Measured) else None,
        further=scheme.estimates() if isinstance(scheme, Corrects) else None,
    )  # fmt: skip
    write_json(folder / "metrics.json", summary)
    report = write_report(folder, summary, predictions)
    made_with = provenance() | {"run": identity}  # written last: with it, the run is whole
    (folder / "provenance.json").write_text(json.dumps(made_with, indent=2) + "\n", encoding="utf-8")
    if HydraConfig.get().mode == RunMode.RUN:  # in a sweep, `citeverifier report` puts the runs side by side
        print_table(f"{summary['scheme']}, {summary['lang']}: {summary['verifier']}", *headline_rows(summary))
        print_table("by setting", *part_rows("setting", summary["settings"], scheme.name))
    print(f"report: {report}")
    if warning := unscored_warning(summary):  # the last thing said, between two rules
        log.warning("\n%s\n%s\n%s", "!" * 100, warning, "!" * 100)
    return folder


def _price(money: float | None) -> str:
    return "" if money is None else f", about {money:.2f} in the currency of llm.prices without the replies"


@dataclass(frozen=True)
class _Ready:
    """A verifier fitted and asked through the cache, with the thresholds and parameters chosen on dev."""

    verifier: Any
    thresholds: dict[Support, Threshold]
    parameters: dict[str, Threshold]


def _prepare(config: DictConfig, scheme: Any, verifier: Any, asked_about: list[Any]) -> _Ready:
    """Fit on train what needs it; on dev, thresholds (unless the checkpoint brings them) or a selector's parameters.

    Thresholds are those of the levels that the scheme asks at.
    """
    from hydra.utils import instantiate

    from citeverifier.commands.sources import SourceSpec, read
    from citeverifier.correction.base import Choosing
    from citeverifier.data.load import to_pairs
    from citeverifier.evaluation.run import listings_of, trials_of
    from citeverifier.evaluation.schemes.base import ByList, Corrects
    from citeverifier.evaluation.thresholds import Threshold, dev_questions, fit_thresholds, saved_thresholds
    from citeverifier.records import Example
    from citeverifier.verifiers.cache import ScoreCache, with_cache
    from citeverifier.verifiers.spread import spread

    corrects, by_list = isinstance(scheme, Corrects), isinstance(scheme, ByList)
    named: Any = OmegaConf.to_container(config.fit, resolve=True)
    source = ", ".join(SourceSpec.parse(spec).data for spec in named)

    def records(role: str) -> list[Any]:
        specs = [SourceSpec.parse(spec) for spec in named]
        return [record for spec in specs for record in read(spec, role, config.lang, share_files=True)]

    def pairs(role: str) -> list[Any]:
        return to_pairs(records(role), instantiate(config.pairs.build))

    def fitted(inner: Any) -> Any:
        inner.wrap(fitted)
        if getattr(inner, "needs_training_pairs", False):
            inner.fit(pairs("train"))
        return inner

    brought = None if corrects or by_list or config.calibrate else saved_thresholds(verifier)
    asked = fitted(verifier)
    if corrects:  # past the cache: how long a point takes is measured
        if not isinstance(asked, Choosing):
            return _Ready(asked, {}, {})
        saved = saved_thresholds(asked.scorer)
        thresholds = (
            saved
            if saved and not config.calibrate
            else fit_thresholds(asked.scorer, dev_questions(records("dev"), config.seed), source)
        )
        asked.thresholds = {level: t.value for level, t in thresholds.items()}
        return _Ready(asked, thresholds, {})
    if config.cache is not None:
        asked = with_cache(asked, ScoreCache(config.cache))
    asked = spread(asked)
    if not by_list:
        if asked.needs_dev_pairs:
            asked.tune(pairs("dev"))
        if brought is None:
            levels = sorted({trial.level for trial in trials_of(scheme, asked_about)})
            brought = fit_thresholds(asked, dev_questions(records("dev"), config.seed), source, levels)
        return _Ready(asked, brought, {})
    if not asked.parameters:
        return _Ready(asked, {}, {})
    listings, gold = listings_of(scheme, [record for record in records("dev") if isinstance(record, Example)])
    if not listings:
        raise ValueError(
            f"{source}: expected examples to choose the parameters of {verifier.name} on, came none; name other dev "
            "data with fit=[...]"
        )
    asked.tune(listings, gold)
    chosen = f"chosen on {len(listings)} dev statements of {source}"
    return _Ready(asked, {}, {name: Threshold(value, chosen) for name, value in asked.parameters.items()})


def _identity(config: DictConfig, data: str, verifier: Any) -> dict[str, Any]:
    """What makes two runs the same: config (unresolved), data, the verifier's files, the package's version."""
    import hashlib

    import citeverifier
    from citeverifier.verifiers.cache import fingerprint_of

    kept: Any = OmegaConf.to_container(config, resolve=False)
    kept = {key: value for key, value in kept.items() if key not in ("cache", "resume")}
    return {
        "config": hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest(),
        "data": data,
        "verifier": fingerprint_of(verifier),
        "version": citeverifier.__version__,
    }


def _finished(folder: Path, identity: dict[str, Any]) -> bool:
    """Whether the folder holds the whole of this very run."""
    made_with = folder / "provenance.json"
    if not made_with.is_file() or not (folder / "metrics.json").is_file():
        return False
    return bool(json.loads(made_with.read_text(encoding="utf-8")).get("run") == identity)


@entry("eval")
def main(config: DictConfig) -> None:
    """Evaluate."""
    with plain_errors():
        run(config)


if __name__ == "__main__":
    main()
