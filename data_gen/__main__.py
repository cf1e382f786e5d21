"""python -m data_gen pipeline=training generator=rules limit=200: make a dataset. Help: `python -m data_gen --help`."""

from __future__ import annotations

import functools
import json
import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hydra
from omegaconf import DictConfig, OmegaConf

from citeverifier.commands.errors import plain_errors
from citeverifier.paths import configs_dir

if TYPE_CHECKING:
    from citeverifier.llm.client import LLM
    from citeverifier.records import Example
    from data_gen.pipeline import Done, Stage
    from data_gen.tools import Tools

log = logging.getLogger(__name__)


def run(config: DictConfig) -> Path:
    """Run the pipeline, print what was asked, kept and dropped, and leave the dataset in output_dir."""
    from data_gen.pipeline import report, run_chain, table_rows

    folder = Path(config.output_dir)
    if config.dry_run:
        plan(config)
        return folder
    from citeverifier.evaluation.reporting.tables import print_table
    from citeverifier.provenance import provenance

    tools, translator = make_tools(config, folder / "stages")
    done: list[Done] = []
    chains: dict[str, Path] = {}
    for chain, (read, settings, stages) in chains_of(config, tools, translator).items():
        done += run_chain(chain, read, settings, stages, folder / "stages")
        chains[chain] = done[-1].path
    print_table(f"pipeline={config.pipeline.name}", *table_rows(done))
    for llm in dict.fromkeys(kit.llm() for kit in (tools, translator) if config.asks):
        counts = llm.spent.notes
        print(
            f"{llm.name}: sent {llm.spent.calls:,} calls in this run; {counts.get('cached', 0):,} replies came without "
            f"one, {counts.get('failed', 0):,} failed"
        )
    versions = provenance()
    (folder / "provenance.json").write_text(json.dumps(versions, indent=2) + "\n", encoding="utf-8")
    (folder / "report.json").write_text(json.dumps(report(done), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    finish(config, folder, chains, versions)
    return folder


def finish(config: DictConfig, folder: Path, chains: Mapping[str, Path], versions: Mapping[str, Any]) -> None:
    """Export for review, pack, write the card, publish where asked for."""
    from hydra.utils import instantiate

    from citeverifier.evaluation.reporting.tables import print_table
    from data_gen.card import dataset_card
    from data_gen.hub import push_to_hub
    from data_gen.pack import Recipe, pack, packed_rows
    from data_gen.review import write_review
    from data_gen.stage import read_stage

    if config.pipeline.review and config.review.file is None:
        count = write_review(folder / "review", read_stage(chains["main"]))
        print(f"review: {count:,} statements in {folder / 'review'}; come back with review.file=FILE")
    recipes = {
        name: Recipe(instantiate(node.build), dict(node.sizes), node.get("chain", "main"))
        for name, node in config.pipeline.recipes.items()
    }
    packed = pack(
        chains, folder, recipes=recipes, examples=config.pipeline.examples,
        max_examples=config.pipeline.max_examples, shares=dict(config.splits),
    )  # fmt: skip
    settings = OmegaConf.to_container(OmegaConf.masked_copy(config, ["pipeline", "data", "lang", "limit", "seed"]))
    assert isinstance(settings, dict)
    card = dataset_card(
        packed, title=config.title, pipeline=config.pipeline.name,
        settings={str(key): value for key, value in settings.items()}, versions=versions,
    )  # fmt: skip
    (folder / "README.md").write_text(card, encoding="utf-8")
    print_table("packed", *packed_rows(packed))
    for reason, count in sorted(packed.left_out.items()):
        print(f"left out: {reason}: {count:,}")
    for what, how in packed.short.items():
        print(f"fewer than asked for: {what}: {how}")
    if config.hub.repo_id is not None:
        print(f"published: {push_to_hub(folder, config.hub.repo_id, private=config.hub.private)}")


def make_tools(config: DictConfig, folder: Path) -> tuple[Tools, Tools]:
    """The LLM and the verifier as the config names them, made when first asked for; the same with the translator."""
    from hydra.utils import instantiate

    from data_gen.tools import Tools

    tools = Tools(
        llm=_llm(config, config.llm),
        verifier=functools.cache(lambda: instantiate(config.verifier, _convert_="all")),
        seed=config.seed,
        shares=dict(config.splits),
        folder=folder,
    )
    other = config.get("translator")
    return tools, tools if other is None else replace(tools, llm=_llm(config, other))


def _llm(config: DictConfig, node: DictConfig) -> Callable[[], LLM]:
    """The LLM of a node; counting only in a dry run."""
    from hydra.utils import instantiate

    dry = {"dry_run": True} if config.dry_run else {}
    return functools.cache(lambda: instantiate(node, **dry, _convert_="all"))


def chains_of(
    config: DictConfig, tools: Tools, translator: Tools
) -> dict[str, tuple[Callable[[], Iterator[Example]], dict[str, Any], list[Stage]]]:
    """By chain: what reads its source, that source's settings, its stages. A chain without a path is left out."""
    from hydra.utils import instantiate

    from data_gen.pipeline import Stage, file_hash
    from data_gen.source import Source, read_source

    chains: dict[str, tuple[Callable[[], Iterator[Example]], dict[str, Any], list[Stage]]] = {}
    for chain, node in config.pipeline.chains.items():
        if node.data.path is None:
            continue
        names = [name for name in node.stages if name not in config.skip]
        unknown = [name for name in names if name not in config.steps]
        if unknown:
            raise ValueError(f"pipeline.chains.{chain}.stages: expected names of steps, came {', '.join(unknown)}")
        source = Source(**OmegaConf.to_container(node.data, resolve=True))  # type: ignore[arg-type]
        # What will be translated is read in one language.
        lang = config.source_lang if "translate" in names else config.lang
        limit = config.limit if chain == "main" else None
        settings = {**vars(source), "lang": lang, "limit": limit, "seed": config.seed, "sha256": file_hash(source.path)}
        stages = []
        for name in names:
            step: Any = OmegaConf.to_container(config.steps[name], resolve=True)
            if config.dry_run and name == "source":
                step["statements"] = True  # stand-ins for what an LLM would write
            shared = {"seed": config.seed, "splits": dict(config.splits)}
            judged = {"verifier": OmegaConf.to_container(config.verifier)} if name in config.judging else {}
            stages.append(
                Stage(
                    name,
                    instantiate({**step, "_partial_": True}, _convert_="all"),
                    {**step, **shared, **judged},
                    translator if name == "translate" else tools,
                )
            )
        chains[chain] = (
            functools.partial(read_source, source, lang=lang, limit=limit, seed=config.seed),
            settings,
            stages,
        )
    return chains


def plan(config: DictConfig) -> None:
    """Print how many calls and tokens the run would take, sending nothing."""
    from citeverifier.evaluation.reporting.tables import print_table
    from data_gen.pipeline import cost, plan_chain

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        tools, translator = make_tools(config, Path(folder))
        for chain, (read, _, stages) in chains_of(config, tools, translator).items():
            for stage in plan_chain(chain, read, stages, Path(folder)):
                price = cost(stage.prices, stage.prompt_tokens, 0)
                rows.append(
                    [
                        stage.name, f"{stage.records:,}", f"{stage.calls:,}", f"{stage.prompt_tokens:,}",
                        "-" if price is None else f"{price:.2f}",
                    ]
                )  # fmt: skip
    print_table(
        "dry run: nothing was sent; as if every record were kept and every first attempt good",
        ["stage", "records", "calls", "tokens in", "cost of these"],
        rows,
    )


@hydra.main(version_base="1.3", config_path=str(configs_dir()), config_name="data_gen")
def main(config: DictConfig) -> None:
    """Make data, and end with the folder's path."""
    with plain_errors():
        folder = run(config)
        if not config.dry_run:
            print(f"dataset: {folder}")


if __name__ == "__main__":
    main()
