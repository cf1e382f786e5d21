"""Training a verifier: pairs in, a calibrated checkpoint folder out. One path for both shapes."""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citeverifier.metrics.decisions import auroc, best_threshold
from citeverifier.models.checkpoint import CheckpointConfig, position_limit, save_checkpoint
from citeverifier.models.device import native_bf16
from citeverifier.models.ordinal import (
    Calibration,
    fit_calibration,
    fold_into,
    probability,
)
from citeverifier.paths import LATEST
from citeverifier.processes import world_size
from citeverifier.provenance import provenance
from citeverifier.records import LEVELS, Pair, Support
from citeverifier.training.build import build_model, encoder_of, is_trained, merge_lora
from citeverifier.training.labels import Column, label_table
from citeverifier.training.options import TrainingOptions
from citeverifier.training.order import by_length, shuffled_runs, single_first, whole_run

log = logging.getLogger(__name__)

REPORT = "training.json"
START_PAIRS = 64  # from which a new head learns its encoder's cosines


@dataclass(frozen=True)
class Trained:
    """A finished run: its folder, what dev says of it and how fast it went (in training.json too)."""

    folder: Path
    dev: Mapping[str, float]
    seconds: float
    dropped: int
    throughput: Mapping[str, float] = field(default_factory=dict)


def train(
    train_pairs: Sequence[Pair],
    dev_pairs: Sequence[Pair],
    options: TrainingOptions,
    data: Mapping[str, Any] | None = None,
    teacher: NDArray[np.float64] | None = None,
) -> Trained:
    """Train, calibrate on dev, and write the checkpoint to `options.output_dir`.

    `data` describes where the pairs came from, for training.json and the model card. `teacher`: (n, 2), a bigger
    verifier's probabilities of partial and of full for the training pairs, nan where it gave none.

    With `options.resume`, goes on from the last whole intermediate checkpoint; a folder that holds a finished one is
    left as it is.

    Raises ValueError where labels are missing, dev lacks a class, or nothing fits the length limit.
    """
    from transformers import set_seed

    folder = Path(options.output_dir)
    if options.resume and (folder / REPORT).is_file():
        report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        log.info("%s holds a finished checkpoint; nothing to resume", folder)
        return Trained(folder, report["dev"], report["seconds"], report["dropped"], report.get("throughput", {}))
    if (teacher is None) != (options.distillation == 0) or (teacher is not None and options.delta == 0):
        raise ValueError(
            "expected a teacher (teacher=CHECKPOINT) with training.distillation and delta above 0, or neither teacher "
            f"nor distillation; came {'no' if teacher is None else 'a'} teacher, distillation={options.distillation}, "
            f"delta={options.delta}"
        )
    started = time.perf_counter()
    set_seed(options.seed)
    if options.report_to_wandb and not os.environ.get("WANDB_API_KEY"):
        os.environ.setdefault("WANDB_MODE", "offline")
    model, tokenizer = build_model(options)
    inputs = inputs_for(model, tokenizer, options)
    train_set = prepare(inputs, train_pairs, options, teacher)
    dev_set = prepare(inputs, dev_pairs, options)
    dropped = len(train_pairs) - len(train_set.pairs)
    log.info(
        "training on %d pairs (%d over the length limit dropped), dev %d (%d dropped); tokenised in %.1f s",
        len(train_set.pairs),
        dropped,
        len(dev_set.pairs),
        len(dev_pairs) - len(dev_set.pairs),
        train_set.seconds + dev_set.seconds,
    )
    start_head(model, inputs, train_set, options)
    trainer = trainer_for(model, inputs, options, train_set, dev_set)
    trainer.train(resume_from_checkpoint=_last_whole(folder / "checkpoints") if options.resume else None)
    predicted = trainer.predict(trainer.eval_dataset)
    # the sampler may reorder dev, so its labels are taken from the same call
    logits, labels_dev = np.asarray(predicted.predictions, dtype=np.float64).reshape(-1), predicted.label_ids
    seconds = time.perf_counter() - started
    calibration = fit_calibration(logits, labels_dev[:, : Column.WEIGHT + 1], options.delta)
    dev = _dev_metrics(calibration.fold(logits), labels_dev, calibration.delta)
    throughput = trainer.throughput.report()
    if throughput:
        log.info(
            "trained on %.0f real tokens a second, %.0f %% model FLOPs utilisation of %.2f TFLOP/s a process",
            throughput["tokens_per_second"],
            100 * throughput["mfu"],
            throughput["peak_tflops"],
        )
    finished = Trained(folder, dev, seconds, dropped, throughput)
    trained = _trained_model(trainer, options)
    if trainer.is_world_process_zero():
        _save(trained, tokenizer, options, calibration, finished, train_pairs, data or {}, trainer.state)
    trainer.accelerator.wait_for_everyone()
    return finished


def inputs_for(model: Any, tokenizer: Any, options: TrainingOptions) -> Any:
    """What tokenises pairs for a model of either shape."""
    from citeverifier.models.inputs import CrossEncoderInputs, LateInteractionInputs

    if options.shape == "late_interaction":
        limit = position_limit(model.config)
        return LateInteractionInputs(tokenizer, options.max_length, limit, options.reads_context)
    return CrossEncoderInputs(tokenizer, options.max_length, options.reads_context)


@dataclass(frozen=True)
class Prepared:
    """Pairs within the length limit, their token ids, their label rows, and how long tokenising took."""

    pairs: list[Pair]
    items: list[dict[str, Any]]
    labels: NDArray[np.float32]
    seconds: float

    @property
    def lengths(self) -> list[int]:
        """Tokens of each pair."""
        return [item["length"] for item in self.items]


def prepare(
    inputs: Any, pairs: Sequence[Pair], options: TrainingOptions, teacher: NDArray[np.float64] | None = None
) -> Prepared:
    """Tokenise once for all epochs; pairs over the length limit are left out."""
    from tqdm.auto import tqdm

    from citeverifier.models.inputs import StatementTooLong

    started = time.perf_counter()
    kept, items, scored = [], [], []
    for number, pair in enumerate(tqdm(pairs, desc="tokenising", disable=None, leave=False)):
        try:
            item = inputs.prepare(pair)
        except StatementTooLong:
            continue
        if options.shape == "late_interaction" or item["length"] <= options.max_length:
            items.append(item)
            kept.append(pair)
            scored.append(number)
    if not kept:
        raise ValueError(
            f"expected pairs within {options.max_length} tokens, came {len(pairs)} pairs, none of which fits"
        )
    labels = label_table(kept, None if teacher is None else teacher[scored])
    return Prepared(kept, items, labels, time.perf_counter() - started)


def start_head(model: Any, inputs: Any, train_set: Prepared, options: TrainingOptions) -> None:
    """Start a new late-interaction head at this encoder's cosines on some of the supported training pairs."""
    from citeverifier.models.late_interaction import typical_matches

    if options.shape != "late_interaction" or is_trained(options.backbone):
        return
    supported = [i for i, row in enumerate(train_set.labels) if row[Column.MIN] == Support.FULL]
    of_examples = list({train_set.pairs[i].example: i for i in supported}.values())
    if len(of_examples) > 1:
        chosen = random.Random(options.seed).sample(of_examples, min(START_PAIRS, len(of_examples)))
        unrelated, related = typical_matches(model.eval(), inputs.collate([train_set.items[i] for i in chosen]))
        log.info("tokens match at cosine %.2f in their own documents, %.2f in others'", related, unrelated)
        model.head.start_between(unrelated, related)


def trainer_for(model: Any, inputs: Any, options: TrainingOptions, train_set: Prepared, dev_set: Prepared) -> Any:
    """The Trainer of a run, ready to train."""
    import torch
    from datasets import Dataset
    from transformers import EarlyStoppingCallback, TrainerCallback, TrainingArguments

    from citeverifier.training.losses import training_loss
    from citeverifier.training.throughput import Throughput
    from citeverifier.training.trainer import VerifierTrainer

    items = train_set.items + dev_set.items
    labels = np.concatenate([train_set.labels, dev_set.labels])
    if options.delta == 0 and bool(np.any((labels[:, 0] == 1) & (labels[:, 1] == 1))):
        raise ValueError("delta=0 trains a binary verifier: expected no pair labelled exactly partial, came some")
    batch = options.batch_size * options.gradient_accumulation * world_size()
    steps = options.max_steps or max(1, round(options.epochs * len(train_set.items) / batch))

    def epoch(number: int) -> list[int]:
        if options.shape == "late_interaction":
            order = shuffled_runs(train_set.pairs, options.seed + number)
        else:
            order = by_length(train_set.lengths, batch, options.seed + number)
        return single_first(order, train_set.pairs) if options.curriculum and number == 0 else order

    # Laid down here, so that it is the same for any number of processes; the Trainer takes it as it is.
    order = whole_run(epoch, steps * batch)
    dev_order = sorted(range(len(train_set.items), len(items)), key=lambda i: -items[i]["length"])

    def collate(rows: Sequence[Mapping[str, int]]) -> dict[str, Any]:
        positions = [row["position"] for row in rows]
        # Labels first: Trainer takes the batch size from the first tensor it meets.
        return {"labels": torch.from_numpy(labels[positions]), **inputs.collate([items[i] for i in positions])}

    def loss(outputs: Any, rows: Any, num_items_in_batch: Any = None) -> Any:
        losses = training_loss(
            outputs["logits"], rows, options.delta,
            contrastive=options.contrastive, distillation=options.distillation,
        )  # fmt: skip
        # num_items_in_batch counts label elements, so many a pair, over all accumulated batches
        return losses.mean() if num_items_in_batch is None else losses.sum() / (num_items_in_batch / rows.shape[1])

    def metrics(prediction: Any) -> dict[str, float]:
        return _aurocs(np.asarray(prediction.predictions, dtype=np.float64).reshape(-1), prediction.label_ids)

    every = max(1, steps // options.evaluations)
    cuda = torch.cuda.is_available()
    bf16 = native_bf16() if options.bf16 is None else options.bf16
    arguments = TrainingArguments(
        output_dir=str(Path(options.output_dir) / "checkpoints"),
        per_device_train_batch_size=options.batch_size,
        per_device_eval_batch_size=options.batch_size,
        gradient_accumulation_steps=options.gradient_accumulation,
        max_steps=steps,
        warmup_steps=options.warmup,
        lr_scheduler_type="linear",
        train_sampling_strategy="sequential",
        eval_strategy="steps",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="auroc",
        greater_is_better=True,
        logging_steps=max(1, steps // 50),
        bf16=bf16,
        use_cpu=not cuda,
        torch_compile=options.compile,
        remove_unused_columns=False,
        label_names=["labels"],
        report_to=["wandb"] if options.report_to_wandb else [],
        seed=options.seed,
        data_seed=options.seed,
        dataloader_pin_memory=cuda,
        ddp_find_unused_parameters=False,
    )
    callbacks: list[TrainerCallback] = []
    if options.patience is not None:
        callbacks.append(EarlyStoppingCallback(options.patience))
    return VerifierTrainer(
        options,
        Throughput(encoder_of(model), bf16),
        model=model,
        args=arguments,
        data_collator=collate,
        train_dataset=Dataset.from_dict({"position": order}),
        eval_dataset=Dataset.from_dict({"position": dev_order}),
        compute_loss_func=loss,
        compute_metrics=metrics,
        callbacks=callbacks,
    )


def _last_whole(folder: Path) -> str | None:
    """The newest intermediate checkpoint that was written to its end (its state file comes last and parses)."""
    for candidate in sorted(folder.glob("checkpoint-*"), key=lambda p: int(p.name.split("-")[1]), reverse=True):
        try:
            json.loads((candidate / "trainer_state.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            log.warning("%s was cut off while it was written; looking for an earlier one", candidate)
            continue
        return str(candidate)
    return None


def decided(labels: NDArray[np.float32], level: Support) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(which rows of a label table are decided at a level, whether they reach it); rows of no weight decide nothing."""
    reaches, misses = labels[:, Column.MIN] >= level, labels[:, Column.MAX] < level
    return (reaches | misses) & (labels[:, Column.WEIGHT] > 0), reaches


def _aurocs(scores: NDArray[np.float64], labels: NDArray[np.float32]) -> dict[str, float]:
    found: dict[str, float] = {}
    for level in LEVELS:
        known, gold = decided(labels, level)
        found[f"auroc_{level.label}"] = float(auroc(gold[known], scores[known]))
    defined = [value for value in found.values() if not np.isnan(value)]
    if not defined:
        raise ValueError("dev: expected pairs that reach a support level and pairs that do not, came one class only")
    return {**found, "auroc": float(np.mean(defined))}


def _dev_metrics(folded: NDArray[np.float64], labels: NDArray[np.float32], delta: float) -> dict[str, float]:
    """AUROC per level and the fitted thresholds (probabilities) by level.

    Level partial is asked of one document at a time, so its threshold is fitted on such premises where dev has them.
    """
    found = _aurocs(folded, labels)
    for level in LEVELS:
        known, gold = decided(labels, level)
        alone = known & (labels[:, Column.DOCUMENTS] == 1)
        if level == Support.PARTIAL and len(set(gold[alone])) == 2:
            known = alone
        found[f"threshold_{level.label}"] = best_threshold(gold[known], probability(folded[known], level, delta))
    if delta == 0:  # one probability answers both levels, so one threshold does
        one = next(value for level in LEVELS if not np.isnan(value := found[f"threshold_{level.label}"]))
        found |= {f"threshold_{level.label}": one for level in LEVELS}
    for level in LEVELS:
        name = f"threshold_{level.label}"
        if np.isnan(found[name]):
            log.warning("dev decides no pair both ways at level %s; its threshold stays at 0.5", level.label)
            found[name] = 0.5
    return found


def _trained_model(trainer: Any, options: TrainingOptions) -> Any:
    """The trained model, unwrapped; FSDP's parts are put together in a new one, on the first process alone."""
    if not trainer.is_fsdp_enabled:
        return trainer.accelerator.unwrap_model(trainer.model, keep_torch_compile=False)
    state = trainer.accelerator.get_state_dict(trainer.model)  # all processes take part
    if not trainer.is_world_process_zero():
        return None
    model, _ = build_model(options)
    model.load_state_dict(state)
    return model


def _save(
    model: Any,
    tokenizer: Any,
    options: TrainingOptions,
    calibration: Calibration,
    finished: Trained,
    pairs: Sequence[Pair],
    data: Mapping[str, Any],
    state: Any,
) -> None:
    from citeverifier.evaluation.reporting.model_card import model_card
    from citeverifier.evaluation.reporting.plain import plain
    from citeverifier.models.cross_encoder import last_linear

    model = merge_lora(model, options)
    late = options.shape == "late_interaction"
    fold_into(model.head.output if late else last_linear(model), calibration)
    config = CheckpointConfig(
        shape=options.shape,
        delta=calibration.delta,
        temperature=calibration.temperature,
        thresholds={level.label: finished.dev[f"threshold_{level.label}"] for level in LEVELS},
        max_length=options.max_length,
        reads_context=options.reads_context,
        base_model=options.backbone.name,
        languages=tuple(sorted({pair.lang for pair in pairs})),
    )
    save_checkpoint(finished.folder, model, tokenizer, config)
    report: dict[str, Any] = {
        "options": asdict(options),
        "data": dict(data),
        "kinds": dict(sorted(Counter(pair.kind.split(":")[0] for pair in pairs).items())),
        "dev": dict(finished.dev),
        "seconds": round(finished.seconds, 1),
        "steps": state.global_step,
        "dropped": finished.dropped,
        "processes": world_size(),
        "throughput": dict(finished.throughput),
        "losses": [{"step": entry["step"], "loss": entry["loss"]} for entry in state.log_history if "loss" in entry],
        "provenance": provenance(),
    }
    report = plain(report)
    (finished.folder / "README.md").write_text(model_card(config, report), encoding="utf-8")
    (finished.folder / REPORT).write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    shutil.rmtree(finished.folder / "checkpoints", ignore_errors=True)
    LATEST.parent.mkdir(exist_ok=True)
    LATEST.write_text(f"{finished.folder.resolve()}\n", encoding="utf-8")
