"""Held: which wrong decisions are shown, in which order, and that their texts fit into a table."""

from __future__ import annotations

from dataclasses import replace

from citeverifier.evaluation.reporting.mistakes import LENGTH, MOST, mistakes_table
from citeverifier.evaluation.schemes.trials import Prediction, Trial
from citeverifier.records import Document, Pair, Support


def prediction(number: int, score: float | None, *, gold: bool, statement: str = "") -> Prediction:
    text = statement or f"Statement {number}."
    pair = Pair.of(text, [Document("Vistula", "It is long.")], "en")
    pair = replace(pair, example="e", statement_id=f"e/s{text}")
    trial = Trial(f"t{number:02}", "correct", Support.FULL, gold, pair, (0,), "single", None)
    decision = None if score is None else score >= 0.5
    return Prediction(trial, score, 0.5, decision, None if decision is not None else "too long")


def rows(predictions: list[Prediction]) -> list[list[str]]:
    title, header, table = mistakes_table(predictions)
    assert title == "The worst mistakes"
    assert all(len(row) == len(header) for row in table)
    return table


def test_wrong_decisions_worst_first_false_support_before_what_was_missed() -> None:
    told = rows([
        prediction(0, 0.6, gold=False), prediction(1, 0.9, gold=False), prediction(2, 0.1, gold=True),
        prediction(3, 0.9, gold=True), prediction(4, 0.1, gold=False), prediction(5, None, gold=True),
        prediction(6, 0.4, gold=True),
    ])  # fmt: skip
    assert [(row[0], row[1], row[-1]) for row in told] == [
        ("full: yes", "0.900", "t01"), ("full: yes", "0.600", "t00"),
        ("full: no", "0.100", "t02"), ("full: no", "0.400", "t06"),
    ]  # fmt: skip
    assert told[0][2:4] == ["Statement 1.", "Vistula: It is long."]


def test_a_statement_once_and_not_too_many() -> None:
    told = rows([prediction(n, 0.5 + n / 100, gold=False, statement=f"Statement {n // 2}.") for n in range(4 * MOST)])
    assert [row[2] for row in told] == [f"Statement {n}." for n in reversed(range(MOST, 2 * MOST))]
    assert {int(row[-1][1:]) % 2 for row in told} == {1}


def test_long_texts_and_signs_of_tables() -> None:
    wrong = prediction(0, 0.9, gold=False, statement="a|b\n" * 300)
    pair = replace(wrong.trial.pair, documents=(Document("", "x " * 500), Document("T", "y " * 500)))
    [row] = rows([replace(wrong, trial=replace(wrong.trial, pair=pair))])
    assert len(row[2]) < 1.5 * LENGTH
    assert len(row[3]) < LENGTH + 10
    assert "\n" not in "".join(row)
    assert row[2].startswith("a\\|b a\\|b")
    assert row[3].startswith("x x x")
    assert " ... // T: y y" in row[3]


def test_a_selection_has_no_score() -> None:
    wrong = replace(prediction(0, 0.9, gold=False), score=None, threshold=None)
    assert rows([wrong])[0][:2] == ["full: yes", "-"]


def test_none_where_all_is_right() -> None:
    assert rows([prediction(0, 0.9, gold=True)]) == []
