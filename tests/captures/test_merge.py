"""Several captures as one trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polysome.captures.merge import merge
from polysome.captures.read import NotACapture, Truncated, WrongLinkType
from polysome.captures.write import PcapngWriter

from .vectors import Pcapng, pcap_header, pcap_record


def capture(path: Path, times: list[int]) -> Path:
    with PcapngWriter(path, ["p"]) as out:
        for number, time in enumerate(times):
            out.write(0, time, f"{path.name} {number}".encode())
    return path


def trace(tmp_path: Path, *captures: list[int]) -> list[tuple[str | None, int]]:
    inputs = [(name, capture(tmp_path / name, times)) for name, times in zip("abcdef", captures, strict=False)]
    return [(port, packet.time) for port, packet in merge(inputs)]


def test_by_time_and_ties_in_order_of_the_inputs(tmp_path: Path) -> None:
    assert trace(tmp_path, [2, 5], [1, 2, 2, 9], [2, 3]) == [
        ("b", 1),
        ("a", 2),
        ("b", 2),
        ("b", 2),
        ("c", 2),
        ("c", 3),
        ("a", 5),
        ("b", 9),
    ]


def test_file_order_is_kept_where_time_runs_back(tmp_path: Path) -> None:
    # a has reached 10 when its 3 and 4 come, so they come at 10: after b's 5 and 9, before b's 10.
    assert trace(tmp_path, [10, 3, 4, 11], [5, 9, 10]) == [
        ("b", 5),
        ("b", 9),
        ("a", 10),
        ("a", 3),
        ("a", 4),
        ("b", 10),
        ("a", 11),
    ]


def test_no_inputs_and_empty_inputs(tmp_path: Path) -> None:
    assert list(merge([])) == []
    assert trace(tmp_path, [], [1], []) == [("b", 1)]


def test_a_capture_without_port(tmp_path: Path) -> None:
    path = capture(tmp_path / "a", [1])
    assert [(port, packet.data) for port, packet in merge([(None, path), ("x", path)])] == [
        (None, b"a 0"),
        ("x", b"a 0"),
    ]


_times = st.lists(st.integers(0, 20), max_size=12)


@settings(max_examples=100)
@given(st.lists(_times, max_size=4))
def test_like_a_stable_sort_by_running_maximum(tmp_path: Path, captures: list[list[int]]) -> None:
    keyed = []
    for name, times in zip("abcd", captures, strict=False):
        keyed += [(max(times[: n + 1]), (name, time)) for n, time in enumerate(times)]
    assert trace(tmp_path, *captures) == [entry for _, entry in sorted(keyed, key=lambda item: item[0])]


def test_size_and_position(tmp_path: Path) -> None:
    paths = [capture(tmp_path / name, [1, 2, 3]) for name in "ab"]
    with merge([(None, path) for path in paths]) as merged:
        assert merged.size == sum(path.stat().st_size for path in paths)
        assert merged.position == 0
        positions = [merged.position for _ in merged]
        assert positions == sorted(positions)
        assert merged.position == merged.size


def test_cut_captures_end_and_the_others_go_on(tmp_path: Path) -> None:
    good = capture(tmp_path / "good", [1, 5, 9])
    cut = tmp_path / "cut"
    cut.write_bytes(
        (pcap_header("<", 0xA1B23C4D) + pcap_record("<", 0, 2, b"cut 0") + pcap_record("<", 0, 3, b"lost"))[:-1]
    )
    seen = []
    with pytest.raises(Truncated) as caught:
        for port, packet in merge([("x", cut), ("y", good), ("z", cut)]):
            seen.append((port, packet.time))
    assert seen == [("y", 1), ("x", 2), ("z", 2), ("y", 5), ("y", 9)]
    assert caught.value.path == cut
    assert caught.value.__notes__ == [str(caught.value)]


def test_what_cannot_be_used_is_told_at_once(tmp_path: Path) -> None:
    good = capture(tmp_path / "good", [1])
    (tmp_path / "text").write_text("no capture")
    with pytest.raises(NotACapture):
        merge([(None, good), (None, tmp_path / "text")])
    radio = tmp_path / "radio"
    radio.write_bytes(Pcapng().section().interface(link=105).enhanced(0, 0, b"x").content)
    with pytest.raises(WrongLinkType):
        next(merge([(None, good), (None, radio)]))


def test_only_what_is_needed_is_read(tmp_path: Path) -> None:
    path = capture(tmp_path / "long", list(range(50_000)))
    with merge([(None, path), (None, path)]) as merged:
        next(merged)
        assert merged.position < 1000
