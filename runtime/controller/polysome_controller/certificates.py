"""The certificates of a deployment, as far as the controller sees them: which end soon, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence

from polysome_controller import control_pb2 as pb
from polysome_controller.journal import Journal
from polysome_controller.peer import Peer
from polysome_controller.trust import MEND, Trust, complaint


class CertificateWatch:
    """Parts tell of their own when they are asked how they are."""

    def __init__(self, journal: Journal, trust: Trust, peers: Sequence[Peer]) -> None:
        """`peers`: of whoever there is by the time of a look."""
        self._journal = journal
        self._trust = trust
        self._peers = peers
        self._told: dict[str, str] = {}
        self._version = trust.version

    async def look(self) -> None:
        """Takes what is new of the controller's own files; what is wrong is told once."""
        trust, journal = self._trust, self._journal
        trust.look()
        if trust.version != self._version:
            self._version = trust.version
            journal.info("controller", "has another certificate, or list of revoked ones: connections begin anew")
        for state in self.messages():
            if state.trouble != self._told.get(state.name, ""):
                self._told[state.name] = state.trouble
                if state.trouble:
                    journal.warning(state.name, f"certificate: {state.trouble}")

    def messages(self) -> list[pb.CertificateState]:
        parts = {peer.name: peer.certificate for peer in self._peers if peer.certificate.ends}
        found = []
        for state in (*self._trust.states(), *parts.values()):
            told = pb.CertificateState()
            told.CopyFrom(state)
            told.trouble = complaint(state, MEND)
            found.append(told)
        return found
