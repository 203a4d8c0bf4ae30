"""The NF of a simulated system, as the controller's peer."""

from __future__ import annotations

from polysome.backends.system.peers import Simulated
from polysome.plan.design import Design
from polysome_controller import control_pb2 as pb

NF_RUN = 1  # an NF of a simulated system is never restarted


class Nf(Simulated):
    """It has its config from the start, so no controller brings it one."""

    def __init__(self, design: Design, program: str) -> None:
        """`program`: hash of what it was compiled from."""
        super().__init__(design.site.nf_servers[0].name)
        self._design, self._program = design, program

    def describe(self, request: pb.DescribeRequest) -> pb.NfDescription:
        return pb.NfDescription(
            challenge=request.challenge,
            server=self.name,
            nf=self._design.program.name,
            boot=NF_RUN,
            program=self._program,
            mac=self._design.nf_mac.to_bytes(6, "big"),
        )

    def statistics(self, _: pb.Nothing) -> pb.NfStatistics:
        return pb.NfStatistics(boot=NF_RUN)
