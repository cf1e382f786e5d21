"""python -m data_gen pipeline=training generator=rules limit=200: make a dataset. Help: `python -m data_gen --help`."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hydra
from omegaconf import DictConfig, OmegaConf

from citeverifier.commands import verifier_configs  # noqa: F401  (makes the published metrics' names known)
from citeverifier.commands.errors import plain_errors
from citeverifier.paths import configs_dir

if TYPE_CHECKING:
    from data_gen.pipeline import Chain, Stage
    from data_gen.tools import Tools

LLMS = ("llm", "corruptor", "translator")  # groups of the config; a step's `llm` names one, null takes the first


def run(config: DictConfig) -> Path:
    """Run the pipeline, print what was asked, kept and dropped, and leave the dataset in output_dir."""
    from citeverifier.evaluation.reporting.plain import write_json
    from citeverifier.evaluation.reporting.tables import print_table
    from citeverifier.provenance import provenance
    from data_gen.pipeline import plan_chain, report, run_chain, table_rows

    folder = Path(config.output_dir)
    tools = make_tools(config)
    chains = chains_of(config, tools)
    if config.dry_run:
        with tempfile.TemporaryDirectory() as scratch:
            planned = [stage for chain in chains for stage in plan_chain(chain, Path(scratch))]
        title = "dry run: nothing was sent; as if every record were kept and every first attempt good"
        columns = {
            "stage": "stage",
            "asked": "records",
            "calls": "calls",
            "tokens": "tokens in",
            "cost": "cost of these",
        }
        print_table(title, *table_rows(planned, columns))
        return folder
    tallies = [done for chain in chains for done in run_chain(chain, folder / "stages")]
    print_table(f"pipeline={config.pipeline.name}", *table_rows(tallies))
    for llm in dict.fromkeys(kit.llm() for kit in tools.values() if config.asks):
        cached, failed = (llm.spent.notes.get(note, 0) for note in ("cached", "failed"))
        print(
            f"{llm.name}: sent {llm.spent.calls:,} calls in this run; {cached:,} replies came without one, "
            f"{failed:,} failed"
        )
    versions = provenance()
    write_json(folder / "provenance.json", versions)
    rows = json.dumps(report(tallies), indent=1, ensure_ascii=False)
    (folder / "report.json").write_text(rows + "\n", encoding="utf-8")
    finish(config, folder, {chain.name: chain.paths(folder / "stages")[-1] for chain in chains}, versions)
    return folder


def finish(config: DictConfig, folder: Path, files: Mapping[str, Path], versions: Mapping[str, Any]) -> None:
    """Write the review file, pack, write the card, publish where asked for. `files`: the last one of each chain."""
    from hydra.utils import instantiate

    from citeverifier.evaluation.reporting.tables import print_table
    from data_gen.card import dataset_card, publish
    from data_gen.pack import PairRecipe, pack, packed_rows
    from data_gen.review import write_review
    from data_gen.stage import read_stage

    if config.pipeline.review and config.review.file is None:
        count = write_review(folder / "review" / "review.csv", read_stage(files["main"]))
        print(f"review: {count:,} statements in {folder / 'review'}; come back with review.file=FILE")
    recipes = {
        name: PairRecipe(instantiate(node.build), dict(node.sizes), node.get("chain", "main"), node.get("lang"))
        for name, node in config.pipeline.recipes.items()
    }
    packed = pack(
        files, folder, recipes=recipes, examples=config.pipeline.examples,
        max_examples=config.pipeline.max_examples, shares=dict(config.splits),
    )  # fmt: skip
    told = OmegaConf.masked_copy(config, ["pipeline", "verifier", "data", "lang", "limit", "seed"])
    settings: Any = OmegaConf.to_container(told)
    card = dataset_card(packed, title=config.title, pipeline=config.pipeline.name, settings=settings, versions=versions)
    (folder / "README.md").write_text(card, encoding="utf-8")
    print_table("packed", *packed_rows(packed))
    for reason, count in sorted(packed.left_out.items()):
        print(f"left out: {reason}: {count:,}")
    for what, how in packed.short.items():
        print(f"fewer than asked for: {what}: {how}")
    if config.hub.repo_id is not None:
        print(f"published: {publish(folder, config.hub.repo_id, private=config.hub.private)}")


def make_tools(config: DictConfig) -> dict[str, Tools]:
    """LLM and verifier as the config names them, made when first asked for; one set of tools for each LLM's name."""
    from hydra.utils import instantiate

    from data_gen.tools import Tools

    dry = {"dry_run": True} if config.dry_run else {}

    def maker(node: DictConfig) -> Any:
        return functools.cache(lambda: instantiate(node, **dry, _convert_="all"))

    verifier: Any = OmegaConf.to_container(config.verifier)
    tools = Tools(
        llm=maker(config.llm),
        verifier=functools.cache(lambda: instantiate(config.verifier, _convert_="all")),
        seed=config.seed,
        shares=dict(config.splits),
        verifier_settings=verifier,
    )
    others = {name: replace(tools, llm=maker(config[name])) for name in LLMS[1:] if config.get(name)}
    return {name: others.get(name, tools) for name in LLMS}


def chains_of(config: DictConfig, tools: Mapping[str, Tools]) -> list[Chain]:
    """The pipeline's chains; one without a path is left out."""
    from data_gen.pipeline import Chain, file_hash
    from data_gen.questions import read_questions

    chains = []
    for name, node in config.pipeline.chains.items():
        if node.data.path is None:
            continue
        names = [stage for stage in node.stages if stage not in config.skip]
        unknown = [stage for stage in names if stage not in config.steps]
        if unknown:
            raise ValueError(f"pipeline.chains.{name}.stages: expected names of steps, got {', '.join(unknown)}")
        data: Any = OmegaConf.to_container(node.data, resolve=True)
        drawn = {
            # What will be translated is read in one language.
            "lang": config.source_lang if "translate" in names else config.lang,
            "limit": config.limit if name == "main" else None,
            "seed": config.seed,
        }
        stages = [_stage(config, stage, tools) for stage in names]
        read = functools.partial(read_questions, data, **drawn)
        chains.append(Chain(name, read, {**data, **drawn, "sha256": file_hash(data["path"])}, stages))
    return chains


def _stage(config: DictConfig, name: str, tools: Mapping[str, Tools]) -> Stage:
    from hydra.utils import instantiate

    from data_gen.pipeline import Stage

    step: Any = OmegaConf.to_container(config.steps[name], resolve=True)
    llm = step.pop("llm", LLMS[0])
    if llm not in tools:
        raise ValueError(f"steps.{name}.llm: expected one of {', '.join(LLMS)}, got {llm!r}")
    if config.dry_run and name == "source":
        step["statements"] = True  # stand-ins for what an LLM would write
    shared = {"seed": config.seed, "splits": dict(config.splits)}
    return Stage(name, instantiate({**step, "_partial_": True}, _convert_="all"), {**step, **shared}, tools[llm])


@hydra.main(version_base="1.3", config_path=str(configs_dir()), config_name="data_gen")
def main(config: DictConfig) -> None:
    """Make data, and end with the folder's path."""
    with plain_errors():
        folder = run(config)
        if not config.dry_run:
            print(f"dataset: {folder}")


if __name__ == "__main__":
    main()
