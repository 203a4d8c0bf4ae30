"""Calls to parts: what their connections may take."""

from __future__ import annotations

import asyncio
from pathlib import Path

from polysome_controller import control_pb2 as pb
from polysome_controller.rpc import GrpcPeer, Leases
from polysome_controller.trust import Trust

from .fake_parts import FakeAgent

LATE = 0.04  # s until each byte goes on


def test_a_handshake_may_take_a_while(certificates: Path) -> None:
    """A part that is busy, or far away, is reached."""

    async def scenario() -> None:
        agent = FakeAgent("memory0", 0, certificates, 2, 1 << 20)
        await agent.start()

        async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while data := await reader.read(1 << 16):
                await asyncio.sleep(LATE)
                writer.write(data)
            writer.close()

        async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            there, back = await asyncio.open_connection(*agent.address.split(":"))
            await asyncio.gather(late(reader, back), late(there, writer), return_exceptions=True)

        between = await asyncio.start_server(pass_on, "127.0.0.1", 0)
        files = {"authority": "authority.pem", "certificate": "controller.pem", "key": "controller.key"}
        files |= {"revoked": "revoked.pem"}
        trust = Trust("controller", pb.Tls(**{name: str(certificates / file) for name, file in files.items()}))
        address = f"127.0.0.1:{between.sockets[0].getsockname()[1]}"
        peer = GrpcPeer("Agent", address, "memory0", trust, Leases(1), 20.0)
        try:
            health = await peer.call("Health", pb.Nothing())
            assert health.boot == agent.boot
        finally:
            await peer.close()
            between.close()
            await agent.stop()

    asyncio.run(scenario())
