"""Operations on state and ends of entries of a run, in the order in which they happened."""

from __future__ import annotations

from polysome.engines.history import End, History, Operation

Event = Operation | End


def events(history: History) -> list[Event]:
    """All of them; an end stands before the operation that was counted after it."""
    ends = iter(history.ends)
    end = next(ends, None)
    merged: list[Event] = []
    for i, operation in enumerate(history.operations):
        while end is not None and end.order <= i:
            merged.append(end)
            end = next(ends, None)
        merged.append(operation)
    if end is not None:
        merged.append(end)
    merged.extend(ends)
    return merged
