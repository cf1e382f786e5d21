"""The `citeverifier` command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Verify citations: tools around train.py and eval.py."
)


@app.callback()
def _commands() -> None:
    """Keep `report` a subcommand while it is the only one."""


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders of eval.py, or folders that hold them.", exists=True)],
    out: Annotated[Path, typer.Option(help="Folder for report.md and its picture.")] = Path("outputs/report"),
) -> None:
    """Put runs of eval.py side by side: a table a scheme and a picture."""
    from citeverifier.reporting.gather import report_runs

    try:
        path = report_runs(runs, out)
    except FileNotFoundError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    typer.echo(f"report: {path}")
