"""Queue pairs that the switch has taken down are found, and restored (DESIGN 6, rule 5)."""

from __future__ import annotations

from collections.abc import Callable

from polysome_controller import program
from polysome_controller.context import Context
from polysome_controller.layout import SECOND
from polysome_controller.servers import Server
from polysome_controller.switch import Switch


class PairWatch:
    """One look each polling.queue_pairs. `doubt`: is told of a server of which one went down."""

    def __init__(
        self, context: Context, switch: Switch, servers: list[Server], doubt: Callable[[Server], None] | None = None
    ) -> None:
        self._switch = switch
        self._servers = servers
        self._doubt = doubt
        self._count = len(context.layout.server_of)
        self._period = context.config.polling.queue_pairs / SECOND

    async def pause(self) -> None:
        """Until there may be something to see."""
        await self._switch.driver.pause(program.PRIMARIES, self._count, self._period)

    async def look(self) -> None:
        if not self._switch.boot or not self._count:
            return
        run, rounds = self._switch.boot, [server.rounds for server in self._servers]
        values = await self._switch.driver.read_register(program.PRIMARIES, 0, self._count)
        for before, server in zip(rounds, self._servers, strict=True):
            if server.rounds != before or self._switch.boot != run:
                continue  # read before they came up
            for pair in server.pairs:
                if values[pair]:
                    server.seen_up(pair)
            down = [pair for pair in server.pairs if not values[pair]]
            if server.went_down(down, "taken down by the switch") and self._doubt is not None:
                self._doubt(server)
