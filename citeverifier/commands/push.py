"""What `citeverifier push` does: plan, show, send."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from citeverifier.models.checkpoint import read_config
from citeverifier.publishing import Push, plan_push, push


def run(
    folder: Path,
    repo_id: str,
    *,
    private: bool,
    tag: str | None,
    results: Sequence[Path],
    licence: str,
    dry_run: bool,
) -> str:
    """Push a checkpoint folder, or (dry run) say exactly what a push would send; returns what to tell the user.

    Raises ValueError or FileNotFoundError for a folder that cannot be pushed, PushError where the hub refuses or fails.
    """
    read_config(folder)  # a wrong folder is told before anything of it is read
    plan = plan_push(folder, repo_id, private=private, tag=tag, results=results, licence=licence)
    if dry_run:
        return f"{described(plan)}\n\n----- README.md -----\n{plan.card}\ndry run: nothing was sent"
    return f"{described(plan)}\npushed: {push(plan)}"


def described(plan: Push) -> str:
    """Repo, visibility, tag and every file with its size."""
    sizes = {name: plan.size(name) for name in plan.files}
    width = max(map(len, sizes))
    lines = [f"  {name:<{width}}  {_readable(size):>9}" for name, size in sizes.items()]
    return "\n".join(
        [
            f"repo:       {plan.repo_id}",
            f"visibility: {plan.visibility}",
            f"tag:        {plan.tag or '-'}",
            f"files:      {len(sizes)}, {_readable(sum(sizes.values()))}",
            *lines,
            *(f"note: {line}" for line in plan.left_out),
        ]
    )


def _readable(size: float) -> str:
    """Bytes in a unit that suits them."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
