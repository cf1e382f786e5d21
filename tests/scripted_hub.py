"""A model hub in memory, in the place of `huggingface_hub.HfApi`: it keeps what is pushed and fails when told to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

URL = "https://hub.test"


@dataclass
class Repo:
    """What was pushed: files of the last commit, tags by name with their commit."""

    private: bool
    files: dict[str, bytes] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)


class ScriptedHub:
    """The hub. `asked`: the calls, in order; `failures`: what a call raises, by its name."""

    endpoint = URL

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.asked: list[str] = []
        self.failures: dict[str, Exception] = {}

    def _asked(self, call: str) -> None:
        self.asked.append(call)
        if call in self.failures:
            raise self.failures[call]

    def create_repo(self, repo: str, private: bool, exist_ok: bool) -> None:
        self._asked("create_repo")
        self.repos.setdefault(repo, Repo(private))

    def repo_info(self, repo: str) -> Repo:
        return self.repos[repo]

    def list_repo_refs(self, repo: str) -> SimpleNamespace:
        self._asked("list_repo_refs")
        return SimpleNamespace(tags=[SimpleNamespace(name=tag) for tag in self.repos[repo].tags])

    def create_commit(self, repo: str, operations: Sequence[Any], commit_message: str) -> SimpleNamespace:
        self._asked("create_commit")
        contents = {operation.path_in_repo: operation.path_or_fileobj for operation in operations}
        there = self.repos[repo]
        there.files = {k: v if isinstance(v, bytes) else Path(v).read_bytes() for k, v in contents.items()}
        there.commits.append(f"commit {len(there.commits)}")
        return SimpleNamespace(oid=there.commits[-1])

    def create_tag(self, repo: str, tag: str, revision: str, exist_ok: bool) -> None:
        self._asked("create_tag")
        self.repos[repo].tags[tag] = revision


@contextmanager
def scripted_hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedHub]:
    """The hub, logged in to."""
    from huggingface_hub import constants

    hub = ScriptedHub()
    monkeypatch.setattr("huggingface_hub.HfApi", lambda endpoint: hub)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_TOKEN", "hf_a_token_of_the_tests")
    yield hub
