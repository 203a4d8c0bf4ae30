"""The back-off: what moves after a look at the load, for any load."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from polysome_controller.balance import NOWHERE, RETRY_POLLS, Balance, Load, Policy, decide, start

POLICY = Policy(high=1.0, low=0.8, step=0.1)
RATE = 1e9
QUICK = settings(max_examples=30)


@dataclass(frozen=True)
class World:
    """Buckets with a steady load each (bit/s), and what each server may take."""

    homes: tuple[int, ...]
    loads: tuple[float, ...]
    allowed: tuple[float, ...]

    def look(self, balance: Balance) -> tuple[Load, ...]:
        payloads = [0.0] * len(self.allowed)
        for bucket, place in enumerate(balance.places):
            if place != NOWHERE:
                payloads[place] += self.loads[bucket]
        return tuple(Load(payload, allowed) for payload, allowed in zip(payloads, self.allowed, strict=True))

    def run(self, balance: Balance, polls: int) -> Balance:
        for _ in range(polls):
            balance = decide(balance, self.look(balance), POLICY)
        return balance

    def begin(self) -> Balance:
        return start(self.homes, len(self.allowed))


@st.composite
def even_worlds(draw: st.DrawFn) -> World:
    """Every bucket carries the same; some server may take too little."""
    servers = draw(st.integers(1, 4))
    buckets = servers * draw(st.integers(4, 64))
    allowed = tuple(draw(st.floats(0.0, 1.5)) * RATE for _ in range(servers))
    each = RATE / (buckets // servers)
    return World(tuple(b % servers for b in range(buckets)), (each,) * buckets, allowed)


@st.composite
def uneven_worlds(draw: st.DrawFn) -> World:
    world = draw(even_worlds())
    weights = draw(st.lists(st.floats(0.0, 5.0), min_size=len(world.homes), max_size=len(world.homes)))
    loads = tuple(weight * load for weight, load in zip(weights, world.loads, strict=True))
    return World(world.homes, loads, world.allowed)


def quiet(world: World, balance: Balance) -> bool:
    """No server takes more than it may, but for one bucket that it keeps to see what buckets carry."""
    return all(
        load.payload <= POLICY.high * load.allowed or len(balance.at(server)) == 1
        for server, load in enumerate(world.look(balance))
    )


@given(even_worlds())
@QUICK
def test_payload_falls_within_three_polls(world: World) -> None:
    assert quiet(world, world.run(world.begin(), 3))


@given(uneven_worlds())
@QUICK
def test_payload_falls_for_any_loads(world: World) -> None:
    balance = world.begin()
    for _ in range(40):
        balance = decide(balance, world.look(balance), POLICY)
    assert quiet(world, balance)


@given(even_worlds())
@QUICK
def test_it_falls_in_proportion_and_no_further(world: World) -> None:
    """After the first look, a busy server keeps what the middle of the band allows, to within a bucket."""
    before = world.begin()
    after = decide(before, world.look(before), POLICY)
    for server, load in enumerate(world.look(before)):
        if load.payload > POLICY.high * load.allowed:
            kept, each = len(after.at(server)), load.payload / before.own(server)
            wanted = POLICY.middle * load.allowed / each
            assert wanted - 1 <= kept <= max(wanted, 1.0)


@given(even_worlds())
@QUICK
def test_steady_load_comes_to_rest(world: World) -> None:
    balance = world.run(world.begin(), 15)
    for _ in range(2 * RETRY_POLLS + 10):
        after = decide(balance, world.look(balance), POLICY)
        assert after.places == balance.places
        balance = after


@given(uneven_worlds())
@QUICK
def test_uneven_steady_load_moves_seldom(world: World) -> None:
    """A number of buckets that was too many is tried again after RETRY_POLLS, and given up at once."""
    balance = world.run(world.begin(), 100)
    moves = 0
    for _ in range(3 * RETRY_POLLS):
        after = decide(balance, world.look(balance), POLICY)
        moves += after.places != balance.places
        balance = after
    assert moves <= 3 * RETRY_POLLS // 2


@given(uneven_worlds())
@QUICK
def test_flows_of_servers_that_are_not_busy_stay(world: World) -> None:
    balance = world.begin()
    for _ in range(5):
        looks = world.look(balance)
        after = decide(balance, looks, POLICY)
        for bucket, (old, new) in enumerate(zip(balance.places, after.places, strict=True)):
            if old not in (new, NOWHERE):
                busy = looks[old].payload > POLICY.high * looks[old].allowed
                assert busy or new == balance.homes[bucket]  # or it comes home
                if old == balance.homes[bucket]:
                    assert busy
        balance = after


@given(uneven_worlds())
@QUICK
def test_nobody_ever_has_more_of_its_own_than_all(world: World) -> None:
    balance = world.run(world.begin(), 4)
    assert balance.homes == world.homes and len(balance.places) == len(world.homes)
    for server in range(len(world.allowed)):
        own = [b for b in balance.at(server) if world.homes[b] == server]
        assert own == [b for b, home in enumerate(world.homes) if home == server][: len(own)]  # highest-numbered leave


@given(even_worlds())
@QUICK
def test_everything_returns(world: World) -> None:
    balance = world.run(world.begin(), 10)
    free = World(world.homes, world.loads, (10 * RATE,) * len(world.allowed))
    assert free.run(balance, 2 * RETRY_POLLS).places == world.homes
    idle = World(world.homes, (0.0,) * len(world.loads), tuple(max(a, 1.0) for a in world.allowed))
    assert idle.run(balance, 4 * RETRY_POLLS).places == world.homes


@given(even_worlds())
@QUICK
def test_a_poll_brings_back_a_step_at_most(world: World) -> None:
    balance = world.run(world.begin(), 10)
    free = World(world.homes, world.loads, (10 * RATE,) * len(world.allowed))
    after = decide(balance, free.look(balance), POLICY)
    for server in range(len(world.allowed)):
        back = [
            b
            for b in range(len(world.homes))
            if world.homes[b] == server and balance.places[b] != server and after.places[b] == server
        ]
        assert len(back) <= max(1, int(POLICY.step * balance.own(server)))


def test_buckets_go_where_there_is_room_in_proportion() -> None:
    homes = tuple(b % 3 for b in range(60))
    before = start(homes, 3)
    loads = (Load(1e9, 0.5e9), Load(0.5e9, 2e9), Load(0.5e9, 1.1e9))
    after = decide(before, loads, POLICY)
    assert len(after.at(0)) == 9  # 20 · 0.9 · 0.5
    gone = [b for b, (old, new) in enumerate(zip(homes, after.places, strict=True)) if old != new]
    assert all(homes[b] == 0 for b in gone) and gone == [b for b in range(60) if homes[b] == 0][9:]
    taken = [sum(after.places[b] == server for b in gone) for server in (1, 2)]
    assert taken == [8, 3]  # rooms of 26 and 9 buckets


def test_buckets_of_others_leave_first() -> None:
    homes = (0, 0, 0, 0, 1, 1, 1, 1)
    before = Balance(homes, (0, 0, 0, 0, 1, 1, 0, 0), (None, None))
    after = decide(before, (Load(1.2e9, 1e9), Load(2e9, 2e9)), POLICY)
    assert after.places == (0, 0, 0, 0, 1, 1, NOWHERE, NOWHERE)


def test_without_room_they_go_nowhere() -> None:
    homes = tuple(b % 2 for b in range(8))
    after = decide(start(homes, 2), (Load(1e9, 0.5e9), Load(1e9, 1.05e9)), POLICY)
    assert [after.places[b] for b in (0, 2, 4, 6)] == [0, NOWHERE, NOWHERE, NOWHERE]
    assert after.at(1) == [1, 3, 5, 7]


def test_a_server_without_a_queue_pair_gets_nothing_and_loses_nothing() -> None:
    homes = tuple(b % 2 for b in range(8))
    loads = (Load(1e9, 0.5e9), Load(0.0, 1e9, serves=False))
    after = decide(start(homes, 2), loads, POLICY)
    assert after.at(1) == [1, 3, 5, 7]


def test_between_the_marks_nothing_moves() -> None:
    homes = tuple(b % 2 for b in range(8))
    before = decide(start(homes, 2), (Load(1e9, 0.5e9), Load(1e8, 1e9)), POLICY)
    inside = (Load(0.41e9, 0.5e9), Load(0.9e9, 1e9))
    assert decide(before, inside, POLICY).places == before.places
