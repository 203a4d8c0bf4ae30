"""A `property` block of a spec as something that judges runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from polysome.engines.options import Unsupported
from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir.walk import walk
from polysome.testing.execution import Execution, Judgement
from polysome.testing.judge import outputs, support
from polysome.testing.judge.explain import Explanation
from polysome.testing.judge.property_code import Judge, judge
from polysome.testing.judge.view import View

OUTPUTS = {"same": outputs.same, "different": outputs.different, "part": outputs.part, "Unsupported": Unsupported}


@dataclass(frozen=True, eq=False)
class UserProperty:
    """`decl` of `program`. Its function is generated at the first run that it judges."""

    program: ir.Program
    decl: pr.Property
    _explanations: dict[int, Explanation] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.decl.name

    @property
    def doc(self) -> str:
        return str(getattr(self.decl, "doc", ""))

    @cached_property
    def reruns(self) -> bool:
        """Does it ask for `outputs(…)`?"""
        return any(isinstance(node, pr.Run) for node in walk(self.decl))

    @cached_property
    def _judge(self) -> Judge:
        return judge(self.program, self.decl)

    @cached_property
    def _looks_into_state(self) -> bool:
        inside = (pr.Snapshot, pr.Ended, pr.Full)
        return any(isinstance(node, inside) for node in walk(self.decl))

    @cached_property
    def _asks_for_reasons(self) -> bool:
        return any(isinstance(node, pr.Attribute) and node.name == "reason" for node in walk(self.decl))

    def judge(self, execution: Execution) -> Judgement:
        """The first failure, in the order of the property's names. O(n log n) and what its conditions let through."""
        if self._looks_into_state and execution.record.history is None:
            return Judgement(None, 0, f"the engine `{execution.engine.name}` does not show its state")
        if self._asks_for_reasons and execution.record.slack is not None:
            return Judgement(None, 0, f"the engine `{execution.engine.name}` does not show why packets are dropped")
        view = View(self.program, execution)
        skipped: list[str] = []
        names = namespace(view)
        values = names | self._judge.constants | {"skipped": skipped}
        exec(self._judge.code, values)
        try:
            cases, failed = values["run"]()
        except Unsupported as lacking:  # in what decides which cases there are
            return Judgement(None, 0, str(lacking))
        if failed is not None:
            number, bound = failed
            return Judgement(self._explanation(number).failure(bound, view, names), cases)
        return Judgement(None, cases, skipped[0] if skipped else None)

    def _explanation(self, number: int) -> Explanation:
        if number not in self._explanations:
            expect = self._judge.expectations[number]
            self._explanations[number] = Explanation(self.program, self.decl, expect, self._judge.kinds)
        return self._explanations[number]


def namespace(view: View) -> dict[str, Any]:
    """What the generated code calls."""
    values = view.functions | support.NAMES | OUTPUTS
    values |= {f"T_{name}": found for name, found in view.lists.items()}
    values |= {f"E_{name}": found for name, found in view.made_lists.items()}
    values |= {f"SEEN_{side}": column for side, column in view.seen.items()}
    values |= {
        "V": view,
        "CONFIG": view.config(0),
        "ALL_trace": range(len(view.fates)),
        "ALL_emitted": range(len(view.made)),
        "COUNT_trace": len(view.fates),
        "COUNT_emitted": len(view.made),
    }
    return values
