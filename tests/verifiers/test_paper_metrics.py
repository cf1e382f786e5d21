"""Held: each of paper 2's metrics gives what its own definition gives on a tiny random model of its architecture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BartConfig,
    RobertaConfig,
    RobertaForSequenceClassification,
    RobertaModel,
    T5Config,
    T5ForTokenClassification,
)

from citeverifier.models.alignscore import convert
from citeverifier.records import Support
from citeverifier.verifiers.alignscore import AlignScore
from citeverifier.verifiers.bartscore import BartScore
from citeverifier.verifiers.factcc import FactCC
from citeverifier.verifiers.hhem import HHEM
from citeverifier.verifiers.minicheck import MiniCheck
from citeverifier.verifiers.summac import SummaCConv, SummaCZS, convolution

from .conftest import LONG, make_pair
from .test_true_t5 import tiny_t5

PARTIAL, FULL = Support.PARTIAL, Support.FULL
NLI = ["contradiction", "entailment", "neutral"]
SENTENCES = ("The Vistula is 1,047 km long.", "It flows through Warsaw.")
STATEMENT = "The Vistula is long. Warsaw lies on it."
SHORT = make_pair("The Vistula is long.", " ".join(SENTENCES))
TWO = make_pair(STATEMENT, " ".join(SENTENCES))
FAR = make_pair("The Vistula is long.", LONG)
TOO_LONG = make_pair("word " * 1200, "A text.")


def probability(folder: str, column: int, *texts: str) -> float:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.inference_mode():
        return float(model(**tokenizer(*texts, return_tensors="pt")).logits.softmax(dim=-1)[0, column])


def holds_for_long_premises(verifier: Any) -> None:
    """A long premise is read in chunks, the same at both levels and with others; a statement is never cut."""
    alone = verifier.score([FAR], PARTIAL)
    assert alone.cost.notes["windowed"] == 1
    assert 0 <= alone.values[0] <= 1
    scores = verifier.score([SHORT, FAR, TOO_LONG, SHORT], FULL)
    assert scores.values[1] == alone.values[0]
    assert scores.values[0] == scores.values[3]
    assert math.isnan(scores.values[2])
    assert "leaves no room" in scores.reasons[2]


# --- BARTScore -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bart(tiny: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("bart")
    tokenizer = AutoTokenizer.from_pretrained(tiny("xlm-roberta"))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(4)
    config = BartConfig(
        vocab_size=len(tokenizer), d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=256, init_std=0.5,
        pad_token_id=tokenizer.convert_tokens_to_ids("<pad>"), bos_token_id=tokenizer.convert_tokens_to_ids("<s>"),
        eos_token_id=tokenizer.convert_tokens_to_ids("</s>"),
        decoder_start_token_id=tokenizer.convert_tokens_to_ids("</s>"), forced_eos_token_id=None,
    )  # fmt: skip
    AutoModelForSeq2SeqLM.from_config(config).save_pretrained(folder)
    return str(folder)


def test_bartscore_is_the_mean_likelihood_of_the_statement(bart: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(bart)
    model = AutoModelForSeq2SeqLM.from_pretrained(bart).eval()
    expected = []
    for pair in (SHORT, TWO):
        read = tokenizer(pair.documents[0].text, return_tensors="pt")
        said = tokenizer(pair.statement)["input_ids"]
        logs = 0.0
        for i, token in enumerate(said):  # token by token, as a decoder would say it
            before = torch.tensor([[model.config.decoder_start_token_id, *said[:i]]])
            with torch.inference_mode():
                logits = model(**read, decoder_input_ids=before).logits[0, -1]
            logs += float(logits.log_softmax(dim=-1)[token])
        expected.append(math.exp(logs / len(said)))
    verifier = BartScore(bart, dtype="float32")
    assert verifier.score([SHORT, TWO], FULL).values.tolist() == pytest.approx(expected, rel=1e-4)
    holds_for_long_premises(verifier)


# --- FactCC and SummaC ---------------------------------------------------------------------------------------------


def test_factcc_is_the_probability_of_its_class(tiny_classifier: Any) -> None:
    folder = str(tiny_classifier("bert", ["CORRECT", "INCORRECT"]))
    verifier = FactCC(folder, max_length=120, dtype="float32")
    expected = probability(folder, 0, SHORT.documents[0].text, SHORT.statement)
    assert verifier.score([SHORT], FULL).values[0] == pytest.approx(expected, rel=1e-3)
    holds_for_long_premises(verifier)
    with pytest.raises(ValueError, match="expected one class named 'correct'"):
        FactCC(str(tiny_classifier("bert", NLI)))


def matrix(folder: str) -> np.ndarray:
    """Premise sentences by statement sentences of TWO."""
    return np.array(
        [[probability(folder, 1, premise, part) for part in ("The Vistula is long.", "Warsaw lies on it.")]
         for premise in SENTENCES]
    )  # fmt: skip


def test_summac_zs_is_the_mean_of_the_greatest_entailments(tiny_classifier: Any) -> None:
    folder = str(tiny_classifier("bert", NLI))
    verifier = SummaCZS(folder, max_length=120, dtype="float32")
    expected = matrix(folder).max(axis=0).mean()
    assert verifier.score([TWO], FULL).values[0] == pytest.approx(expected, rel=1e-3)
    holds_for_long_premises(verifier)


def convolution_file(path: Path) -> str:
    generator = torch.Generator().manual_seed(1)
    shapes = {"mlp.weight": (1, 23), "mlp.bias": (1,), "layer_final.weight": (2, 3), "layer_final.bias": (2,)}
    torch.save({name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}, path)
    return str(path)


def test_summac_conv_weighs_histograms_by_hand(tiny_classifier: Any, tmp_path: Path) -> None:
    weights = convolution_file(tmp_path / "conv.bin")
    state = torch.load(weights, weights_only=True)
    scores = np.array([[0.005, 0.5], [0.915, 0.999], [0.2, 1.0]])
    bins = [[0, 9, 6], [7, 22, 22]]  # of each column's three scores; the last bin holds 1.0
    rows = [sum(float(state["mlp.weight"][0, b]) for b in column) + float(state["mlp.bias"]) for column in bins]
    features = torch.full((3,), sum(rows) / 2)
    logits = state["layer_final.weight"] @ features + state["layer_final.bias"]
    assert convolution(weights)(scores) == pytest.approx(float(logits.softmax(dim=0)[1]), rel=1e-5)
    folder = str(tiny_classifier("bert", NLI))
    verifier = SummaCConv(folder, weights, max_length=120, dtype="float32")
    expected = convolution(weights)(matrix(folder))
    assert verifier.score([TWO], FULL).values[0] == pytest.approx(expected, rel=1e-3)
    holds_for_long_premises(verifier)


def test_summac_conv_says_what_weights_it_wants(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"expected the file summac_conv_vitc_sent_perc_e\.bin"):
        SummaCConv("x", None)
    torch.save({"mlp.weight": torch.zeros(1, 50)}, tmp_path / "other.bin")
    with pytest.raises(ValueError, match="expected tensors"):
        SummaCConv("x", str(tmp_path / "other.bin"))


# --- AlignScore ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def roberta(tiny: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny RoBERTa with a tokenizer: what AlignScore was trained from."""
    folder = tmp_path_factory.mktemp("roberta")
    tokenizer = AutoTokenizer.from_pretrained(tiny("xlm-roberta"))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(6)
    config = RobertaConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48,
        max_position_embeddings=130, type_vocab_size=1, pad_token_id=1, initializer_range=0.4,
    )  # fmt: skip
    RobertaModel(config).save_pretrained(folder)
    return str(folder)


def test_alignscore_reads_the_published_checkpoint(roberta: str, tmp_path: Path) -> None:
    body = RobertaModel.from_pretrained(roberta).eval()
    heads = {name: torch.nn.Linear(32, n) for name, n in (("bin_layer", 2), ("tri_layer", 3), ("reg_layer", 1))}
    state = {f"base_model.{name}": tensor for name, tensor in body.state_dict().items()}
    state |= {f"{name}.{key}": t for name, head in heads.items() for key, t in head.state_dict().items()}
    torch.save({"state_dict": state | {"mlm_head.bias": torch.zeros(3)}, "epoch": 2}, tmp_path / "a.ckpt")
    folder = tmp_path / "converted"
    convert(tmp_path / "a.ckpt", roberta, folder)

    tokenizer = AutoTokenizer.from_pretrained(roberta)

    def aligned(premise: str, part: str) -> float:
        with torch.inference_mode():
            pooled = body(**tokenizer(premise, part, return_tensors="pt")).pooler_output
            return float(heads["tri_layer"](pooled).softmax(dim=-1)[0, 0])

    premise = TWO.documents[0].text
    expected = np.mean([aligned(premise, part) for part in ("The Vistula is long.", "Warsaw lies on it.")])
    verifier = AlignScore(str(folder), dtype="float32")
    assert verifier.score([TWO], FULL).values[0] == pytest.approx(expected, rel=1e-3)
    holds_for_long_premises(verifier)


def test_alignscore_says_what_it_wants(roberta: str, tmp_path: Path, tiny_classifier: Any) -> None:
    with pytest.raises(FileNotFoundError, match=r"python -m citeverifier\.models\.alignscore"):
        AlignScore(None)
    with pytest.raises(ValueError, match="expected one class named 'aligned'"):
        AlignScore(str(tiny_classifier("bert", NLI)))
    torch.save({"state_dict": {"base_model.pooler.dense.bias": torch.zeros(32)}}, tmp_path / "b.ckpt")
    with pytest.raises(ValueError, match="expected AlignScore's weights on"):
        convert(tmp_path / "b.ckpt", roberta, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# --- MiniCheck and HHEM --------------------------------------------------------------------------------------------


def test_minicheck_encoders_read_one_text(roberta: str, tmp_path: Path) -> None:
    torch.manual_seed(8)
    RobertaForSequenceClassification.from_pretrained(roberta, num_labels=2).save_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(roberta)
    tokenizer.eos_token = "</s>"
    tokenizer.save_pretrained(tmp_path)
    expected = probability(str(tmp_path), 1, f"{SHORT.documents[0].text}</s>{SHORT.statement}")
    verifier = MiniCheck(str(tmp_path), chunk=50, dtype="float32")
    assert verifier.score([SHORT], FULL).values[0] == pytest.approx(expected, rel=1e-3)
    holds_for_long_premises(verifier)


def test_minicheck_wants_two_classes(tiny_classifier: Any) -> None:
    with pytest.raises(ValueError, match="expected a classifier of two classes, came 3"):
        MiniCheck(str(tiny_classifier("bert", NLI)))


@pytest.fixture(scope="module")
def t5(training_texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_t5(tmp_path_factory.mktemp("t5"), training_texts, ["0", "1"])


def test_minicheck_t5_weighs_one_against_zero(t5: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(t5)
    model = AutoModelForSeq2SeqLM.from_pretrained(t5, dtype=torch.float32).eval()
    one, zero = (tokenizer(answer, add_special_tokens=False)["input_ids"][0] for answer in "10")
    read = tokenizer(f"predict: {SHORT.documents[0].text}</s>{SHORT.statement}", return_tensors="pt")
    with torch.inference_mode():
        logits = model(**read, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
    expected = float(torch.stack([logits[zero], logits[one]]).softmax(dim=0)[1])
    verifier = MiniCheck(t5, chunk=60, max_length=600, dtype="float32")
    assert verifier.score([SHORT], FULL).values[0] == pytest.approx(expected, rel=1e-3)
    holds_for_long_premises(verifier)


PROMPT = "<pad> Is it true?\n\nPremise: {premise}\n\nHypothesis: {statement}"


def test_hhem_loads_the_weights_without_their_code(t5: str, tmp_path: Path) -> None:
    torch.manual_seed(9)
    config = T5Config.from_pretrained(t5, num_labels=2)
    model = T5ForTokenClassification(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(3)
    state = {f"t5.{name}": tensor.clone() for name, tensor in model.state_dict().items()}
    state.pop("t5.transformer.encoder.embed_tokens.weight", None)
    save_file(state, str(tmp_path / "model.safetensors"))
    read = AutoTokenizer.from_pretrained(t5)(
        PROMPT.format(premise=SHORT.documents[0].text, statement=SHORT.statement), return_tensors="pt"
    )
    with torch.inference_mode():
        expected = float(model(**read).logits[0, 0].softmax(dim=-1)[1])
    verifier = HHEM(str(tmp_path), t5, PROMPT, max_length=200, dtype="float32")
    assert verifier.score([SHORT], FULL).values[0] == pytest.approx(expected, rel=1e-3)
    holds_for_long_premises(verifier)


def test_hhem_says_what_is_wrong_with_weights(t5: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="expected the weights of HHEM"):
        HHEM(str(tmp_path), t5, PROMPT)
    save_file({"t5.classifier.weight": torch.zeros(2, 32)}, str(tmp_path / "model.safetensors"))
    with pytest.raises(ValueError, match="expected a T5 token classifier"):
        HHEM(str(tmp_path), t5, PROMPT)
