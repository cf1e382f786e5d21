"""Training throughput beside a plain Trainer that pads to 512 and draws random batches: one table, ratios in one run.

    python benchmarks/training.py [--pairs 32] [--batch 16] [--rounds 3]

Both train the same pairs, with the same loss and batch size; rounds alternate, medians count. Real tokens are those of
the pairs, unpadded; of late interaction every pair's own, also where ours encodes what a batch shares once. On a CPU
with the shipped verifier's encoder; on a GPU with random weights in the shapes of HerBERT-large and XLM-R-large.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
import typer
from common import SMALL, by_turns, machine, write
from datasets import Dataset
from transformers import AutoConfig, AutoModel, Trainer, TrainerCallback, TrainingArguments

from citeverifier.data.mini import load_mini
from citeverifier.data.pair_recipes import ordinal_pairs
from citeverifier.evaluation.reporting.tables import print_table
from citeverifier.models.checkpoint import backbone_path
from citeverifier.models.cut_points import interval_loss
from citeverifier.training.build import build_model
from citeverifier.training.hyperparameters import Backbone, TrainingOptions
from citeverifier.training.ordinal_training import ordinal_trainer
from citeverifier.training.prepared_pairs import Prepared, inputs_for, prepare

LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
VOCABULARIES = {"HerBERT-large": 50_000, "XLM-R-large": 250_002}
WIDTH = 512


class Clock(TrainerCallback):
    """Seconds from the beginning of training to the end of its last step."""

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        """Start."""
        self.began = time.perf_counter()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """A step is done on the device, too."""
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        self.seconds = time.perf_counter() - self.began


def padded(batch: dict[str, Any]) -> dict[str, Any]:
    """A batch with every text padded to WIDTH."""
    names = ("input_ids", "token_type_ids", "attention_mask", "document_ids", "document_attention", "document_mask")
    for name in names:
        if name in batch:
            batch[name] = torch.nn.functional.pad(batch[name], (0, WIDTH - batch[name].shape[1]))
    return batch


def apart(items: Sequence[Mapping[str, Any]], inputs: Any) -> dict[str, Any]:
    """A late interaction batch in which every pair brings its own statement and documents."""
    batch = inputs.collate(items)
    windows: list[list[int]] = []
    index = torch.full_like(batch["document_index"], -1)
    for row, item in enumerate(items):
        own = range(len(windows), len(windows) + len(item["windows"]))
        index[row, : len(own)] = torch.tensor(own)
        windows += item["windows"]
    statements = inputs.statements_batch([item["statement"] for item in items])
    positions = {"document_index": index, "statement_index": torch.arange(len(items))}
    return batch | statements | inputs.documents_batch(windows) | positions


def plain(options: TrainingOptions, steps: int, folder: str) -> Callable[[Prepared], tuple[Any, Clock]]:
    """A Trainer as it comes: its precision, its optimizer, the model's own dropout, all weights trained."""
    model, tokenizer = build_model(replace(options, dropout=None, frozen_embeddings=False, attention="sdpa"))
    inputs = inputs_for(model, tokenizer, options)

    def make(data: Prepared) -> tuple[Any, Clock]:
        def collate(rows: Sequence[Mapping[str, int]]) -> dict[str, Any]:
            chosen = [row["position"] for row in rows]
            items = [data.items[i] for i in chosen]
            batch = inputs.collate(items) if options.shape == "cross_encoder" else apart(items, inputs)
            return {"labels": torch.from_numpy(data.labels[chosen]), **padded(batch)}

        def loss(outputs: Any, rows: Any, num_items_in_batch: Any = None) -> Any:
            return interval_loss(outputs["logits"], rows, options.delta).mean()

        clock = Clock()
        arguments = TrainingArguments(
            output_dir=folder, max_steps=steps, per_device_train_batch_size=options.batch_size, save_strategy="no",
            report_to=[], disable_tqdm=True, logging_strategy="no", remove_unused_columns=False,
            label_names=["labels"], use_cpu=not torch.cuda.is_available(),
        )  # fmt: skip
        positions = Dataset.from_dict({"position": list(range(len(data.items)))})
        trainer = Trainer(
            model=model, args=arguments, data_collator=collate, train_dataset=positions, compute_loss_func=loss,
            callbacks=[clock],
        )  # fmt: skip
        return trainer, clock

    return make


def ours(options: TrainingOptions) -> Callable[[Prepared], tuple[Any, Clock]]:
    """What train.py does."""
    model, tokenizer = build_model(options)
    inputs = inputs_for(model, tokenizer, options)

    def make(data: Prepared) -> tuple[Any, Clock]:
        clock = Clock()
        few = Prepared(data.pairs[:8], data.items[:8], data.labels[:8])  # Trainer wants a dev set; it is not timed
        trainer = ordinal_trainer(model, inputs, options, data, few)
        trainer.add_callback(clock)
        return trainer, clock

    return make


def prepared(options: TrainingOptions, count: int) -> tuple[Prepared, float]:
    """So many pairs of the bundled set as a model without a reader takes them, and the seconds that took."""
    model, tokenizer = build_model(options)
    pairs = list(ordinal_pairs(load_mini("train")))[: 2 * count]  # some are too long
    started = time.perf_counter()
    data = prepare(inputs_for(model, tokenizer, options), pairs, options, reads=False)
    seconds = (time.perf_counter() - started) / 2
    return Prepared(data.pairs[:count], data.items[:count], data.labels[:count]), seconds


def measure(shape: Any, backbone: str, count: int, batch: int, rounds: int) -> dict[str, Any]:
    """Medians of both and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        steps = count // batch
        options = TrainingOptions(
            output_dir=folder, shape=shape, backbone=Backbone(backbone), batch_size=batch, max_steps=steps,
            max_length=WIDTH if shape == "cross_encoder" else 256, evaluations=1, patience=None,
        )  # fmt: skip
        data, tokenising = prepared(options, count)
        makers = {"plain": plain(options, steps, folder), "ours": ours(options)}

        def trained(make: Callable[[Prepared], tuple[Any, Clock]]) -> float:
            trainer, clock = make(data)
            trainer.train()
            return clock.seconds

        seconds = by_turns(rounds, {name: partial(trained, make) for name, make in makers.items()}, warm_up=1)
        tokens = sum(data.lengths)
        row: dict[str, Any] = {"pairs": count, "tokens": tokens, "tokenising_seconds": tokenising}
        for name, taken in seconds.items():
            row[name] = {"pairs_per_second": count / statistics.median(taken)}
            row[name]["tokens_per_second"] = tokens / statistics.median(taken)
        row["ratio"] = row["ours"]["tokens_per_second"] / row["plain"]["tokens_per_second"]
        row["tokenising_share"] = tokenising / (tokenising + statistics.median(seconds["ours"]))
        return row


def large(name: str, folder: str) -> str:
    """A random encoder in a large backbone's shape, with the shipped verifier's tokenizer; returns its folder."""
    from transformers import AutoTokenizer

    source = backbone_path(SMALL)
    config = AutoConfig.from_pretrained(source, vocab_size=VOCABULARIES[name], **LARGE)
    AutoModel.from_config(config).save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    return folder


def main(pairs: int = 32, batch: int = 16, rounds: int = 3) -> None:
    """Measure each shape and print the table."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        cuda = torch.cuda.is_available()
        models = {name: large(name, f"{folder}/{name}") for name in VOCABULARIES} if cuda else {"small": SMALL}
        for name, path in models.items():
            for shape in ("cross_encoder", "late_interaction"):
                found[f"{name}, {shape}"] = measure(shape, path, pairs, batch, rounds)
    rows = [
        (
            name, f"{row['plain']['tokens_per_second']:.0f}", f"{row['ours']['tokens_per_second']:.0f}",
            f"{row['ratio']:.2f}", f"{row['ours']['pairs_per_second']:.1f}", f"{row['tokenising_share']:.1%}",
        )
        for name, row in found.items()
    ]  # fmt: skip
    print_table(machine(), ("model", "plain tok/s", "ours tok/s", "ratio", "pairs/s", "tokenising"), rows)
    write("training", found)


if __name__ == "__main__":
    typer.run(main)
