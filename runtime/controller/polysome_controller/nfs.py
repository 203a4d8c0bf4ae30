"""NF servers: which of them has the traffic, and that all of them have the committed config."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress

from polysome_controller import clock, program
from polysome_controller import control_pb2 as pb
from polysome_controller.context import Context
from polysome_controller.driver import SetHold
from polysome_controller.errors import PartError, Refused, Unreachable
from polysome_controller.layout import mac_number
from polysome_controller.parts import Part, Pulse
from polysome_controller.state import PartState
from polysome_controller.switch import Switch, SwitchAway

LONGEST_HOLD, BETWEEN_LOOKS = 4.0, 0.02  # s: of an NF's frames while its process is replaced; between two questions


def check_description(
    answer: pb.NfDescription, challenge: bytes, name: str, known: PartState, config: pb.ControllerConfig, earlier: str
) -> None:
    """Refused, and why, unless it is this NF server, and answers now. `earlier`: hash of the NF that is being replaced;
    empty: none is."""
    if answer.challenge != challenge:
        raise Refused("its description is not an answer to this request: the challenge is another one")
    if answer.server != name:
        raise Refused(f"its description is of `{answer.server}`")
    if not answer.boot or answer.boot in known.earlier:
        raise Refused(f"its description is of an earlier run, {answer.boot:x}")
    if answer.nf != config.nf:
        raise Refused(f"it runs the NF `{answer.nf}`, not `{config.nf}`")
    if config.nf_hash and answer.program not in (config.nf_hash, earlier or config.nf_hash):
        raise Refused(f"its NF was compiled from something else: {answer.program}, not {config.nf_hash}")
    mac = int.from_bytes(answer.mac, "big")
    if len(answer.mac) != 6 or not mac or mac == mac_number(config.switch_mac) or answer.mac[0] & 1:
        raise Refused(f"{answer.mac.hex(':') or 'nothing'} is no MAC address that it may have")


class NfServer:
    """One NF server, as it was at the last look."""

    def __init__(self, context: Context, switch: Switch, index: int, configuring: asyncio.Lock) -> None:
        self.config = context.config.nf_servers[index]
        self.part = Part(self.config.name, "nf", self.config.address, context.journal, context.state.ups)
        self.statistics = pb.NfStatistics()
        self.drops: dict[str, int] = {}  # of all its runs
        self.pulse = Pulse()
        self._context = context
        self._switch = switch
        self._configuring = configuring
        self._peer = context.connect("Nf", self.config.address, self.config.name)
        self._known = context.state.nfs.setdefault(self.config.name, PartState())
        self._description: pb.NfDescription | None = None

    @property
    def drained(self) -> bool:
        return self.config.name in self._context.state.drained

    @property
    def able(self) -> bool:
        return self.part.up and not self.drained

    async def watch(self) -> None:
        while True:
            await self.look()
            await self.pulse.wait(self._context.health)

    async def look(self) -> None:
        try:
            await self._unhold()
            if self._description is not None:
                self.statistics = await self._peer.call("Statistics", pb.Nothing())
                said = {drop.name: drop.value for drop in self.statistics.drops}
                self.drops = self._context.store.count(self.config.name, self.statistics.boot, said)
                if self.statistics.leaving:
                    await self._hand_over()
            if self._description is None or self.statistics.boot != self._description.boot:
                await self._describe()
            await self._serve()
        except SwitchAway:
            pass
        except PartError as error:
            if isinstance(error, Refused):
                self._description = None
            self.part.failed(error, self._context.misses)

    async def _serve(self) -> None:
        """It is known: with the committed config, its frames go to it."""
        assert self._description is not None
        await self._bring_config()
        if await self._announce(int.from_bytes(self._description.mac, "big")):
            self.part.joined(self._description.boot)
        else:
            self.part.joining("waits for the switch")

    async def _hand_over(self) -> None:
        """It was asked to end: the switch holds its frames until the next run, which takes the state over, can have
        them; or for no longer than that may take."""
        self._context.journal.info(self.config.name, "ends, and hands its state over: the switch holds its frames")
        self._holding(True)
        await self._switch.write([SetHold(self.config.port, True)])
        try:
            with suppress(Unreachable):  # it may end before it has answered
                await self._peer.change("HandOver", pb.HandOverRequest())
            self._description = None
            await self._next_run(clock.seconds() + LONGEST_HOLD)
        except Refused:
            await self._unhold()
            raise
        await self._unhold()

    async def _next_run(self, deadline: float) -> None:
        """Waits until another process answers, and has the config."""
        before = self._known.boot
        while clock.seconds() < deadline:
            await asyncio.sleep(BETWEEN_LOOKS)
            with suppress(Unreachable):
                await self._describe()
                if self._known.boot != before:
                    return await self._serve()

    async def _unhold(self) -> None:
        if self.config.name in self._context.state.held:
            await self._switch.write([SetHold(self.config.port, False)])
            self._holding(False)

    def _holding(self, on: bool) -> None:
        """Outlives this process: else nobody would let the frames go."""
        others = [name for name in self._context.state.held if name != self.config.name]
        self._context.state.held = [*others, self.config.name] if on else others
        self._context.store.save()

    async def held(self) -> int:
        """Packets that its schedule holds now."""
        self.statistics = await self._peer.call("Statistics", pb.Nothing())
        return self.statistics.held

    async def prepare(self, version: str, config: bytes, force: bool) -> None:
        """`force`: also if no packet that the NF is for gets through with it."""
        await self._peer.change("Prepare", pb.PrepareRequest(version=version, config=config, force=force))

    async def commit(self, version: str) -> None:
        await self._peer.change("Commit", pb.CommitRequest(version=version))
        self.statistics.version = version

    async def try_packet(self, request: pb.TryRequest) -> pb.TryResponse:
        answer: pb.TryResponse = await self._peer.call("Try", request)
        return answer

    async def close(self) -> None:
        """Before the switch's driver."""
        with suppress(PartError):
            await self._unhold()
        await self._peer.close()

    async def _describe(self) -> None:
        challenge = secrets.token_bytes(16)
        answer: pb.NfDescription = await self._peer.call("Describe", pb.DescribeRequest(challenge=challenge))
        earlier = self._context.state.earlier_nf_hash
        check_description(answer, challenge, self.config.name, self._known, self._context.config, earlier)
        if self._known.boot and answer.boot != self._known.boot:
            anew = f"it began anew, run {answer.boot:x}"
            if answer.took_over:
                self._context.journal.info(self.config.name, f"{anew}, with the state of the run before")
            else:
                self._context.journal.warning(self.config.name, f"{anew}: its state is empty")
        if answer.boot != self._known.boot:
            self._known.replace(answer.boot)
            self._context.store.save()
        self._description = answer
        self.statistics.boot = answer.boot
        self.statistics.version = answer.version

    async def _bring_config(self) -> None:
        """The committed config, if it has another one. Not while one is being brought to all, and not to an NF that is
        about to be replaced: it might not be one of its."""
        assert self._description is not None
        to_be_replaced = self._description.program != self._context.config.nf_hash != ""
        if to_be_replaced or self.statistics.version == self._context.state.version:
            return
        async with self._configuring:
            version, config = self._context.state.version, self._context.store.config()
            if config is None or self.statistics.version == version:
                return
            await self.prepare(version, config, force=True)  # it was looked at when it was committed
            await self.commit(version)
            self._context.journal.info(self.config.name, f"has the committed config {version[:12]} now")

    async def _announce(self, mac: int) -> bool:
        """Its address, to the switch; False: there is none yet."""
        if mac == self._known.mac:
            return True
        if not self._switch.boot:
            return False
        await self._switch.write([program.nf_station(self.config.port, mac)])
        self._known.mac = mac
        self._context.store.save()
        return True


class NfServers:
    """All of them. The traffic stays where it is until that one is down or drained: each move costs the NF's state."""

    def __init__(self, context: Context, switch: Switch) -> None:
        self.configuring = asyncio.Lock()
        self.each = [NfServer(context, switch, i, self.configuring) for i in range(len(context.config.nf_servers))]
        self._context = context
        self._switch = switch
        self._moving = asyncio.Lock()

    @property
    def active(self) -> NfServer:
        return self.each[self._context.active]

    def named(self, name: str) -> NfServer | None:
        return next((nf for nf in self.each if nf.config.name == name), None)

    async def choose(self) -> None:
        """Moves the traffic if the one that has it cannot serve, and another one can."""
        async with self._moving:
            active = self.active
            if active.part.state in ("up", "joining") and not active.drained:
                return
            other = next((nf for nf in self.each if nf.able), None)
            if other is None or other is active:
                return
            updates = self._context.tables.nf_links(self.each.index(other))
            await self._switch.write_marked(updates, lambda: self._context.move_traffic(other.config.name))
            why = "drained" if active.drained else active.part.state
            text = f"has the traffic of {active.config.name} now, which is {why}; its state is new here"
            self._context.journal.warning(other.config.name, text)
