"""What every test needs: the tests' own folder on the path, a fake server, a short way to its bus."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import AsyncIterator, Callable, Iterator

import pytest
import pytest_asyncio

sys.path.insert(0, str(Path(__file__).parent))

import runwire  # noqa: E402
from fake_server import FakeServer  # noqa: E402


@pytest.fixture
def directory() -> Iterator[str]:
    """A short path: an ipc endpoint holds about 100 bytes."""
    path = tempfile.mkdtemp(prefix="rw-")
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def make_server(directory: str) -> Iterator[Callable[..., FakeServer]]:
    made: list[FakeServer] = []

    def make(**options: object) -> FakeServer:
        server = FakeServer(directory, **options)  # type: ignore[arg-type]
        made.append(server)
        return server

    yield make
    for server in made:
        server.close()


@pytest.fixture
def server(make_server: Callable[..., FakeServer]) -> FakeServer:
    return make_server()


@pytest_asyncio.fixture
async def bus(server: FakeServer) -> AsyncIterator[runwire.Bus]:
    async with await runwire.connect(server.endpoint) as made:
        yield made
