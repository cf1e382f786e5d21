"""Running the server: the port first, then the model, then requests until a signal."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

import uvicorn

from citeverifier.server.app import create_app
from citeverifier.server.settings import Settings

if TYPE_CHECKING:
    from citeverifier.answers.facade import CiteVerifier

_GRACE = 5.0  # seconds over the timeout for what is in flight


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens (port 0: at any free one); raises OSError with what to do."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise OSError(
            f"cannot listen at {host}:{port} ({error.strerror or error}); --port 0 takes a free one"
        ) from None


def run(
    load: Callable[[], CiteVerifier], bound: socket.socket, settings: Settings, told: Callable[[str], None]
) -> None:
    """Load the verifier and serve it; returns after SIGINT or SIGTERM, when what was in flight is done."""
    verifier = load()
    host, port = bound.getsockname()[:2]
    config = uvicorn.Config(
        create_app(verifier, settings),
        log_level="warning",
        timeout_graceful_shutdown=int(settings.timeout + _GRACE),
        server_header=False,
    )
    # uvicorn stops on these signals and raises them again when it is done: then they shall do nothing
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    told(f"{verifier.scorer.name} listens at http://{f'[{host}]' if ':' in host else host}:{port}")
    uvicorn.Server(config).run(sockets=[bound])
    told("stopped; everything in flight was answered")
