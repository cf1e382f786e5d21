"""How much a request may hold: checked, with words that help, and written into the contract."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from citeverifier.server.settings import Settings

_NO_TEXTS = ("id", "count", "level")  # strings that are not limited


class OverLimit(ValueError):
    """A request over a limit; the message says which, and what to do."""


def check_limits(value: Any, settings: Settings, where: str = "items") -> None:
    """Raise OverLimit where a list or text in the request's items is too long."""
    if isinstance(value, str):
        _check(where, len(value), settings.max_characters, "characters")
    elif isinstance(value, list):
        most, unit = (settings.max_items, "items") if where == "items" else (settings.max_documents, "documents")
        _check(where, len(value), most, unit)
        for number, item in enumerate(value):
            check_limits(item, settings, f"{where}[{number}]")
    elif isinstance(value, BaseModel):
        for name, part in value:
            if name not in _NO_TEXTS:
                check_limits(part, settings, f"{where}.{name}")


def _check(where: str, size: int, most: int, unit: str) -> None:
    if size > most:
        raise OverLimit(
            f"{where}: expected at most {most} {unit}, got {size}; send fewer, or start the server with a greater "
            f"--max-{unit}"
        )


def with_limits(openapi: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The contract with this server's limits in its schemas."""
    schemas = openapi["components"]["schemas"]
    for name in ("DocumentIn", "AnswerIn", "PairIn", "VerifyRequest", "FixRequest", "ScoreRequest"):
        for key, schema in schemas[name]["properties"].items():
            for part in (schema, *schema.get("anyOf", ())):
                if part.get("type") == "array":
                    part["maxItems"] = settings.max_items if key == "items" else settings.max_documents
                elif part.get("type") == "string" and "enum" not in part and key not in _NO_TEXTS:
                    part["maxLength"] = settings.max_characters
    return openapi
