"""Held: P("1") of the first decoder step on a tiny T5; windows and packing keep the hypothesis whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, PreTrainedTokenizerFast, T5Config

from citeverifier.records import Support
from citeverifier.verifiers.true_t5 import TrueT5

from .conftest import LONG, make_pair

PARTIAL, FULL = Support.PARTIAL, Support.FULL


def tiny_t5(folder: Path, texts: list[str], alphabet: list[str]) -> str:
    """A random T5 with a tokenizer that marks words as sentencepiece does."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<pad>", "</s>", "<unk>"]
    tokenizer.train_from_iterator(
        [*texts, *alphabet * 200, "premise: hypothesis:"],
        trainers.UnigramTrainer(vocab_size=500, special_tokens=special, unk_token="<unk>"),
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>",
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(folder)  # fmt: skip
    torch.manual_seed(5)
    config = T5Config(
        vocab_size=tokenizer.get_vocab_size(), d_model=32, d_kv=16, d_ff=48, num_layers=2, num_heads=2,
        decoder_start_token_id=0, pad_token_id=0, eos_token_id=1, initializer_factor=2.0,
    )  # fmt: skip
    AutoModelForSeq2SeqLM.from_config(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, training_texts: list[str]) -> str:
    return tiny_t5(tmp_path_factory.mktemp("t5"), training_texts, ["1", "0"])


def by_transformers(folder: str, text: str) -> float:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32).eval()
    (one,) = tokenizer("1", add_special_tokens=False)["input_ids"]
    with torch.inference_mode():
        generated = model.generate(
            **tokenizer(text, return_tensors="pt"), max_new_tokens=1, do_sample=False, num_beams=1,
            output_scores=True, output_logits=True, return_dict_in_generate=True,
        )  # fmt: skip
    return float(generated.logits[0].softmax(dim=-1)[0, one])


def test_the_probability_of_one_as_the_first_token(folder: str) -> None:
    verifier = TrueT5(folder, dtype="float32")
    pairs = [
        make_pair("The Vistula is long.", "The Vistula is 1,047 km long."),
        make_pair("Mars is a planet.", "Mars is red.", "It is a planet."),
    ]
    expected = [
        by_transformers(folder, "premise: The Vistula is 1,047 km long. hypothesis: The Vistula is long."),
        by_transformers(folder, "premise: Mars is red.\n\nIt is a planet. hypothesis: Mars is a planet."),
    ]
    assert expected[0] != pytest.approx(expected[1], rel=0.02)
    scores = verifier.score([*pairs, pairs[0]], FULL)
    assert scores.values.tolist() == pytest.approx([*expected, expected[0]], rel=1e-4)
    assert scores.cost.distinct_pairs == 2


def test_a_long_premise_is_windowed_or_packed_and_the_statement_whole(folder: str) -> None:
    verifier = TrueT5(folder, max_length=200, dtype="float32")
    inputs = verifier._once.engine.__self__.inputs  # type: ignore[attr-defined]
    long = make_pair("The Vistula flows through Warsaw.", LONG)
    hypothesis = inputs.tokenizer("hypothesis: The Vistula flows through Warsaw.")["input_ids"]
    windows = inputs.windows(long)
    assert len(windows) > 3
    for window in windows:
        assert window["length"] == len(window["input_ids"]) <= 200
        assert window["input_ids"][-len(hypothesis) :] == hypothesis
    read = {token for window in windows for token in window["input_ids"]}
    assert set(inputs.prepare(long)["input_ids"]) <= read
    partial, full = verifier.score([long], PARTIAL), verifier.score([long], FULL)
    assert (dict(partial.cost.notes), dict(full.cost.notes)) == (
        {"windowed": 1, "packed": 0},
        {"windowed": 0, "packed": 1},
    )
    assert np.isfinite([partial.values[0], full.values[0]]).all()
    assert "no room" in verifier.score([make_pair("word " * 300, "A text.")], FULL).reasons[0]


def test_a_short_text_reads_the_same_whole_and_in_a_window(folder: str) -> None:
    inputs = TrueT5(folder, dtype="float32")._once.engine.__self__.inputs  # type: ignore[attr-defined]
    short = make_pair("Mars is a planet.", "Mars is red.")
    assert inputs.windows(short) == [inputs.prepare(short)]


def test_a_model_that_cannot_say_one_is_refused(tmp_path: Path) -> None:
    folder = tiny_t5(tmp_path, ["no numbers at all here"] * 20, [])
    with pytest.raises(ValueError, match="expected '1' to be one token"):
        TrueT5(folder)
