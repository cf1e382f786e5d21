"""One-way reading: documents never see a statement, a score depends on its pair alone, tokens learn what is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel

from citeverifier.data.mini import load_mini
from citeverifier.data.pair_recipes import ordinal_pairs
from citeverifier.models.checkpoint import CheckpointConfig, load_checkpoint, load_tokenizer, save_checkpoint
from citeverifier.models.inputs import LateInteractionInputs
from citeverifier.models.one_way import OneWay, token_losses
from citeverifier.models.one_way_engine import COPIES, OneWayEngine, _groups
from citeverifier.records import Document, Pair, Support

Built = tuple[OneWay, LateInteractionInputs]


@pytest.fixture(scope="module", params=["bert", "xlm-roberta"])
def built(tiny: Any, request: pytest.FixtureRequest) -> Built:
    torch.manual_seed(0)
    folder = str(tiny(request.param))
    model = OneWay(AutoModel.from_pretrained(folder)).eval()
    with torch.no_grad():
        model.head.segment.normal_()
    return model, LateInteractionInputs.of(load_tokenizer(folder, 512), window=48, limit=512, context=True)


@pytest.fixture(scope="module")
def some_pairs() -> list[Pair]:
    return list(ordinal_pairs(load_mini("dev")[:4]))[:40]


def alone(built: Built, pair: Pair) -> float:
    model, inputs = built
    with torch.inference_mode():
        return float(model(**inputs.collate([inputs.prepare(pair)]))["logits"])


def test_a_score_depends_on_its_pair_alone(built: Built, some_pairs: list[Pair]) -> None:
    engine = OneWayEngine(*built)
    engine.batches.budget = 300
    values = engine.logits(some_pairs, Support.FULL).values
    assert np.ptp(values) > 0.01
    assert values == pytest.approx([alone(built, pair) for pair in some_pairs], abs=1e-4)


def test_batches_keep_within_their_budget_and_go_on_in_halves_where_memory_runs_out(
    built: Built, some_pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, inputs = built
    items = {i: inputs.prepare(pair) for i, pair in enumerate(some_pairs)}
    groups = list(_groups(items, 300))
    assert sorted(i for group in groups for i in group) == list(items)
    for group in groups:
        batch = inputs.collate([items[i] for i in group])
        rows, width = batch["document_index"].shape[0], batch["document_ids"].shape[1]
        padded = batch["document_ids"].numel() + rows * batch["statement_ids"].shape[1]
        assert len(group) == 1 or padded <= 300
        assert len(group) == 1 or rows * batch["document_index"].shape[1] * width <= COPIES * 300
    engine = OneWayEngine(model, inputs)
    whole = engine.logits(some_pairs, Support.FULL)
    forward = model.forward

    def small(**tensors: torch.Tensor) -> Any:
        if len(tensors["statement_index"]) > 2:
            raise torch.OutOfMemoryError
        return forward(**tensors)

    monkeypatch.setattr(model, "forward", small)
    halves = engine.logits(some_pairs, Support.FULL)
    assert halves.values == pytest.approx(whole.values, abs=1e-4)
    assert halves.tokens == whole.tokens > 0


def test_it_is_the_encoder_where_there_is_no_document_to_read(built: Built) -> None:
    """A statement that attends to itself alone gets the encoder's own vectors (but for its segment)."""
    model, inputs = built
    batch = inputs.collate([inputs.prepare(Pair.of("Vistula flows north.", ["Nothing."]))])
    seen: list[torch.Tensor] = []
    hook = model.head.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    segment = model.head.segment.detach().clone()
    with torch.inference_mode():
        model.head.segment.zero_()
        model(**{**batch, "document_index": torch.full_like(batch["document_index"], -1)})
        model.head.segment.copy_(segment)
        own = model.encoder(batch["statement_ids"], batch["statement_attention"]).last_hidden_state
    hook.remove()
    counted = batch["statement_mask"]
    assert torch.allclose(seen[0][counted], own[counted], atol=1e-4)


def test_the_order_of_documents_makes_no_difference(built: Built) -> None:
    documents = [Document("A", "The Vistula is long."), Document("B", "It flows north.")]
    pair, turned = (Pair.of("Vistula flows north.", order) for order in (documents, documents[::-1]))
    assert alone(built, pair) == pytest.approx(alone(built, turned), abs=1e-5)
    assert alone(built, pair) != pytest.approx(alone(built, Pair.of("Vistula flows north.", documents[:1])), abs=1e-5)


def test_a_statement_that_is_too_long_is_unscored(built: Built) -> None:
    model, inputs = built
    short = LateInteractionInputs(inputs.tokenizer, inputs.pad_id, 48, 8, context=False)
    pairs = [Pair.of("Vistula " * 20, ["A."], id="long"), Pair.of("It is.", ["A."], id="short")]
    found = OneWayEngine(model, short).logits(pairs, Support.FULL)
    assert np.isnan(found.values).tolist() == [True, False]
    assert "the model takes 8" in found.reasons[0]


def test_token_losses_count_known_tokens_and_those_not_told_more() -> None:
    logits = torch.tensor([[0.0, 2.0, -3.0], [1.0, 1.0, 1.0]])
    told = torch.tensor([[1, 0, -1], [-1, -1, -1]])
    expected = (np.log(2) + 3 * np.log1p(np.exp(2.0))) / 4
    assert token_losses(logits, told).tolist() == pytest.approx([expected, 0.0])


def test_which_tokens_are_borne_out(built: Built) -> None:
    _, inputs = built
    statement = "The Vistula flows south."
    where = (statement.index("south"), statement.index("south") + 5)
    full = (Support.FULL, Support.FULL)
    below = (Support.NONE, Support.PARTIAL)

    def told(label: Any, unsupported: tuple[tuple[int, int], ...] = (), context: str | None = None) -> list[int]:
        pair = Pair("p", "e", "s", "en", "g", statement, (Document("", "It flows north."),), "k", context, *label,
                    unsupported=unsupported)  # fmt: skip
        _, counted = inputs.statement(inputs.statement_key(pair))
        labels = inputs.borne_out(pair, counted)
        assert len(labels) == len(counted)
        assert all(label == -1 for label, counts in zip(labels, counted, strict=True) if not counts)
        return [label for label, counts in zip(labels, counted, strict=True) if counts]

    assert set(told(full)) == {1}
    assert set(told(below)) == {-1}
    marked = told(below, (where,))
    assert 0 < marked.count(0) < len(marked)
    assert told(below, (where,), "What is it?") == marked
    words = inputs.tokenizer.encode(statement, add_special_tokens=False)
    outside = [label for label, (start, _) in zip(marked, words.offsets, strict=True) if start < where[0]]
    assert set(outside) == {1}


def test_a_checkpoint_comes_back(built: Built, some_pairs: list[Pair], tmp_path: Path, tiny: Any) -> None:
    model, inputs = built
    kind = model.config.model_type
    config = CheckpointConfig("one_way", 1.5, 1.0, {"partial": 0.5, "full": 0.5}, 48, True)
    save_checkpoint(tmp_path, model, load_tokenizer(str(tiny(kind)), 512), config)
    again, _, read = load_checkpoint(tmp_path, torch.float32)
    assert read == config
    assert not list(tmp_path.glob("*.py"))
    one, two = (OneWayEngine(each, inputs).logits(some_pairs, Support.FULL).values for each in (model, again))
    assert two == pytest.approx(one, abs=1e-5)


def test_other_encoders_are_refused(tiny: Any) -> None:
    with pytest.raises(ValueError, match=r"one-way reading: expected an encoder of bert, .*, got modernbert"):
        OneWay(AutoModel.from_pretrained(tiny("modernbert")))
