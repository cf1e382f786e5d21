"""python eval.py scheme=separate lang=pl: score a verifier in a scheme; leaves predictions, metrics and a report."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hydra
from omegaconf import DictConfig, OmegaConf

from citeverifier.commands.errors import plain_errors
from citeverifier.paths import configs_dir

if TYPE_CHECKING:
    from citeverifier.records import Support
    from citeverifier.schemes.run import Threshold

log = logging.getLogger(__name__)


def run(config: DictConfig) -> Path:
    """Ask, write predictions, then metrics and report; returns the run's folder."""
    from dataclasses import asdict

    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode
    from hydra.utils import instantiate

    from citeverifier.commands.sources import check_records
    from citeverifier.data.load import fingerprint
    from citeverifier.provenance import provenance
    from citeverifier.reporting.plain import write_json
    from citeverifier.reporting.predictions import write_predictions
    from citeverifier.reporting.report import unscored_warning, write_report
    from citeverifier.reporting.summary import summarise
    from citeverifier.reporting.tables import headline_rows, part_rows, print_table
    from citeverifier.schemes.audit import audit, check_auditable
    from citeverifier.schemes.run import run_scheme

    folder = Path(HydraConfig.get().runtime.output_dir)
    records = instantiate(config.data, _convert_="all")
    scheme = instantiate(config.scheme)
    records = check_records(scheme, records, config)
    verifier = instantiate(config.verifier)
    if config.audit:
        check_auditable(verifier)
    thresholds = _thresholds(config, verifier)
    data = {"path": str(config.data.get("path", "")), "split": config.data.get("split")} | asdict(fingerprint(records))
    predictions, cost = run_scheme(scheme, verifier, records, thresholds)
    write_predictions(folder / "predictions.jsonl", predictions, scheme.name)
    audited = None
    if config.audit:
        asked, audited = audit(scheme, verifier, records, thresholds, predictions, config.seed)
        for change, again in asked.items():
            write_predictions(folder / f"audit_{change}.jsonl", again, scheme.name)
    (folder / "provenance.json").write_text(json.dumps(provenance(), indent=2) + "\n", encoding="utf-8")
    summary = summarise(
        predictions, scheme, verifier=config.label or verifier.name, lang=config.lang, data=data, thresholds=thresholds,
        cost=cost, seed=config.seed, audit=audited,
    )  # fmt: skip
    write_json(folder / "metrics.json", summary)
    report = write_report(folder, summary, predictions)
    if HydraConfig.get().mode == RunMode.RUN:  # in a sweep, `citeverifier report` puts the runs side by side
        print_table(f"{summary['scheme']}, {summary['lang']}: {summary['verifier']}", *headline_rows(summary))
        print_table("by setting", *part_rows("setting", summary["settings"], scheme.name))
    print(f"report: {report}")
    if warning := unscored_warning(summary):  # the last thing said, between two rules
        log.warning("\n%s\n%s\n%s", "!" * 100, warning, "!" * 100)
    return folder


def _thresholds(config: DictConfig, verifier: Any) -> dict[Support, Threshold]:
    """The checkpoint's own thresholds, or (calibrate=true, or a verifier without any) fitted on dev in this run."""
    from hydra.utils import instantiate

    from citeverifier.commands.sources import Source, read
    from citeverifier.data.load import to_pairs
    from citeverifier.schemes.run import fit_thresholds, saved_thresholds
    from citeverifier.verifiers.base import Calibrated, Fittable

    def pairs(role: str) -> list[Any]:
        named: Any = OmegaConf.to_container(config.fit, resolve=True)
        specs = [Source.parse(spec) for spec in named]
        build = instantiate(config.pairs.build)
        return [pair for spec in specs for pair in to_pairs(read(spec, role, config.lang, share_files=True), build)]

    if isinstance(verifier, Fittable):
        verifier.fit(pairs("train"))
    if isinstance(verifier, Calibrated) and not config.calibrate:
        return saved_thresholds(verifier)
    return fit_thresholds(verifier, pairs("dev"), ", ".join(str(spec) for spec in config.fit))


@hydra.main(version_base="1.3", config_path=str(configs_dir()), config_name="eval")
def main(config: DictConfig) -> None:
    """Evaluate."""
    with plain_errors():
        run(config)


if __name__ == "__main__":
    main()
