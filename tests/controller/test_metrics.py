"""The metrics' port: what it answers, and that nobody keeps others from an answer."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import pytest

from polysome_controller import control_pb2 as pb
from polysome_controller import metrics
from polysome_controller.journal import TOLD, Journal
from polysome_controller.metrics import MOST, MOST_HEAD, Metrics


@contextlib.asynccontextmanager
async def served() -> AsyncIterator[int]:
    """The port."""
    made = Metrics("127.0.0.1:0", lambda: pb.ControllerStatus(parts=[pb.Part(name="nf1", state="up")]), Journal())
    await made.start()
    assert made._server is not None
    try:
        yield made._server.sockets[0].getsockname()[1]
    finally:
        made.stop()


async def ask(port: int, text: bytes, seconds: float = 3) -> str:
    """All that comes until the other end closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text)
    try:
        async with asyncio.timeout(seconds):
            return (await reader.read()).decode()
    except ConnectionResetError:
        return "reset"
    finally:
        writer.close()


REQUESTS = {
    "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n": ("200 OK", 'polysome_part_up{part="nf1",role=""} 1.0'),
    "GET /?name=x HTTP/1.0\r\n\r\n": ("200 OK", "text/plain"),
    "GET / HTTP/1.1\r\naccept: application/openmetrics-text; version=1.0.0\r\n\r\n": ("200 OK", "# EOF"),
    "GET /elsewhere HTTP/1.1\r\n\r\n": ("404 Not Found", "/metrics"),
    "POST /metrics HTTP/1.1\r\n\r\n": ("405 Method Not Allowed", "Content-Length: 0"),
    "\r\n\r\n": ("405 Method Not Allowed", ""),
}


@pytest.mark.parametrize("text", REQUESTS)
def test_what_is_answered(text: str) -> None:
    async def scenario() -> None:
        async with served() as port:
            answer = await ask(port, text.encode())
            status, part = REQUESTS[text]
            assert answer.startswith(f"HTTP/1.1 {status}\r\n") and part in answer
            head = await ask(port, text.replace("GET", "HEAD").encode())
            assert head.startswith(f"HTTP/1.1 {status}\r\n") and (head.endswith("\r\n\r\n") or status[0] != "2")

    asyncio.run(scenario())


@pytest.mark.parametrize(("size", "fits"), [(MOST_HEAD - 100, True), (MOST_HEAD + 100, False), (10 * MOST_HEAD, False)])
def test_a_request_has_so_many_bytes_at_most(size: int, fits: bool) -> None:
    async def scenario() -> None:
        async with served() as port:
            head = b"GET / HTTP/1.1\r\nCookie: "
            answer = await ask(port, head + b"x" * (size - len(head) - 4) + b"\r\n\r\n")
            assert answer.startswith("HTTP/1.1 200") if fits else answer in ("", "reset")

    asyncio.run(scenario())


def test_a_thousand_that_ask_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest has an answer at once; those that wait are few, and end."""
    monkeypatch.setattr(metrics, "PATIENCE", 4.0)

    async def scenario() -> None:
        async with served() as port:
            opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(300)]
            for _, writer in opened[::2]:
                with contextlib.suppress(ConnectionError):
                    writer.write(b"GET / HTTP/1.1\r\n")
            began = time.monotonic()
            assert "nf1" in await ask(port, b"GET / HTTP/1.1\r\n\r\n")
            assert time.monotonic() - began < 3.5  # not as long as it takes for one of them to end
            ended = await asyncio.gather(*(reader.read() for reader, _ in opened), return_exceptions=True)
            assert all(end == b"" or isinstance(end, ConnectionResetError) for end in ended)
            for _, writer in opened:
                writer.close()

    asyncio.run(scenario())


def test_the_oldest_gives_way() -> None:
    async def scenario() -> None:
        async with served() as port:
            opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(MOST + 1)]
            await asyncio.sleep(0.1)
            assert [reader.at_eof() or reader.exception() is not None for reader, _ in opened] == [True] + [
                False
            ] * MOST
            for _, writer in opened:
                writer.close()

    asyncio.run(scenario())


def test_refusals_are_told_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    journal = Journal()
    for _ in range(TOLD + 30):
        journal.refusal("nf1", "a stranger")
    assert len(journal.latest()) == TOLD and journal.refused["nf1"] == TOLD + 30
    now[0] += 9.9
    journal.refusal("nf1", "another")
    assert len(journal.latest()) == TOLD
    now[0] += 0.2
    journal.refusal("nf1", "the last")
    assert [h.text for h in journal.latest()[TOLD:]] == ["refused 31 more before", "refused: the last"]
