"""Start vLLM servers with tiny random models, run a command against them, stop them: `serve.py PYTHON -- COMMAND ...`.

PYTHON is the interpreter of the environment that vLLM is installed in. The command finds each server's base URL in an
environment variable (`SERVERS`), `..._URL`, and its model's folder in another, `..._MODEL`. The servers are stopped
however the command ends; exits with the command's code.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import tiny_served

PATIENCE = 900.0  # seconds for a server to come up; about 60 on an idle machine of two cores


@dataclass(frozen=True)
class Model:
    """A model to serve: the variable that tells its URL, what builds its folder, its name, further arguments."""

    variable: str
    build: Callable[[Path], Path]
    name: str
    arguments: tuple[str, ...] = ()


SERVERS = (
    Model("CITEVERIFIER_VLLM_URL", tiny_served.chat, "tiny", ("--max-model-len", "2048")),
    Model(
        "CITEVERIFIER_VLLM_SCORE_URL", tiny_served.classifier, "tiny-verifier",
        ("--runner", "pooling", "--dtype", "float32"),
    ),
)  # fmt: skip


def start(python: str, model: Model, folder: Path) -> tuple[subprocess.Popen[bytes], str, Path]:
    """Start one server; returns its process, its base URL and its log."""
    port = free_port()
    log = folder / "log"
    command = [
        python, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model.build(folder / "model")),
        "--host", "127.0.0.1", "--port", str(port), "--served-model-name", model.name,
        "--enforce-eager",  # compiling takes longer than the tests
        *model.arguments,
    ]  # fmt: skip
    settings = {
        "VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"
    }  # fmt: skip
    with log.open("wb") as output:
        # A session of its own, so that its workers stop with it, and Ctrl-C reaches this process only.
        process = subprocess.Popen(
            command, env=os.environ | settings, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    return process, f"http://127.0.0.1:{port}", log


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Wait until the server answers; raises SystemExit with the end of its log where it does not."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"vLLM ended with {process.returncode}:\n{tail(log)}")
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)
    raise SystemExit(f"vLLM did not answer at {url} within {PATIENCE:.0f} s:\n{tail(log)}")


def tail(log: Path) -> str:
    """The last lines of a log."""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-40:])


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a server and its workers."""
    for sign, patience in ((signal.SIGTERM, 20), (signal.SIGKILL, 20)):
        try:
            os.killpg(process.pid, sign)
            process.wait(patience)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def end(_: int, __: FrameType | None) -> None:
    """A termination signal ends like an error, so that the servers are stopped."""
    raise SystemExit(143)


def main() -> int:
    """Build, start, wait, run, stop."""
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        raise SystemExit("usage: serve.py PYTHON_WITH_VLLM -- COMMAND ...")
    signal.signal(signal.SIGTERM, end)
    with ExitStack() as stack:
        environment = dict(os.environ)
        started = time.monotonic()
        waiting = []
        for model in SERVERS:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            process, url, log = start(sys.argv[1], model, folder)
            stack.callback(stop, process)
            waiting.append((process, url, log))
            environment[model.variable] = f"{url}/v1"
            environment[model.variable.replace("_URL", "_MODEL")] = str(folder / "model")
        for process, url, log in waiting:
            wait(process, url, log)
        print(f"{len(waiting)} vLLM server(s) up after {time.monotonic() - started:.0f} s", flush=True)
        return subprocess.run(sys.argv[3:], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
