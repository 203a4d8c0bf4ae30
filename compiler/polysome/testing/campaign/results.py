"""What campaigns come to. All of it can be sent to another process, and kept as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from polysome.testing.campaign.causes import Cause

Known = tuple[str, Cause]  # a property, and what it failed by
WAYS = 4  # in which one property fails; a person has enough to do then


@dataclass(frozen=True)
class Finding:
    """The smallest trace that breaks a property by this cause, as `counterexample.dumps` has it.

    `after`: seconds of the campaign, before shrinking; `remembered`: from the database.
    """

    cause: Cause
    counterexample: bytes
    packets: int
    after: float = 0.0
    remembered: bool = False


@dataclass
class Outcome:
    """What became of one property: `cases` in `traces`, `skipped` why, or the smallest traces that break it, one for
    each cause, in the order in which they were found.
    """

    name: str
    cases: int = 0
    traces: int = 0
    skipped: str | None = None
    findings: list[Finding] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.findings

    @property
    def untested(self) -> bool:
        """Nothing met its conditions, though it was looked for."""
        return self.holds and self.cases == 0 and self.skipped is None

    def add(self, found: Finding) -> Finding | None:
        """The finding that it stands for now: None if it is of a known cause and no smaller, or enough are known."""
        for place, mine in enumerate(self.findings):
            if mine.cause == found.cause:
                if found.packets >= mine.packets:
                    return None
                self.findings[place] = replace(found, after=mine.after, remembered=mine.remembered)
                return self.findings[place]
        if len(self.findings) == WAYS:
            return None
        self.findings.append(found)
        return found


@dataclass
class Result:
    """Outcomes by name, in the order of the properties; traces and packets that were run.

    `known`: by what properties failed, before shrinking too; `interrupted`: somebody ended it.
    """

    outcomes: dict[str, Outcome]
    traces: int = 0
    packets: int = 0
    seconds: float = 0.0
    dropped: dict[str, int] = field(default_factory=dict)
    known: set[Known] = field(default_factory=set)
    interrupted: bool = False

    @staticmethod
    def of(names: Iterable[str]) -> Result:
        """Nothing yet."""
        return Result({name: Outcome(name) for name in names})

    @property
    def failed(self) -> list[Outcome]:
        return [o for o in self.outcomes.values() if not o.holds]

    @property
    def untested(self) -> list[Outcome]:
        return [o for o in self.outcomes.values() if o.untested]

    @property
    def vacuous(self) -> bool:
        """Nothing was tested, so that nothing is known."""
        return all(o.untested or o.skipped is not None for o in self.outcomes.values())

    def settled(self, known: Iterable[Known] = ()) -> bool:
        """There is nothing left to look for: every property fails, as is `known` perhaps, or cannot be tested."""
        failed = {name for name, _ in known}
        return all(not o.holds or o.skipped is not None or o.name in failed for o in self.outcomes.values())

    def add(self, other: Result) -> None:
        """Another share of the same campaign."""
        self.traces += other.traces
        self.packets += other.packets
        self.known |= other.known
        for reason, count in other.dropped.items():
            self.dropped[reason] = self.dropped.get(reason, 0) + count
        for name, theirs in other.outcomes.items():
            mine = self.outcomes[name]
            mine.cases += theirs.cases
            mine.traces += theirs.traces
            mine.skipped = mine.skipped or theirs.skipped
            for found in theirs.findings:
                mine.add(found)

    def to_json(self) -> dict[str, Any]:
        """Without `seconds` and `interrupted`, which are the whole campaign's."""
        return {
            "traces": self.traces,
            "packets": self.packets,
            "dropped": self.dropped,
            "known": [[name, asdict(cause)] for name, cause in sorted(self.known)],
            "outcomes": [
                asdict(o)
                | {"findings": [asdict(f) | {"counterexample": f.counterexample.decode()} for f in o.findings]}
                for o in self.outcomes.values()
            ],
        }

    @staticmethod
    def from_json(data: Any) -> Result:
        """What `to_json` made. Raises LookupError, TypeError or ValueError if it did not."""
        outcomes = [Outcome(**{**o, "findings": [_finding(f) for f in o["findings"]]}) for o in data["outcomes"]]
        return Result(
            {o.name: o for o in outcomes},
            data["traces"],
            data["packets"],
            dropped=dict(data["dropped"]),
            known={(name, _cause(cause)) for name, cause in data["known"]},
        )


def _finding(data: Any) -> Finding:
    return Finding(**{**data, "cause": _cause(data["cause"]), "counterexample": data["counterexample"].encode()})


def _cause(data: Any) -> Cause:
    return Cause(data["expected"], tuple(data["decided"]))
