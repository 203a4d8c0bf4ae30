"""Certificates of parts, of operators and of the controller, while it runs: renewed, revoked, expired, of no use."""

from __future__ import annotations

import asyncio
import re
import shutil
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from cryptography import x509
from prometheus_client.core import Metric
from tests.certificates import Authority

from polysome_controller import control_pb2 as pb
from polysome_controller.errors import ConfigurationError, EnvironmentProblem
from polysome_controller.metrics import families
from polysome_controller.trust import Trust, complaint

from .certificates import NAMES
from .conftest import SiteMaker
from .site import Site
from .test_trust import free_address

DAY = 86_400


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "tls", *NAMES)


@pytest.fixture
def certificates(authority: Authority) -> Path:
    """In place of those that all tests share: these change."""
    return authority.folder


def told(s: Site, name: str) -> str:
    return next((c.trouble for c in s.status().certificates if c.name == name), "")


async def code(s: Site, address: str, certificate: str = "operator") -> grpc.StatusCode:
    try:
        await s.ask("Status", pb.Nothing(), certificate, address)
    except grpc.aio.AioRpcError as error:
        found: grpc.StatusCode = error.code()
        return found
    return grpc.StatusCode.OK


# ---------------------------------------------------------------- the controller's own


def test_a_renewed_certificate_is_served_and_no_call_fails(site: SiteMaker, authority: Authority) -> None:
    """To parts and operators; the parts stay up all the time."""

    async def scenario() -> None:
        async with site(listen="127.0.0.1:0") as s:
            address = s.changes["listen"] = await free_address()
            await s.start()
            codes: list[grpc.StatusCode] = []
            over = threading.Event()

            async def ask() -> None:
                while not over.is_set():
                    codes.append(await code(s, address))

            asking = asyncio.ensure_future(ask())
            seen = s.agents[0].admitted
            since = [part.since for part in s.status().parts]
            await asyncio.to_thread(authority.renew)
            serial = authority.serial("controller")
            await s.until(lambda: s.status().certificates[1].serial == serial)
            await s.until(lambda: seen and seen[-1] == serial)  # the connections of before are given up
            assert await served(address, authority) == serial
            before = len(codes)
            await s.until(lambda: len(codes) > before + 5)
            over.set()
            await asking
            assert set(codes) == {grpc.StatusCode.OK} and len(codes) > 10
            assert [part.since for part in s.status().parts] == since and s.all_up()
            assert s.happened("has another certificate")

    asyncio.run(scenario())


async def served(address: str, authority: Authority) -> str:
    context = ssl.create_default_context(cafile=str(authority.folder / "authority.pem"))
    context.load_cert_chain(authority.folder / "operator.pem", authority.folder / "operator.key")
    host, _, port = address.rpartition(":")
    _, writer = await asyncio.open_connection(host, int(port), ssl=context, server_hostname="controller")
    der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    return f"{x509.load_der_x509_certificate(der).serial_number:040X}"


def test_its_own_expired_certificate_is_named(site: SiteMaker, authority: Authority) -> None:
    """Not only that parts refuse it."""

    async def scenario() -> None:
        authority.ending("controller", -1)
        async with site() as s:
            await s.start_parts()
            await s.start_controller()
            await s.until(lambda: s.part("nf1").state == "refused")
            assert "the controller's own certificate has expired, on " in s.part("nf1").detail
            assert "polysome certificates renew" in told(s, "controller") and "ended on" in told(s, "controller")
            await asyncio.to_thread(authority.renew, "controller")
            await s.until(s.all_up)
            assert told(s, "controller") == ""

    asyncio.run(scenario())


# ---------------------------------------------------------------- operators


def test_a_revoked_operator_is_refused(site: SiteMaker, authority: Authority) -> None:
    """On the connection that is there, too; the next certificate has a new key, and is taken."""

    async def scenario() -> None:
        async with site(listen="127.0.0.1:0") as s:
            address = s.changes["listen"] = await free_address()
            await s.start()
            for end in ("pem", "key"):
                shutil.copy(authority.folder / f"operator.{end}", authority.folder / f"thief.{end}")
            async with s.channel("thief", address) as channel:
                call = channel.unary_unary(
                    "/polysome.control.Controller/Status", pb.Nothing.SerializeToString, pb.ControllerStatus.FromString
                )
                assert (await call(pb.Nothing())).nf == "balancer"
                await asyncio.to_thread(authority.revoke, "operator")
                await s.until(lambda: s.happened("has another certificate, or list"))
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await call(pb.Nothing())
            assert caught.value.code() == grpc.StatusCode.PERMISSION_DENIED
            assert "the certificate of `operator` is revoked" in (caught.value.details() or "")
            assert s.happened("the certificate of `operator` is revoked")
            assert await code(s, address, "thief") == grpc.StatusCode.PERMISSION_DENIED
            await asyncio.to_thread(authority.certify)
            assert await code(s, address) == grpc.StatusCode.OK
            assert await code(s, address, "thief") == grpc.StatusCode.PERMISSION_DENIED
            assert (await s.ask("Status", pb.Nothing())).nf == "balancer"  # the socket needs no certificate

    asyncio.run(scenario())


def test_an_operator_whose_certificate_ends_is_refused(site: SiteMaker, authority: Authority) -> None:
    """On the connection that is there: TLS does not look again."""

    async def scenario() -> None:
        async with site(listen="127.0.0.1:0") as s:
            address = s.changes["listen"] = await free_address()
            await s.start()
            authority.ending("operator", 2 / 86_400)
            async with s.channel("operator", address) as channel:
                call = channel.unary_unary(
                    "/polysome.control.Controller/Status", pb.Nothing.SerializeToString, pb.ControllerStatus.FromString
                )
                assert (await call(pb.Nothing())).nf == "balancer"
                await asyncio.sleep(2.1)
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await call(pb.Nothing())
            assert caught.value.code() == grpc.StatusCode.PERMISSION_DENIED
            assert "the certificate of `operator` has expired, on 20" in (caught.value.details() or "")

    asyncio.run(scenario())


# ---------------------------------------------------------------- parts


def test_a_part_whose_certificate_ends_is_refused(site: SiteMaker, authority: Authority) -> None:
    """It says itself when, and may stay connected; renewed, it is taken again."""

    async def scenario() -> None:
        async with site() as s:
            ends = int(time.time()) + 4
            authority.ending("nf1", 4 / 86_400)
            s.nfs[0].own = pb.CertificateState(name="nf1", ends=ends * 10**9, serial="AB")
            await s.start()
            await s.until(s.all_up)
            await s.until(lambda: s.part("nf1").state == "refused")
            assert time.time() >= ends and "it has expired, on 20" in s.part("nf1").detail
            await asyncio.to_thread(authority.renew, "nf1")
            s.nfs[0].own = None
            await s.nfs[0].stop()
            await s.nfs[0].start()
            await s.until(s.all_up)

    asyncio.run(scenario())


def test_a_thief_with_a_revoked_key_at_a_parts_address_is_refused(site: SiteMaker, authority: Authority) -> None:
    """It has all that the part had; what it is asked before the list is there does not count."""

    async def scenario() -> None:
        async with site() as s:
            await s.start()
            await asyncio.to_thread(authority.revoke, "memory0")
            await s.until(lambda: s.part("memory0").state == "refused")
            assert "no valid certificate for `memory0` at " in s.part("memory0").detail
            assert "it is revoked, or another's, as it does not have the name memory0.g1" in s.part("memory0").detail
            calls = len(s.agents[0].calls)
            await s.pause()
            assert len(s.agents[0].calls) == calls and s.part("memory1").state == "up"
            await asyncio.to_thread(authority.certify, "memory0")  # a new key
            await s.pause()
            assert s.part("memory0").state == "refused" and len(s.agents[0].calls) == calls
            await s.agents[0].stop()
            await s.agents[0].start()  # the part itself, with what it has now
            await s.until(s.all_up)

    asyncio.run(scenario())


def test_new_certificates_are_good_for_who_has_an_older_list(site: SiteMaker, authority: Authority) -> None:
    """Files come to machines one after the other: nobody is refused meanwhile who should not be."""

    async def scenario() -> None:
        older = authority.read("revoked.pem")
        authority.revoke("memory0")
        authority.certify("memory0")
        authority.replace("revoked.pem", older)
        async with site() as s:
            await s.start()
            assert s.all_up()

    asyncio.run(scenario())


def test_a_part_that_is_about_to_expire_is_told_of(site: SiteMaker, authority: Authority) -> None:
    async def scenario() -> None:
        async with site() as s:
            soon = int(time.time()) + 12 * DAY + 60
            s.nfs[0].own = pb.CertificateState(name="nf1", ends=soon * 10**9, serial="AB", trouble="nf1.pem: gone")
            await s.start()
            await s.until(lambda: told(s, "nf1"))
            assert ", in 12 days: `polysome certificates renew`" in told(s, "nf1") and "gone" in told(s, "nf1")
            await s.until(lambda: s.happened("certificate: ends on"))
            assert told(s, "controller") == told(s, "authority") == ""
            found = {metric.name: metric for metric in families(s.status(), {})}
            ends = values(found["polysome_certificate_ends_seconds"])
            assert ends["nf1"] == soon and set(ends) == {"authority", "controller", "nf1"}

    asyncio.run(scenario())


def values(metric: Metric) -> dict[str, float]:
    return {sample.labels["name"]: sample.value for sample in metric.samples}


def test_a_part_that_has_expired_before_it_was_asked(site: SiteMaker, authority: Authority) -> None:
    async def scenario() -> None:
        authority.ending("nf1", -1)
        async with site() as s:
            await s.start_parts()
            await s.start_controller()
            await s.until(lambda: s.part("nf1").state == "refused")
            assert "it has expired" in s.part("nf1").detail, s.part("nf1").detail

    asyncio.run(scenario())


def test_an_expired_part_is_said_to_be(site: SiteMaker, authority: Authority) -> None:
    """With the day, if it had told that."""

    async def scenario() -> None:
        async with site() as s:
            s.nfs[0].own = pb.CertificateState(name="nf1", ends=10**18, serial="AB")
            await s.start()
            await s.until(lambda: told(s, "nf1"))
            await s.nfs[0].stop()
            authority.ending("nf1", -1)
            await s.nfs[0].start()
            await s.until(lambda: s.part("nf1").state == "refused")
            assert "has expired, on 2001-09-09" in s.part("nf1").detail

    asyncio.run(scenario())


# ---------------------------------------------------------------- files that are of no use


def tls(authority: Authority, **changes: str) -> pb.Tls:
    names = {"authority": "authority.pem", "certificate": "nf1.pem", "key": "nf1.key", "revoked": "revoked.pem"}
    return pb.Tls(**{what: str(authority.folder / file) for what, file in (names | changes).items()})


@pytest.fixture
def trust(authority: Authority) -> Iterator[Trust]:
    authority.revoke("nf2")
    trust = Trust("nf1", tls(authority))
    assert trust.demanded("nf2") == "nf2.g1" and trust.demanded("nf1") == "nf1.g0"
    yield trust
    assert trust.demanded("nf2") == "nf2.g1"


@pytest.mark.parametrize("kind", ["missing", "forged", "truncated", "empty"])
def test_a_list_that_is_of_no_use(kind: str, trust: Trust, authority: Authority, tmp_path: Path) -> None:
    """That before stays in force, which is told; without one, there is no start."""
    good, version = authority.read("revoked.pem"), trust.version
    bad = {"truncated": good[:200], "empty": b""}.get(kind) or Authority(tmp_path / "other").read("revoked.pem")
    authority.replace("revoked.pem", b"" if kind == "empty" else bad)
    why = "is no list of revoked certificates of this authority"
    if kind == "missing":
        (authority.folder / "revoked.pem").unlink()
        why = "revoked.pem: No such file"
    trust.look()
    assert why in trust.states()[1].trouble and trust.version == version
    with pytest.raises(EnvironmentProblem, match=why):
        Trust("nf1", tls(authority))
    authority.replace("revoked.pem", good)
    trust.look()
    assert trust.states()[1].trouble == ""


def test_an_older_list_is_not_taken(trust: Trust, authority: Authority) -> None:
    older = authority.read("revoked.pem")
    authority.revoke("memory0")
    trust.look()
    authority.replace("revoked.pem", older)
    trust.look()
    assert "is older than the list" in trust.states()[1].trouble and trust.demanded("memory0") == "memory0.g1"


def test_a_list_that_is_overdue_is_in_force_and_told(trust: Trust, authority: Authority) -> None:
    authority.list_due(-1)
    trust.look()
    assert "should have been signed anew by" in trust.states()[1].trouble
    assert Trust("nf1", tls(authority)).demanded("nf2") == "nf2.g1"


def test_files_that_do_not_fit_are_not_taken(trust: Trust, authority: Authority, tmp_path: Path) -> None:
    good, serial = authority.read("nf1.pem"), trust.states()[1].serial
    other = Authority(tmp_path / "other", "nf1")
    for wrong in (authority.read("memory0.pem"), other.read("nf1.pem"), good[:300], b""):
        authority.replace("nf1.pem", wrong)
        trust.look()
        assert "do not fit" in trust.states()[1].trouble and trust.states()[1].serial == serial
        with pytest.raises(EnvironmentProblem, match="do not fit"):
            Trust("nf1", tls(authority))
    authority.replace("nf1.pem", good)
    trust.look()
    assert trust.states()[1].trouble == ""


def test_another_authority_begins_with_its_own_list(authority: Authority, tmp_path: Path) -> None:
    authority.revoke("nf2")
    trust, other = Trust("nf1", tls(authority)), Authority(tmp_path / "other", "nf1")
    for file in ("authority.pem", "nf1.key", "nf1.pem", "revoked.pem"):
        authority.replace(file, other.read(file))
    trust.look()
    assert trust.states()[1].trouble == "" and trust.demanded("nf2") == "nf2.g0"
    assert trust.states()[1].serial == other.serial("nf1")


def test_files_that_are_not_named_or_not_there(authority: Authority) -> None:
    wanted = tls(authority)
    wanted.revoked = ""
    with pytest.raises(ConfigurationError, match=r"tls\.revoked: no file is named"):
        Trust("nf1", wanted)
    with pytest.raises(EnvironmentProblem, match=r"tls\.key: .*nf9\.key: No such file.*request\.sh"):
        Trust("nf1", tls(authority, key="nf9.key"))


@pytest.mark.parametrize(
    ("days", "text"), [(31, ""), (29.5, "ends on .*, in 29 days: M$"), (-0.5, "ended on .*: M$"), (-400, "ended on")]
)
def test_what_is_complained_of(days: float, text: str) -> None:
    state = pb.CertificateState(name="x", ends=int((time.time() + days * DAY) * 1e9))
    found = complaint(state, "M")
    assert re.match(text, found) if text else found == ""
