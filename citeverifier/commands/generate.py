"""python -m citeverifier.commands.generate llm=qwen3_8b: an LLM answers from documents, citing them."""

from __future__ import annotations

import logging
from pathlib import Path

from omegaconf import DictConfig

from citeverifier.commands.entry import entry
from citeverifier.commands.errors import plain_errors

log = logging.getLogger(__name__)


def run(config: DictConfig) -> Path:
    """Leave responses.jsonl in the run's folder and return it; questions without an answer are counted and named."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.utils import instantiate

    from citeverifier.rating.generate_responses import generate_responses
    from citeverifier.records import Example, example_to_json, write_jsonl

    if config.documents not in ("retrieved", "oracle"):
        raise ValueError(f"documents: expected retrieved or oracle, got {config.documents!r}")
    folder = Path(HydraConfig.get().runtime.output_dir)
    llm = instantiate(config.llm, _convert_="all")
    records = instantiate(config.data, _convert_="all")
    examples = [record for record in records if isinstance(record, Example) and config.lang in ("all", record.lang)]
    if not examples:
        raise ValueError(
            f"data.path={config.data.get('path')}: expected examples (questions with documents) in lang={config.lang}, "
            f"got none in {len(records)} records"
        )
    system = config.system or llm.name.split("/")[-1] + ("-oracle" if config.documents == "oracle" else "")
    answered, failed, cost = generate_responses(
        llm, examples, folder, system=system, oracle=config.documents == "oracle", prompt=config.prompt,
        prompt_lang=config.prompt_lang, max_tokens=config.max_tokens,
    )  # fmt: skip
    if llm.options.dry_run:
        print(f"dry run: {cost.calls} calls, about {cost.tokens} prompt tokens; nothing was sent")
        return folder
    path = folder / "responses.jsonl"
    write_jsonl(path, map(example_to_json, answered))
    for key, reason in list(failed.items())[:5]:
        log.warning("no answer to %s: %s", key, reason)
    print(f"{len(answered)} answers, {len(failed)} questions without one; {cost.calls} calls, {cost.tokens} tokens")
    print(f"responses: {path}")
    return folder


@entry("generate")
def main(config: DictConfig) -> None:
    """Generate."""
    with plain_errors():
        run(config)


if __name__ == "__main__":
    main()
