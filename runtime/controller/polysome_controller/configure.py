"""Changes that an operator asks for: a config everywhere or nowhere, and NF servers out of the traffic and back."""

from __future__ import annotations

import asyncio
import hashlib
import time

from polysome_controller import control_pb2 as pb
from polysome_controller.context import Context
from polysome_controller.errors import PartError, Unreachable
from polysome_controller.layout import SECOND
from polysome_controller.nfs import NfServer, NfServers
from polysome_controller.switch import Switch, SwitchAway

LONGEST_DRAIN = 100.0  # seconds
HELD_INTERVAL = 0.05  # seconds between two looks at what is held


class Rejected(Exception):
    """The request cannot be done; nothing has changed. `code` is the name of a gRPC status."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class Operations:
    """One config change at a time, under `nfs.configuring`."""

    def __init__(self, context: Context, switch: Switch, nfs: NfServers) -> None:
        self._context = context
        self._switch = switch
        self._nfs = nfs

    async def configure(self, request: pb.ConfigureRequest) -> None:
        self._check(request)
        async with self._nfs.configuring:
            changed = [nf for nf in self._nfs.each if nf.part.up] if request.version else []
            if request.version and not changed:
                raise Rejected("UNAVAILABLE", "no NF server is up: nobody can say whether the config is good")
            for nf in changed:
                try:
                    await nf.prepare(request.version, request.config, request.force)
                except PartError as error:
                    code = "UNAVAILABLE" if isinstance(error, Unreachable) else "INVALID_ARGUMENT"
                    raise Rejected(code, f"{nf.config.name} did not take the config: {error}") from error
            await self._commit(request, changed)
        self._tell(request)

    async def drain(self, name: str) -> None:
        nf = self._named(name)
        others = [other for other in self._nfs.each if other is not nf and other.able]
        if nf is self._nfs.active and not others:
            raise Rejected("FAILED_PRECONDITION", f"no other NF server is up that could take over from {name}")
        if not nf.drained:
            self._context.state.drained.append(name)
            self._context.store.save()
            self._context.journal.info(name, "is being drained")
        try:
            await self._nfs.choose()
        except PartError as error:
            self._take_back_drain(name)
            raise Rejected("UNAVAILABLE", f"the traffic could not be moved: {error}") from error
        if nf is self._nfs.active:
            self._take_back_drain(name)
            raise Rejected("FAILED_PRECONDITION", f"no other NF server took over from {name}")
        await self._until_empty(nf)
        self._context.journal.info(name, "is drained: nothing is held there")

    async def undrain(self, name: str) -> None:
        nf = self._named(name)
        if nf.drained:
            self._take_back_drain(name)
            self._context.journal.info(name, "may have traffic again")

    # ---------------------------------------------------------------- configure

    def _check(self, request: pb.ConfigureRequest) -> None:
        if request.version and hashlib.sha256(request.config).hexdigest() != request.version:
            raise Rejected("INVALID_ARGUMENT", "`version` is not the SHA-256 of `config`")
        if request.config and not request.version:
            raise Rejected("INVALID_ARGUMENT", "a config needs its version, the SHA-256 of it")
        known = {server.name for server in self._context.config.rdma_servers}
        for spare in request.spare:
            if spare.server not in known:
                raise Rejected("INVALID_ARGUMENT", f"there is no RDMA server `{spare.server}`")

    async def _commit(self, request: pb.ConfigureRequest, nfs: list[NfServer]) -> None:
        """On every NF server, then the switch, then in the state; what fails takes all of it back."""
        before = self._context.state.version, self._context.store.config()
        done: list[NfServer] = []
        try:
            for nf in nfs:
                done.append(nf)  # also if no answer comes: it may have done it
                await nf.commit(request.version)
            await self._commit_switch(request)
        except PartError as error:
            culprit = "the switch" if isinstance(error, SwitchAway) else done[-1].config.name
            await self._take_back(done, *before)
            raise Rejected("UNAVAILABLE", f"{culprit} did not take the change: {error}; it was taken back") from error
        if request.version:
            self._context.store.commit(request.version, request.config)

    async def _commit_switch(self, request: pb.ConfigureRequest) -> None:
        """What a switch that is away has to know comes when it is filled, or taken over."""

        def settled() -> None:
            state = self._context.state
            state.fallback = request.fallback or state.fallback
            state.spare.update({spare.server: spare.rate for spare in request.spare})

        if request.fallback and self._switch.boot:
            await self._switch.write_marked(self._context.tables.meter(request.fallback), settled)
        else:
            settled()
            self._context.store.save()

    async def _take_back(self, nfs: list[NfServer], version: str, config: bytes | None) -> None:
        """One that does not answer gets the committed config when it is back."""
        if config is None:
            return
        for nf in nfs:
            try:
                await nf.prepare(version, config, force=True)
                await nf.commit(version)
            except PartError as error:
                nf.statistics.version = ""
                self._context.journal.warning(nf.config.name, f"the earlier config will come later: {error}")
                nf.pulse.wake()

    def _tell(self, request: pb.ConfigureRequest) -> None:
        parts = [f"config {request.version[:12]} is committed"] if request.version else []
        parts += [f"fallback {request.fallback} bit/s"] if request.fallback else []
        parts += [f"{spare.server} may be used for {spare.rate} bit/s" for spare in request.spare]
        self._context.journal.info("controller", "; ".join(parts) or "nothing was to be configured")

    # ---------------------------------------------------------------- drain

    def _named(self, name: str) -> NfServer:
        nf = self._nfs.named(name)
        if nf is None:
            known = ", ".join(nf.config.name for nf in self._nfs.each)
            raise Rejected("NOT_FOUND", f"there is no NF server `{name}`; there are {known}")
        return nf

    def _take_back_drain(self, name: str) -> None:
        self._context.state.drained.remove(name)
        self._context.store.save()

    async def _until_empty(self, nf: NfServer) -> None:
        """T for what is under way to it, then until it holds nothing; one that is down holds nothing."""
        await asyncio.sleep(self._context.config.timeout / SECOND)
        end = time.monotonic() + LONGEST_DRAIN
        while time.monotonic() < end:
            try:
                if await nf.held() == 0:
                    return
            except PartError:
                if nf.part.state in ("down", "refused"):
                    return
            await asyncio.sleep(HELD_INTERVAL)
        raise Rejected("DEADLINE_EXCEEDED", f"{nf.config.name} still holds packets; it stays drained")
