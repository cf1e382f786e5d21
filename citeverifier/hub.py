"""Publishing a finished checkpoint: what would go up, and sending it. The folder is read only.

The token comes from the hub's own login (`hf auth login`) or HF_TOKEN, never from a config; HF_ENDPOINT names another
hub.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml

from citeverifier.evaluation.reporting.model_card import HUB_ID, LICENCE, model_card
from citeverifier.models.checkpoint import HEAD, read_config

log = logging.getLogger(__name__)

T = TypeVar("T")

CARD = "README.md"
REPORT = "training.json"  # read for the card; stays at home, since it holds paths of the machine
PUBLISHED = (
    "config.json", "*.safetensors", "*.safetensors.index.json", "tokenizer.json", "tokenizer_config.json",
    "special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt", "*.model",
)  # fmt: skip
PICKLED = frozenset({".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib", ".npy"})
WAITS = (2.0, 5.0, 15.0)  # seconds before a step is tried again
_VERIFIERS = ("OrdinalVerifier", "Remote")


class PushError(OSError):
    """The hub refused, or could not be reached. The message says what to do; the local folder is as it was."""


@dataclass(frozen=True)
class Push:
    """What goes up: files by name (in sorted order) with what is in them, and where to."""

    folder: Path
    repo_id: str
    private: bool
    tag: str | None
    files: Mapping[str, Path | bytes]
    left_out: tuple[str, ...] = ()

    def size(self, name: str) -> int:
        """Bytes of a file."""
        content = self.files[name]
        return len(content) if isinstance(content, bytes) else content.stat().st_size

    @property
    def card(self) -> str:
        """The model card."""
        content = self.files[CARD]
        return (content if isinstance(content, bytes) else content.read_bytes()).decode()

    @property
    def visibility(self) -> str:
        """In a word."""
        return "private" if self.private else "public"


def check_repo(repo_id: str) -> None:
    """Raise ValueError where it is no `org/name` that the hub would take."""
    if not HUB_ID.fullmatch(repo_id):
        raise ValueError(
            f"repo: expected org/name (or USER/name), made of letters, digits, - _ and ., came {repo_id!r}"
        )


def plan_push(
    folder: Path,
    repo_id: str,
    *,
    private: bool = True,
    tag: str | None = None,
    results: Sequence[Path] = (),
    licence: str = LICENCE,
) -> Push:
    """What a push would send; nothing is sent and nothing written.

    The card is written anew from training.json and the runs of eval.py in `results` or below the folder; a folder
    without training.json keeps its own. Runs of another verifier are left out, and named in `left_out`.

    Raises ValueError or FileNotFoundError where the folder holds no finished checkpoint, or something pickled.
    """
    check_repo(repo_id)
    files: dict[str, Path | bytes] = dict(_finished(folder))
    runs, left_out = _results(folder, repo_id, results)
    if (folder / REPORT).is_file():
        report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        card = model_card(read_config(folder), report, name=repo_id, results=runs, licence=licence)
        files[CARD] = card.encode()
    elif results:
        raise ValueError(f"{folder}: expected {REPORT}, as training leaves it, to write a card with results; came none")
    elif (folder / CARD).is_file():
        files[CARD] = folder / CARD
    else:
        raise ValueError(f"{folder}: expected {REPORT} or a model card ({CARD}), came neither")
    return Push(folder, repo_id, private, tag, dict(sorted(files.items())), left_out)


def _finished(folder: Path) -> dict[str, Path]:
    """The files of a finished checkpoint that are published."""
    config = read_config(folder)
    pickled = sorted(file.name for file in folder.iterdir() if file.suffix in PICKLED)
    if pickled:
        raise ValueError(
            f"{folder}: expected no pickled files, since loading one can run anything; came {', '.join(pickled)}. Move "
            "them away"
        )
    found = {file.name: file for pattern in PUBLISHED for file in folder.glob(pattern) if file.is_file()}
    needed = ["tokenizer.json", *([HEAD] if config.shape == "late_interaction" else [])]
    missing = [name for name in needed if name not in found]
    if "model.safetensors" not in found and "model.safetensors.index.json" not in found:
        missing.insert(0, "model.safetensors")
    if missing:
        raise ValueError(
            f"{folder}: expected a finished checkpoint, came one without {', '.join(missing)}; training writes them at "
            "its end (resume=true goes on with a run that was stopped)"
        )
    return found


def _results(folder: Path, repo_id: str, given: Sequence[Path]) -> tuple[list[Mapping[str, Any]], tuple[str, ...]]:
    """metrics.json of this checkpoint's runs, given or found below the folder; what was left out, with the reason."""
    from citeverifier.evaluation.reporting.runs import read_runs

    if not given and not any(folder.rglob("metrics.json")):
        return [], ()
    runs, problems = read_runs(given or [folder])
    kept, left_out = [], list(problems)
    for run in runs:
        other = _other_verifier(run.folder, folder, repo_id)
        if other is None:
            kept.append(run.summary)
        else:
            left_out.append(f"{run.folder}: a run of {other}, not of this checkpoint; left out of the card")
    return kept, tuple(left_out)


def _other_verifier(run: Path, folder: Path, repo_id: str) -> str | None:
    """What a run scored with, by its composed config, where that was not this checkpoint."""
    file = run / "config" / "config.yaml"
    if not file.is_file():
        return "an unknown verifier (no config/config.yaml)"
    verifier = (yaml.safe_load(file.read_text(encoding="utf-8")) or {}).get("verifier") or {}
    target = str(verifier.get("_target_", "")).rpartition(".")[2]
    path = verifier.get("path")
    if target not in _VERIFIERS:
        return target or "an unknown verifier"
    if path is None:
        return "whatever was trained last (no verifier.path)"
    return None if path == repo_id or Path(path).resolve() == folder.resolve() else str(path)


def push(plan: Push) -> str:
    """Send what was planned, each step tried again where the hub fails; returns the address of what went up.

    Raises PushError; the local folder is not touched either way.
    """
    from huggingface_hub import CommitOperationAdd, HfApi, constants, get_token

    if constants.is_offline_mode():
        raise PushError("HF_HUB_OFFLINE=1 is set: unset it to push (a dry run works offline)")
    if get_token() is None:
        raise PushError(
            "no token of the hub: log in with `hf auth login`, or set HF_TOKEN to a token with write access"
        )
    api = HfApi(endpoint=os.environ.get("HF_ENDPOINT"))
    repo, what = plan.repo_id, f"{plan.folder} to {plan.repo_id}"
    step = _Steps(plan)
    step("create the repo", lambda: api.create_repo(repo, private=plan.private, exist_ok=True))
    _check_visibility(plan, step("look at the repo", lambda: bool(api.repo_info(repo).private)))
    if plan.tag is not None:
        refs = step("look at its tags", lambda: api.list_repo_refs(repo))
        if plan.tag in {ref.name for ref in refs.tags}:
            raise PushError(
                f"{repo} has a tag {plan.tag} already; nothing was sent. Choose another, or take it away with "
                f"`hf repos tag delete {repo} {plan.tag}`"
            )

    def upload() -> Any:
        sent = [CommitOperationAdd(name, content) for name, content in plan.files.items()]
        return api.create_commit(repo, sent, commit_message=f"citeverifier push {plan.tag or ''}".strip())

    commit = step("upload the files", upload)
    if plan.tag is not None:
        name = plan.tag
        step("tag the revision", lambda: api.create_tag(repo, tag=name, revision=commit.oid, exist_ok=True))
    log.info("pushed %s, commit %s", what, commit.oid)
    return f"{api.endpoint}/{repo}" + (f"/tree/{plan.tag}" if plan.tag else "")


def _check_visibility(plan: Push, private: bool) -> None:
    """A repo that was there keeps its visibility: that must be the one asked for."""
    if private != plan.private:
        came, option = ("private", "without --public") if private else ("public", "with --public")
        raise PushError(
            f"{plan.repo_id} exists and is {came}, expected {plan.visibility}; nothing was sent. Change it in the "
            f"repo's settings, or push {option} (hub.private={str(private).lower()})"
        )


class _Steps:
    """Runs the steps of a push, again where another attempt may do better."""

    def __init__(self, plan: Push) -> None:
        self.plan = plan

    def __call__(self, what: str, act: Callable[[], T]) -> T:
        """The step's result. Raises PushError with the remedy."""
        for wait in (*WAITS, None):
            try:
                return act()
            # RuntimeError: what an upload of large files wraps its failures in. ValueError: a proxy's page read as JSON
            except (OSError, RuntimeError, ValueError, _transport_error()) as error:
                if isinstance(error, FileNotFoundError | PermissionError):
                    raise
                again = _may_pass(error)
                if wait is None or not again:
                    raise self._error(what, again, error) from error
                log.warning("could not %s (%s); again in %.0f s", what, _said(error), wait)
                time.sleep(wait)
        raise AssertionError("unreachable")

    def _error(self, what: str, again: bool, error: BaseException) -> PushError:
        repo = self.plan.repo_id
        org = repo.split("/")[0]
        advice = {
            401: "The hub does not know this token: log in with `hf auth login`, or set HF_TOKEN to a valid one",
            403: f"This token may not write to {org}: give it write access to {org} in the hub's settings (Access "
            f"Tokens), and check that you are a member of {org} who may create repos",
            404: f"Check the name {repo}, that {org} exists, and that the token may see it",
            409: f"Somebody else is changing {repo}, or a name is taken: push again; if it stays, look at {repo}",
            413: "A file is too large for this hub",
        }
        told = advice.get(_status(error) or 0, "Try again later; what went up already is not sent again")
        tries = f" after {len(WAITS) + 1} attempts" if again else ""
        return PushError(
            f"could not {what} ({repo}){tries}: {_said(error)}. {told}. {self.plan.folder} is as it was: `citeverifier "
            f"push {self.plan.folder} --repo {repo}` sends it again"
        )


def _transport_error() -> type[Exception]:
    """What a connection that fails raises in the hub's HTTP library, whichever it is in this release."""
    from huggingface_hub import errors

    untyped: Any = errors
    found: type[Exception] = untyped.HTTPError
    return found


def _chain(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None:
        found.append(error)
        error = error.__cause__
    return found


def _status(error: BaseException) -> int | None:
    """The HTTP status at the bottom of an error; None where no answer came."""
    answers = [response for e in _chain(error) if (response := getattr(e, "response", None)) is not None]
    return int(answers[0].status_code) if answers else None


def _may_pass(error: BaseException) -> bool:
    """Whether another attempt may do better: a failure of the hub's or of the way there, not a refusal."""
    status = _status(error)
    if status is not None:
        return status >= 500 or status == 429
    return not isinstance(error, ValueError) or isinstance(error, json.JSONDecodeError)


def _said(error: BaseException) -> str:
    """What went wrong, in one line: the status with the hub's words, or the innermost error."""
    status, last = _status(error), _chain(error)[-1]
    words = " ".join(str(getattr(error, "server_message", None) or last or type(last).__name__).split())[:300]
    return f"{status}: {words}" if status is not None else words or type(last).__name__
