"""The switch: found, filled once in each of its lives, and taken over as it is if it is filled already."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from polysome_controller import program, traffic
from polysome_controller.context import Context
from polysome_controller.driver import Identity, PortSetting, SetHold, SetPort, SwitchDriver, Update
from polysome_controller.errors import PartError, Refused
from polysome_controller.parts import Part, Pulse


class SwitchAway(PartError):
    """The switch did not take a change, or is not filled yet; its own keeper sees to it."""


class Switch:
    """`boot` is the run that is filled, 0 while there is none. `ready` is called when there is one: True if it was
    filled now, so that nothing of before is in it."""

    def __init__(self, context: Context, driver: SwitchDriver, ready: Callable[[bool], None]) -> None:
        self.part = Part("switch", "switch", context.config.switch, context.journal, context.state.ups)
        self.driver = driver
        self.boot = 0
        self.pulse = Pulse()
        self._context = context
        self._ready = ready
        self._marking = asyncio.Lock()

    async def watch(self) -> None:
        while True:
            try:
                await self.look()
            except PartError as error:
                self.part.failed(error, self._context.misses)
            await self.pulse.wait(self._context.health)

    async def look(self) -> None:
        """Who is there? A run that is not filled is filled."""
        identity = await self.driver.describe()
        wanted = self._context.config.program_hash
        if wanted and identity.program and identity.program != wanted:
            self.boot = 0
            raise Refused(f"it runs another program: {identity.program}, not {wanted}")
        state = self._context.state
        if identity.boot != state.switch_boot:
            await self._fill(identity)
        else:
            await self._write_again(identity.boot)
        if identity.boot != self.boot:
            await self._unhold(identity.boot)
            await self._check_traffic()
            self.boot = identity.boot
            self._context.journal.info("switch", f"run {identity.boot:x} is filled already: taken over as it is")
            self._ready(False)
        self.part.joined(identity.boot)

    async def write(self, updates: Sequence[Update], run: int = 0) -> None:
        """Into the run that is filled, which must be `run` if that is given; SwitchAway if that did not work, or may
        not have."""
        if not self.boot or (run and run != self.boot):
            raise SwitchAway("the switch is not filled yet, or has begun anew")
        try:
            await self.driver.write(self.boot, updates)
        except PartError as error:
            self.part.failed(error, self._context.misses)
            self.pulse.wake()
            raise SwitchAway(f"switch: {error}") from error

    async def write_marked(self, updates: Sequence[Update], settled: Callable[[], None]) -> None:
        """As write, of what cannot be told from the state if it may have been done or not: a mark stays until it is
        written once more. `settled` puts it into the state."""
        async with self._marking:
            store = self._context.store
            store.state.unsure = True
            store.save()
            await self.write(updates)
            settled()
            store.state.unsure = False
            store.save()

    async def _write_again(self, run: int) -> None:
        """What a marked change may have left half done, as the state has it."""
        async with self._marking:
            context = self._context
            if not context.state.unsure:
                return
            everything = list(range(len(context.layout.buckets)))
            updates = context.tables.nf_links(context.active) + context.tables.buckets(context.placed(everything))
            await self.driver.write(run, updates + context.tables.meter(context.fallback))
            context.state.unsure = False
            context.store.save()

    async def _fill(self, identity: Identity) -> None:
        context, state = self._context, self._context.state
        self.boot = 0
        self.part.joining("its tables are being filled")
        everything = list(range(len(context.layout.buckets)))
        numbered = state.next_numbered
        seq = state.first_seq(numbered)
        updates = context.tables.everything(context.active, context.placed(everything), context.fallback, seq)
        await self.driver.write(identity.boot, [*updates, *self._nf_stations()])
        await self._verify(updates)
        await self._check_traffic()
        state.switch_boot, state.filled_for, state.unsure = identity.boot, context.fingerprint, False
        state.numbered = numbered
        for pair in state.pairs:
            pair.numbers = []
        for agent in state.agents.values():
            agent.mac = 0  # no entry of it is there
        context.store.save()
        self.boot = identity.boot
        context.journal.info("switch", f"run {identity.boot:x} is filled: {len(updates)} updates")
        self._ready(True)

    async def _unhold(self, run: int) -> None:
        """What the controller before held; that is no longer so is noted by who writes it once more."""
        held = [nf.port for nf in self._context.config.nf_servers if nf.name in self._context.state.held]
        if held:
            await self.driver.write(run, [SetHold(port, False) for port in held])

    async def _check_traffic(self) -> None:
        """Before a queue pair comes up: what the plan counts on is read back."""
        tables = self._context.tables
        wanted = tables.ports()
        found = await self.driver.read_traffic([port.port for port in wanted])
        traffic.check(tables.buffer(), wanted, found, self._context.config.queue_cell)

    async def _verify(self, updates: Sequence[Update]) -> None:
        """Refused unless ports are as they were set, where the switch says how they are."""
        settings = {port.port: port for port in await self.driver.read_settings()}
        for asked in updates:
            if not isinstance(asked, SetPort) or not settings:
                continue
            found, wanted = (
                settings.get(asked.port),
                PortSetting(asked.port, asked.role, asked.index, asked.append_icrc),
            )
            if found != wanted:
                raise Refused(f"port {asked.port} is not as it was set: {found or 'nothing'}, not {wanted}")

    def _nf_stations(self) -> list[Update]:
        """Of the links to NF servers. No table of stations has them: nobody but the switch speaks to an NF (rule 8)."""
        servers = ((s, self._context.state.nfs.get(s.name)) for s in self._context.config.nf_servers)
        return [program.nf_station(s.port, known.mac) for s, known in servers if known is not None and known.mac]
