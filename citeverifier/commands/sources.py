"""Sources as the command line names them: configs/data names, files, hub ids, or mappings of these with settings.

Together with the entry points, the only place that sees Hydra's configs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

from hydra.utils import instantiate
from omegaconf import OmegaConf

from citeverifier.data.load import PairBuilder, Record, fingerprint, take, to_pairs, weigh
from citeverifier.data.splits import drop_leaks
from citeverifier.data.titles import vary_titles
from citeverifier.paths import configs_dir
from citeverifier.records import Pair

_FILE = {"_target_": "citeverifier.data.load.load", "shares": {"train": 0.9, "dev": 0.1}}


@dataclass(frozen=True)
class SourceSpec:
    """One entry of data.sources: a name or path, its part of the loss, how many pairs at most, loader settings."""

    data: str
    weight: float = 1.0
    limit: int | None = None
    lang: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, spec: str | Mapping[str, Any]) -> SourceSpec:
        """Read `mini`, `my.jsonl` or `{data: mini, weight: 2, limit: 500, lang: pl, split: train}`."""
        if isinstance(spec, str):
            return cls(spec)
        if "data" not in spec:
            raise ValueError(f"data.sources: expected a name, a path or a mapping with key 'data', got {dict(spec)}")
        rest = {key: value for key, value in spec.items() if key not in ("data", "weight", "limit", "lang")}
        return cls(str(spec["data"]), float(spec.get("weight", 1.0)), spec.get("limit"), spec.get("lang"), rest)

    @property
    def title(self) -> str:
        """What reports call it: "fever", "natural/vitaminc"."""
        return "/".join([self.data, *(str(self.settings[key]) for key in ("name",) if key in self.settings)])


def read(source: SourceSpec, role: str, lang: str, *, share_files: bool = False) -> list[Record]:
    """The records of a source in a role ("train", "dev" or "test") and language ("all": any).

    A name of configs/data gives the part of that role. A file or hub id is read whole, or, with `share_files`, divided
    into train and dev by group.
    """
    file = configs_dir() / "data" / f"{source.data}.yaml"
    if file.is_file():
        config: Any = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
        settings = config["data"] | {"split": role}
    else:
        settings = {**_FILE, "path": source.data, "split": role if share_files else None}
    resolved: Any = OmegaConf.to_container(OmegaConf.create({"data": settings | source.settings}), resolve=True)
    records: list[Record] = instantiate(resolved["data"], _convert_="all")
    wanted = {lang, source.lang or "all"} - {"all"}
    return [record for record in records if wanted <= {record.lang}]


@dataclass(frozen=True)
class TrainingData:
    """Training and dev pairs, and what to say of them in the run's folder."""

    train: list[Pair]
    dev: list[Pair]
    report: dict[str, Any]


def training_data(
    sources: Iterable[str | Mapping[str, Any]],
    dev: Iterable[str | Mapping[str, Any]] | None,
    held_out: Iterable[str | Mapping[str, Any]],
    build: PairBuilder,
    *,
    lang: str,
    seed: int,
    kind_weights: Mapping[str, float],
    dev_limit: int | None,
    titles: Mapping[str, float] | None = None,
) -> TrainingData:
    """Read, drop what leaks, build pairs. `dev` = None holds a part of each source back.

    `titles`: shares of the training pairs whose documents lose their titles ("dropped") or get one that says nothing
    ("replaced").
    """
    specs = [SourceSpec.parse(spec) for spec in sources]
    dev_specs = specs if dev is None else [SourceSpec.parse(spec) for spec in dev]
    shared = dev is None
    dev_records = [read(spec, "dev", lang, share_files=shared) for spec in dev_specs]
    guarded = list(chain.from_iterable(dev_records))
    for tested in held_out:
        guarded += read(SourceSpec.parse(tested), "test", "all")
    train_pairs: list[Pair] = []
    report: dict[str, Any] = {"sources": [], "dev": []}
    for source in specs:
        records, leaks = drop_leaks(read(source, "train", lang, share_files=shared), guarded)
        pairs = take(to_pairs(records, build), source.limit, seed)
        train_pairs += weigh(pairs, source.weight, kind_weights)
        report["sources"].append(
            {"data": source.title, "weight": source.weight, "pairs": len(pairs), "leaks": asdict(leaks)}
            | asdict(fingerprint(pairs))
        )
    if not train_pairs:
        raise ValueError(
            "data.sources: expected training records that share no group, document or statement with dev and "
            f"data.held_out, got none; dropped: {[source['leaks'] for source in report['sources']]}"
        )
    dev_pairs = take([pair for records in dev_records for pair in to_pairs(records, build)], dev_limit, seed)
    for spec, records in zip(dev_specs, dev_records, strict=True):
        report["dev"].append({"data": spec.title} | asdict(fingerprint(records)))
    report["dev_pairs"] = len(dev_pairs)
    if titles:
        train_pairs = list(vary_titles(train_pairs, titles["dropped"], titles["replaced"], seed))
    return TrainingData(train_pairs, dev_pairs, report)


def check_records(scheme: Any, records: list[Record], config: Any) -> list[Record]:
    """The records in the form that a scheme takes, in the language asked; raises ValueError saying what fits.

    `pairs` and `support_levels` take pairs (and build them from examples); the other schemes take examples.
    """
    chosen = [record for record in records if config.lang in ("all", record.lang)]
    if not chosen:
        raise ValueError(f"lang={config.lang}: expected records in that language, got none of {len(records)}")
    if scheme.takes_pairs:
        return list(to_pairs(chosen, instantiate(config.pairs.build)))
    if any(isinstance(record, Pair) for record in chosen):
        raise ValueError(
            f"scheme={scheme.name}: expected examples (a question with documents and statements), got pairs from "
            f"{config.data.get('path')}; score a pair file with scheme=pairs or scheme=support_levels"
        )
    return chosen
