"""Late interaction against hand-computed matches; batched equals single, whatever shares the batch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel

from citeverifier.data.mini import load_mini
from citeverifier.data.pair_recipes import ordinal_pairs
from citeverifier.models.checkpoint import load_tokenizer
from citeverifier.models.inputs import LateInteractionInputs
from citeverifier.models.late_interaction import (
    LateInteraction,
    LateInteractionHead,
    best_of_many,
    best_windows,
    mean_matches,
    typical_matches,
    window_matches,
)
from citeverifier.models.late_interaction_engine import LateInteractionEngine
from citeverifier.models.late_interaction_tokens import StatementTooLong
from citeverifier.records import Document, Pair, Support


@pytest.fixture(scope="module")
def built(tiny: Any) -> tuple[LateInteraction, LateInteractionInputs]:
    folder = str(tiny("bert"))
    encoder = AutoModel.from_pretrained(folder, attn_implementation="eager")
    model = LateInteraction(encoder).eval()
    with torch.no_grad():
        model.head.salience.weight.normal_(generator=torch.Generator().manual_seed(0))
    return model, LateInteractionInputs.of(load_tokenizer(folder, 512), window=48, limit=512, context=True)


@pytest.fixture(scope="module")
def some_pairs() -> list[Pair]:
    return list(ordinal_pairs(load_mini("dev")[:4]))[:40]


def test_window_matches_take_the_greatest_cosine_in_each_window() -> None:
    statement = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    windows = torch.tensor([[[[1.0, 0.0], [0.6, 0.8]], [[-1.0, 0.0], [0.0, 1.0]]]])
    every = torch.ones(1, 2, 2, dtype=torch.bool)
    assert torch.allclose(window_matches(statement, windows, every), torch.tensor([[[1.0, 0.0], [0.8, 1.0]]]))
    first_only = torch.tensor([[[True, False], [False, False]]])
    assert window_matches(statement, windows, first_only).tolist() == [[[1.0, -1.0], [0.0, -1.0]]]


def test_each_document_counts_with_its_best_window() -> None:
    matches = torch.tensor([[[0.9, 0.2, 0.1], [0.1, 0.6, 0.7]]])  # two tokens, three windows
    even, second_matters = torch.tensor([[0.5, 0.5]]), torch.tensor([[0.1, 0.9]])
    apart, together, absent = torch.tensor([[0, 1, 2]]), torch.tensor([[0, 0, 1]]), torch.tensor([[0, 0, -1]])
    even, second_matters = mean_matches(matches, even), mean_matches(matches, second_matters)
    assert best_windows(even, apart).tolist() == [[True, True, True]]
    assert best_windows(even, together).tolist() == [[True, False, True]]
    assert best_windows(second_matters, together).tolist() == [[False, True, True]]
    assert best_windows(second_matters, absent).tolist() == [[False, True, False]]


def test_of_many_documents_the_best_are_read() -> None:
    means = torch.tensor([[0.1, 0.9, 0.2, 0.8, 0.7]])
    every = torch.ones(1, 5, dtype=torch.bool)
    assert best_of_many(means, every).tolist() == [[1, 3, 4]]
    assert best_of_many(means, means < 0.75).tolist() == [[0, 2, 4]]
    assert {1, 3} < set(best_of_many(means, (means > 0.75) & every)[0].tolist()), "and one that is not there"
    assert best_of_many(means[:, :2], every[:, :2]).tolist() == [[0, 1]]


def test_padding_a_long_document_does_not_add_up_to_support(
    built: tuple[LateInteraction, LateInteractionInputs],
) -> None:
    """Words of the statement that lie far apart, each in a window of its own, support less than together."""
    model, inputs = built
    filler = " ".join(f"filler{i}" for i in range(60))
    together = Document("", f"Vistula flows north. {filler} {filler}")
    scattered = Document("", f"Vistula {filler} flows {filler} north.")
    pairs = [
        Pair(f"p{i}", "e", "s", "en", "g", "Vistula flows north.", (document,), "k")
        for i, document in enumerate([together, scattered])
    ]
    found = LateInteractionEngine(model, inputs).logits(pairs, Support.FULL)
    assert found.windowed == 2
    assert found.values[0] > found.values[1]


def test_head_pools_as_computed_by_hand() -> None:
    head = LateInteractionHead(2)
    with torch.no_grad():
        head.output.weight.copy_(torch.tensor([[1.0, 0.0, 0.0]]))
        head.output.bias.zero_()
    matches, mask = torch.tensor([[0.9, 0.3, 0.0]]), torch.tensor([[True, True, False]])
    tokens = torch.zeros(1, 3, 2)
    assert head(tokens, mask, matches).item() == pytest.approx(0.6, abs=1e-6)
    with torch.no_grad():
        head.output.weight.copy_(torch.tensor([[0.0, 1.0, 0.0]]))
    b = head.sharpness.exp().item()
    expected = -np.log((np.exp(-b * 0.9) + np.exp(-b * 0.3)) / 2) / b
    assert head(tokens, mask, matches).item() == pytest.approx(expected, abs=1e-5)


def test_a_match_that_rises_never_lowers_the_untrained_logit() -> None:
    head, tokens, mask = LateInteractionHead(4), torch.zeros(1, 3, 4), torch.ones(1, 3, dtype=torch.bool)
    low = head(tokens, mask, torch.tensor([[0.2, 0.5, 0.9]]))
    high = head(tokens, mask, torch.tensor([[0.4, 0.5, 0.9]]))
    assert high.item() > low.item()


@pytest.mark.parametrize(("unrelated", "related"), [(0.65, 0.86), (0.15, 0.30), (0.8, 0.8)])
def test_a_head_starts_between_an_encoder_s_cosines(unrelated: float, related: float) -> None:
    head, tokens, mask = LateInteractionHead(4), torch.zeros(1, 3, 4), torch.ones(1, 3, dtype=torch.bool)
    head.start_between(unrelated, related)
    logits = [
        head(tokens, mask, torch.full((1, 3), cosine)).item()
        for cosine in (unrelated - 0.05, (unrelated + related) / 2, related + 0.05)
    ]
    assert logits[1] == pytest.approx(0.0, abs=1e-4)
    assert logits[0] < -2
    assert logits[2] > 1.5


def test_typical_matches_are_those_with_the_next_pair_s_documents_and_its_own(
    built: tuple[LateInteraction, LateInteractionInputs],
) -> None:
    model, inputs = built
    rivers = Pair("a", "a", "a", "en", "g", "The Vistula.", (Document("", "The Vistula flows north."),), "k")
    towns = Pair("b", "b", "b", "en", "g", "Kraków is old.", (Document("", "Kraków is old and large."),), "k")
    unrelated, related = typical_matches(model, inputs.collate([inputs.prepare(rivers), inputs.prepare(towns)]))
    turned = typical_matches(
        model,
        inputs.collate(
            [
                inputs.prepare(pair)
                for pair in (replace(rivers, documents=towns.documents), replace(towns, documents=rivers.documents))
            ]
        ),
    )
    assert -1 <= unrelated < related <= 1 + 1e-6
    assert turned == pytest.approx((related, unrelated), abs=1e-6)


def test_training_forward_and_engine_agree_batched_and_single(
    built: tuple[LateInteraction, LateInteractionInputs], some_pairs: list[Pair]
) -> None:
    model, inputs = built
    with torch.inference_mode():
        batch = model(**inputs.collate([inputs.prepare(pair) for pair in some_pairs]))["logits"].reshape(-1).numpy()
        alone = [model(**inputs.collate([inputs.prepare(pair)]))["logits"].item() for pair in some_pairs]
    together = LateInteractionEngine(model, inputs).logits(some_pairs, Support.FULL)
    singly = [LateInteractionEngine(model, inputs).logits([p], Support.FULL).values[0] for p in some_pairs]
    assert np.ptp(together.values) > 0.01  # the pairs differ, so agreement means something
    for other in (batch, alone, singly):
        assert np.abs(together.values - np.array(other)).max() < 1e-4


def test_the_order_of_documents_does_not_matter(
    built: tuple[LateInteraction, LateInteractionInputs], some_pairs: list[Pair]
) -> None:
    from dataclasses import replace

    engine = LateInteractionEngine(*built)
    long = [pair for pair in some_pairs if len(pair.documents) > 1]
    turned = [replace(pair, documents=pair.documents[::-1]) for pair in long]
    assert long
    assert np.allclose(engine.logits(long, Support.FULL).values, engine.logits(turned, Support.FULL).values, atol=1e-5)


def test_a_small_cache_gives_the_same_scores(
    built: tuple[LateInteraction, LateInteractionInputs], some_pairs: list[Pair]
) -> None:
    model, inputs = built
    small = LateInteractionEngine(model, inputs, cache_bytes=10)
    large = LateInteractionEngine(model, inputs)
    assert np.allclose(
        small.logits(some_pairs, Support.FULL).values, large.logits(some_pairs, Support.FULL).values, atol=1e-5
    )
    assert len(small.cache) == 1


def test_long_documents_become_overlapping_windows(built: tuple[LateInteraction, LateInteractionInputs]) -> None:
    _, inputs = built
    text = " ".join(f"word{i}" for i in range(60))
    ids = inputs.tokenizer.encode(text, add_special_tokens=False).ids
    (windows,) = inputs.documents([text])
    assert len(windows) > 1
    assert all(len(window) <= 48 for window in windows)
    covered = [token for window in windows for token in window[1:-1]]
    assert set(ids) <= set(covered)
    assert windows[0][1:-1] == ids[:46]
    assert windows[-1][-2] == ids[-1]


def test_context_is_encoded_but_does_not_count(built: tuple[LateInteraction, LateInteractionInputs]) -> None:
    _, inputs = built
    bare, mask = inputs.statement(("The Vistula flows north.", ""))
    with_context, counting = inputs.statement(("The Vistula flows north.", "Which river is it?"))
    assert len(with_context) > len(bare)
    assert sum(mask) == sum(counting)


def test_context_is_cut_and_the_statement_never(built: tuple[LateInteraction, LateInteractionInputs]) -> None:
    _, inputs = built
    ids, counting = inputs.statement(("The Vistula flows north.", "context " * 2000))
    assert len(ids) <= 512
    assert sum(counting) == sum(inputs.statement(("The Vistula flows north.", ""))[1])
    with pytest.raises(StatementTooLong, match="512"):
        inputs.statement(("word " * 2000, ""))


def test_a_statement_too_long_is_unscored_with_its_reason_and_the_others_are_scored(
    built: tuple[LateInteraction, LateInteractionInputs],
) -> None:
    model, inputs = built
    documents = (Document("T", "A document."),)
    pairs = [
        Pair(f"p{i}", "e", "s", "en", "g", text, documents, "k") for i, text in enumerate(["Short.", "word " * 2000])
    ]
    found = LateInteractionEngine(model, inputs).logits(pairs, Support.PARTIAL)
    assert np.isfinite(found.values[0])
    assert np.isnan(found.values[1])
    assert list(found.reasons) == [1]


def test_a_tokenizer_saved_with_truncation_is_cleared(tmp_path: Path, tiny: Any) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny("bert"))
    tokenizer.backend_tokenizer.enable_truncation(8)
    tokenizer.save_pretrained(tmp_path)
    assert len(load_tokenizer(str(tmp_path), 512)("river " * 50)["input_ids"]) > 50


def test_texts_encoded_in_groups_of_like_length_are_encoded_as_ever(
    built: tuple[LateInteraction, LateInteractionInputs],
) -> None:
    model, _ = built
    lengths = torch.tensor([5, 30, 11, 2, 17, 30, 8, 3, 29, 1, 12, 6, 21, 9, 4, 26, 30])
    ids = torch.randint(5, 500, (17, 30), generator=torch.Generator().manual_seed(1))
    attention = (torch.arange(30) < lengths.unsqueeze(1)).long()
    with torch.inference_mode():
        grouped, at_once = model.encode_groups(ids, attention), model.encode(ids, attention)
    counts = attention.bool()
    assert grouped.shape == at_once.shape
    torch.testing.assert_close(grouped[counts], at_once[counts], atol=1e-5, rtol=1e-5)
