"""Held: one door tells example, pair and HotpotQA files apart, refuses bad ones by name, and samples whole examples."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from citeverifier.data.hotpotqa import examples_from_questions, question_from_row
from citeverifier.data.load import Fingerprint, fingerprint, load, take, to_pairs, weigh
from citeverifier.data.mini import load_mini
from citeverifier.data.pair_recipes import ordinal_pairs
from citeverifier.data.splits import split_of
from citeverifier.records import (
    Document,
    Example,
    Pair,
    RecordError,
    Statement,
    Support,
    example_to_json,
    pair_to_json,
    write_jsonl,
)

HOTPOTQA: dict[str, Any] = {
    "_id": "q1",
    "question": "Who opened Alpha Bridge?",
    "answer": "Anna Nowak",
    "type": "bridge",
    "supporting_facts": [["Alpha Bridge", 0], ["Beta Tower", 0]],
    "context": [
        ["Alpha Bridge", ["Alpha Bridge was opened in 1901 by Anna Nowak."]],
        ["Beta Tower", ["Beta Tower was built by Jan Kowalski in 1877."]],
        ["Gamma", ["Gamma has 40 rooms."]],
    ],
}


def hotpotqa_examples() -> list[Example]:
    return examples_from_questions([question_from_row(HOTPOTQA, "made")])


# --- sniffing ---------------------------------------------------------------------------------------------------------


def test_the_bundled_set_by_its_name() -> None:
    assert load("mini", "dev", "pl") == load_mini("dev", "pl")
    assert load("mini", None) == load_mini()


def test_left_open_the_split_is_test_of_the_bundled_set_and_all_of_a_file(pairs: list[Pair], tmp_path: Path) -> None:
    assert load("mini") == load("mini", "auto") == load_mini("test")
    write_jsonl(tmp_path / "pairs.jsonl", map(pair_to_json, pairs))
    assert load(str(tmp_path / "pairs.jsonl")) == load(str(tmp_path / "pairs.jsonl"), None) == pairs


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_example_and_pair_files(
    pack: Callable[[bytes], bytes], worked_example: Example, pairs: list[Pair], tmp_path: Path
) -> None:
    suffix = ".jsonl" if pack is bytes else ".jsonl.gz"
    files: dict[Path, list[Any]] = {
        tmp_path / f"examples{suffix}": [worked_example, replace(worked_example, lang="pl")],
        tmp_path / f"pairs{suffix}": pairs,
    }
    for file, records in files.items():
        rows = [example_to_json(r) if isinstance(r, Example) else pair_to_json(r) for r in records]
        file.write_bytes(pack("\n".join(json.dumps(row) for row in rows).encode()))
        assert load(str(file)) == records


@pytest.mark.parametrize("form", ["a list", "a row a line"])
def test_hotpotqa_files(form: str, tmp_path: Path) -> None:
    file = tmp_path / "hotpot.json"
    file.write_text(json.dumps([HOTPOTQA]) if form == "a list" else json.dumps(HOTPOTQA) + "\n")
    assert load(str(file)) == hotpotqa_examples()


@pytest.mark.parametrize("kind", ["hotpotqa", "pairs", "examples"])
def test_hub_datasets_in_each_form(
    kind: str, worked_example: Example, pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    rows, expected = {
        "hotpotqa": ([HOTPOTQA], hotpotqa_examples()),
        "pairs": ([pair_to_json(pair) for pair in pairs], pairs),
        "examples": ([json.loads(json.dumps(example_to_json(worked_example)))], [worked_example]),
    }[kind]
    asked: list[Any] = []

    def from_memory(*args: Any, **settings: Any) -> list[dict[str, Any]]:
        asked.append((args, settings))
        return rows

    monkeypatch.setattr(datasets, "load_dataset", from_memory)
    assert load("org/name", hub_name="distractor", hub_split="validation", hub_revision="abc") == expected
    assert asked == [
        (("org/name",), {"split": "validation", "name": "distractor", "revision": "abc", "streaming": True})
    ]
    rows.append(rows[0])
    if kind != "hotpotqa":
        with pytest.raises(RecordError, match=rf"^org/name/train, row {len(rows)}: expected each id once, got "):
            load("org/name")


def test_languages_and_splits_of_a_file(worked_example: Example, tmp_path: Path) -> None:
    examples = [
        replace(worked_example, id=f"e{i}", group=f"g{i}", lang=lang) for i in range(40) for lang in ("en", "pl")
    ]
    file = tmp_path / "examples.jsonl"
    write_jsonl(file, map(example_to_json, examples))
    assert load(str(file), lang="pl") == [example for example in examples if example.lang == "pl"]
    shares = {"train": 0.5, "dev": 0.5}
    for split in shares:
        inside = [example for example in examples if split_of(example.group, shares) == split]
        assert load(str(file), split, shares=shares) == inside
        assert 10 < len(inside) < 70


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_duplicates_are_named_with_their_line(worked_example: Example, pairs: list[Pair], tmp_path: Path) -> None:
    examples, pair_file = tmp_path / "examples.jsonl", tmp_path / "pairs.jsonl"
    write_jsonl(examples, map(example_to_json, [worked_example, replace(worked_example, lang="pl"), worked_example]))
    write_jsonl(pair_file, map(pair_to_json, [*pairs, pairs[3]]))
    with pytest.raises(RecordError, match=r"examples\.jsonl:3: expected each id once, got \('worked', 'en'\) again"):
        load(str(examples))
    with pytest.raises(RecordError, match=rf"pairs\.jsonl:{len(pairs) + 1}: expected each id once, got 'p3' again"):
        load(str(pair_file))


@pytest.mark.parametrize("content", ["", "\n\n  \n"])
def test_an_empty_file_is_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "empty.jsonl"
    file.write_text(content)
    with pytest.raises(RecordError, match=r"empty\.jsonl:1: expected at least one record, got an empty file"):
        load(str(file))


@pytest.mark.parametrize("path", ["gone.jsonl", "./org/name", "a/b/c", "org/name.jsonl"])
def test_a_missing_file_is_named(path: str) -> None:
    with pytest.raises(FileNotFoundError, match=f"no such file: {path.removeprefix('./')} .expected a JSON or JSONL"):
        load(path)


def test_a_bad_record_is_named(worked_example: Example, tmp_path: Path) -> None:
    file = tmp_path / "examples.jsonl"
    write_jsonl(file, [example_to_json(worked_example), {"id": "e", "lang": "en", "documents": []}])
    with pytest.raises(RecordError, match=r"examples\.jsonl:2: key 'documents': expected at least 1 entry, got"):
        load(str(file))
    hotpot = tmp_path / "hotpot.jsonl"
    write_jsonl(hotpot, [HOTPOTQA, {"_id": "q2"}])
    with pytest.raises(RecordError, match=r"hotpot\.jsonl:2: expected a HotpotQA row .* got keys \['_id'\]"):
        load(str(hotpot))


def test_unknown_splits_and_what_leaves_nothing(worked_example: Example, tmp_path: Path) -> None:
    file = tmp_path / "examples.jsonl"
    write_jsonl(file, [example_to_json(worked_example)])
    for path in ("mini", str(file)):
        with pytest.raises(ValueError, match=r"expected a split of train, dev, test .*got 'trian'"):
            load(path, "trian")
    with pytest.raises(ValueError, match="no records left for split=None, lang=pl; expected at least one"):
        load(str(file), lang="pl")
    with pytest.raises(
        ValueError,
        match=r"some of its groups to fall into split=dev .*got none of 1; name the files .*data\.dev=\[FILE\]",
    ):
        load(str(file), "dev", shares={"dev": 1e-9, "train": 1.0})


# --- pairs ------------------------------------------------------------------------------------------------------------


def test_examples_become_pairs_and_pairs_stay(worked_example: Example, pairs: list[Pair]) -> None:
    build = partial(ordinal_pairs, seed=3)
    assert to_pairs([*pairs, worked_example], build) == [*pairs, *build([worked_example])]
    assert to_pairs(pairs, build) == pairs


def test_take_keeps_whole_examples_in_their_order() -> None:
    pairs = list(ordinal_pairs(load_mini("dev")))
    sizes = Counter(pair.example for pair in pairs)
    for limit in (1, 50, 333, len(pairs) - 1):
        taken = take(pairs, limit, seed=5)
        assert Counter(pair.example for pair in taken) == {e: sizes[e] for e in {pair.example for pair in taken}}
        assert limit <= len(taken) < limit + max(sizes.values())
        assert taken == [pair for pair in pairs if pair in taken]
        assert taken == take(pairs, limit, seed=5)
    assert take(pairs, 50, seed=5) != take(pairs, 50, seed=6)
    assert {pair.id for pair in take(pairs[::-1], 50, seed=5)} == {pair.id for pair in take(pairs, 50, seed=5)}
    assert take(pairs, None, seed=5) == take(pairs, len(pairs), seed=5) == pairs
    assert take(pairs, 0, seed=5) == []


def test_weights_multiply_by_the_first_pattern_that_fits(pairs: list[Pair]) -> None:
    kinds = [
        replace(pair, kind=kind) for pair, kind in zip(pairs, ["twin_all:x", "twin_other:x", "gold:x"], strict=False)
    ]
    weighed = weigh(kinds, 2.0, {"twin_all*": 0.5, "twin_*": 3.0})
    assert [pair.weight for pair in weighed] == [1.0, 6.0, 2.0]
    assert [replace(pair, weight=1.0) for pair in weighed] == kinds


# --- fingerprints -----------------------------------------------------------------------------------------------------


def test_a_fingerprint_is_the_same_on_every_machine() -> None:
    wisla = Document("Wisła", "Wisła jest najdłuższą rzeką Polski.")
    example = Example("e", "pl", "g", "Jaka to rzeka?", (wisla,), (Statement("To Wisła.", (0,)),))
    pair = Pair("p", "e", "e/s0", "pl", "g", "To Wisła.", (wisla,), "made", None, Support.FULL, Support.FULL)
    assert fingerprint([example]) == Fingerprint(1, "9ac45320b5567bb75d486a66118a5ca4cc40ea3e8a406b6519eb510277552191")
    assert fingerprint([pair, pair]) == Fingerprint(
        2, "b5726f825257b610a4bd24a9f2e4a664103ff7a8cd7353e6ea63300a7ff60c0f"
    )


def test_a_fingerprint_sees_order_and_content(worked_example: Example, pairs: list[Pair]) -> None:
    seen = {
        fingerprint(records).sha256
        for records in (
            pairs,
            pairs[::-1],
            pairs[:-1],
            [replace(pairs[0], statement="Another."), *pairs[1:]],
            [worked_example],
            [replace(worked_example, lang="pl")],
        )
    }
    assert len(seen) == 6
