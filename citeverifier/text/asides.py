"""What an answer says to its reader and not of its subject: "Based on the documents, ...", "I hope this helps!".

A verifier asked whether documents bear out "According to document 2, the Vistula is long" looks for all of it there.
The words stand in `text/languages/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from citeverifier.text.language import language

LONGEST = 300  # characters of a lead-in or an aside
_QUOTES = "\"'„“”*_"


def lead_in(text: str, lang: str) -> int:
    """How many characters of a sentence lead in its claim; 0 where none do, and where no words would be left."""
    end = 0
    while (match := _patterns(lang)[0].match(text, end, end + LONGEST)) and re.search(r"\w", text[match.end() :]):
        end = match.end()
    return end


def lead_out(text: str, lang: str) -> int:
    """How many characters at a sentence's end say only where its claim is from (", according to the documents.")."""
    match = _patterns(lang)[1].search(text, max(0, len(text) - LONGEST))
    return len(text) - match.start() if match and re.search(r"\w", text[: match.start()]) else 0


def is_aside(text: str, lang: str) -> bool:
    """Whether a sentence tells its reader no more than a courtesy, a refusal, or what the documents do not say."""
    _, _, whole, begins, nothing, goes_on = _patterns(lang)
    said = text.strip(_QUOTES)
    if len(said) > LONGEST:
        return False
    if whole.fullmatch(said):
        return True
    known = nothing.match(said) or (None if _names(said) else begins.match(said))
    return known is not None and not goes_on.search(said, known.end())


def _names(text: str) -> bool:
    """Whether a sentence has a number, or a capital that neither begins it nor is the speaker's own."""
    _, *others = re.findall(r"\w+", text) or [""]
    return any(word[0].isdigit() or (word[0].isupper() and word not in ("I", "AI")) for word in others)


@cache
def _patterns(lang: str) -> tuple[re.Pattern[str], ...]:
    """Of lead-ins, lead-outs, whole asides, how others begin, where nothing is told, and what goes on to a claim."""
    part = {
        kind: _any(spelt) for kinds in (language(lang).lead_ins, language(lang).asides) for kind, spelt in kinds.items()
    }
    joins = "|".join(language(lang).marker_joins)
    number = rf"(?:(?:nr |no\. |#)?\d+(?:(?:, | (?:&|{joins}) )\d+)*)"
    fillers, one = f"(?:{part['fillers']} )*", f"{part['sources']}(?: {number})?"
    several = f"{one}(?:(?:,| (?:{joins})) {fillers}{one})*"
    sources = f"{fillers}{several}(?: {part['fillers']})*"
    lead_ins = (
        f"{part['openings']} ?(?:{sources})? ?,",
        f"{part['openings']} {fillers}{part['sources']} {number}(?! ?(?:,|(?:{joins})\\b))",  # Polish needs no comma
        f"{part['places']} {several} ?,",
        f"(?:{part['places']} )?{sources} {part['verbs']}",
        f"{part['connectives']}(?: ?[,:]|(?<=that)|(?<=że))",
        f"(?=(?-i:[a-z])){part['verbs']}",  # what is left of "[1] states that ..."
    )
    lead_outs = (f"{part['openings']}(?: {sources})?", f"{part['places']} {fillers}{part['sources']} {number}")
    softened = f"(?:{part['softeners']},? )*"
    nothing = (
        f"(?:{part['places']} )?{sources} {part['silent']} {fillers}{part['tell']}",
        f"(?:{part['intros']}[^,;:]*,)? ?{part['speaks']}(?!,? (?:that|że)\\b)",
        f"{part['offers']}[^;:]*, ?{part['offered']}",
    )
    patterns = (
        f" ?{softened}(?:{'|'.join(lead_ins)})(?!\\w)[ ,]*",
        f" ?[,;(–—] ?(?:{'|'.join(lead_outs)}) ?\\)?[.!…]*$",
        f"{softened}{part['whole']}[.!…]*",
        f"{softened}{part['begins']}",
        f"{softened}(?:{'|'.join(nothing)})",
        f"[;:] ?\\w|\\b{part['contrasts']}",  # "..., but it is 1,047 km long"
    )
    return tuple(
        re.compile(pattern.replace(" ", r"\s+").replace(r"\s+?", r"\s*"), re.IGNORECASE) for pattern in patterns
    )


def _any(spelt: Iterable[str]) -> str:
    """One of some words or phrases."""
    longest = sorted((word.replace("’", "'") for word in spelt), key=len, reverse=True)
    return "(?:" + "|".join(word.replace("*", r"\w*").replace("'", "['’]") for word in longest) + r")\b"
