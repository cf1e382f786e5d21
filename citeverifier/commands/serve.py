"""citeverifier serve: a verifier behind HTTP, with a page."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from citeverifier.commands.answer_files import USAGE, load_verifier, one_line_errors
from citeverifier.extras import not_installed
from citeverifier.records import LANGUAGES

TOKEN = "CITEVERIFIER_TOKEN"


def serve(model: str | None, host: str, port: int, lang: str | None, token_file: Path | None, **limits: float) -> None:
    """Serve until a signal. Raises typer.Exit(2) with the reason where that cannot be."""
    try:
        from citeverifier.server.listening import listen, run
        from citeverifier.server.settings import Settings
    except ModuleNotFoundError as error:
        typer.echo(f"error: {not_installed(error.name)}", err=True)
        raise typer.Exit(USAGE) from None
    with one_line_errors():
        if lang is not None and lang not in LANGUAGES:
            raise ValueError(f"--lang: expected one of {', '.join(LANGUAGES)}, got {lang!r}")
        settings = Settings(lang=lang, token=read_token(token_file), **limits)  # type: ignore[arg-type]
        bound = listen(host, port)
        if settings.token is None and host not in ("127.0.0.1", "::1", "localhost"):
            typer.echo(f"warning: whoever reaches {host} may ask; set {TOKEN} or --token-file", err=True)
        run(lambda: load_verifier(model), bound, settings, typer.echo)


def read_token(path: Path | None) -> str | None:
    """The token of the file, else of the environment, else None; raises ValueError on an empty one."""
    if path is None:
        token, where = os.environ.get(TOKEN), TOKEN
        if token is None:
            return None
    else:
        token, where = path.read_text(encoding="utf-8"), str(path)
    if not token.strip():
        raise ValueError(f"{where}: expected a token, got nothing")
    return token.strip()
