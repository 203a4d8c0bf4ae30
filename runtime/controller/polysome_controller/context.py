"""What every part of the controller needs: the configuration, what follows from it, the state, the journal."""

from __future__ import annotations

from dataclasses import dataclass

from polysome_controller import control_pb2 as pb
from polysome_controller.journal import Journal
from polysome_controller.layout import SECOND, Bucket, Layout, fingerprint, layout_of
from polysome_controller.peer import Connect
from polysome_controller.state import PairState, State, Store
from polysome_controller.tables import Tables


@dataclass(frozen=True)
class Fixed:
    """A configuration, and what follows from it alone."""

    config: pb.ControllerConfig
    layout: Layout
    tables: Tables
    fingerprint: str

    @classmethod
    def of(cls, config: pb.ControllerConfig) -> Fixed:
        layout = layout_of(config)
        return cls(config, layout, Tables(config, layout), fingerprint(config))


@dataclass
class Context:
    """Times are seconds. `pairs` of the state has an entry for each queue pair of the layout."""

    fixed: Fixed
    store: Store
    journal: Journal
    connect: Connect

    def __post_init__(self) -> None:
        state = self.state
        if state.filled_for != self.fingerprint or len(state.pairs) != len(self.layout.server_of):
            # Numbers that were given are not given again: what still answers them is not ours.
            generation = max((pair.generation for pair in state.pairs), default=0)
            state.pairs = [PairState(generation) for _ in self.layout.server_of]
            state.moved, state.filled_for, state.switch_boot = {}, "", 0
        if state.nf_hash != self.config.nf_hash or state.program_hash != self.config.program_hash:
            state.earlier_nf_hash = state.nf_hash if state.program_hash == self.config.program_hash else ""
            state.nf_hash, state.program_hash = self.config.nf_hash, self.config.program_hash
        names = [server.name for server in self.config.nf_servers]
        state.drained = [name for name in state.drained if name in names]
        if state.active not in names:
            state.active = names[0]

    @property
    def config(self) -> pb.ControllerConfig:
        return self.fixed.config

    @property
    def layout(self) -> Layout:
        return self.fixed.layout

    @property
    def tables(self) -> Tables:
        return self.fixed.tables

    @property
    def fingerprint(self) -> str:
        return self.fixed.fingerprint

    @property
    def state(self) -> State:
        return self.store.state

    @property
    def deadline(self) -> float:
        return self.config.polling.deadline / SECOND

    @property
    def health(self) -> float:
        return self.config.polling.health / SECOND

    @property
    def misses(self) -> int:
        return self.config.polling.misses

    @property
    def active(self) -> int:
        """The place of the NF server that has the traffic."""
        return [server.name for server in self.config.nf_servers].index(self.state.active)

    @property
    def fallback(self) -> int:
        """bit/s of whole packets that find no queue pair."""
        return self.state.fallback or self.config.fallback_rate

    def move_traffic(self, nf: str) -> None:
        self.state.active = nf

    def placed(self, buckets: list[int]) -> list[tuple[int, Bucket]]:
        """Buckets as they are to be now."""
        placed = []
        for bucket in buckets:
            server = self.state.moved.get(bucket, self.layout.home(bucket))
            placed.append((bucket, self.layout.moved(bucket, None if server < 0 else server)))
        return placed
