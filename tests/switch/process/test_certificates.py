"""Certificates that are renewed, revoked, wrong or old while a switch runs, and at its start."""

from __future__ import annotations

import hashlib
import pwd
import shutil
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from cryptography import x509
from tests.certificates import Authority
from tests.switch.process.conftest import EXAMPLE
from tests.switch.process.harness import Client, Process, address, configuration, executable, pb, running
from tests.switch.process.namespaces import need_namespaces

DENIED = grpc.StatusCode.PERMISSION_DENIED


@pytest.fixture
def program() -> Path:
    need_namespaces()
    return executable(EXAMPLE)


@pytest.fixture
def authority(program: Path, tmp_path: Path) -> Authority:
    return Authority(tmp_path / "tls", "switch", "controller")


@pytest.fixture
def process(authority: Authority, tmp_path: Path) -> Iterator[Process]:
    with running(EXAMPLE, tmp_path, authority.folder, {}) as process:
        yield process


@pytest.fixture
def controller(process: Process, authority: Authority, tmp_path: Path) -> Iterator[Client]:
    client = Client(address(tmp_path), authority.folder, "controller")
    client.describe()
    yield client
    client.close()


def served(authority: Authority, folder: Path) -> str:
    """The serial number of the certificate that a new connection gets, whoever has signed it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.load_cert_chain(authority.folder / "controller.pem", authority.folder / "controller.key")
    with (
        socket.socket(socket.AF_UNIX) as plain,
        context.wrap_socket(connected(plain, folder), server_hostname="switch") as made,
    ):
        found = x509.load_der_x509_certificate(made.getpeercert(binary_form=True) or b"")
        return f"{found.serial_number:040X}"


def connected(plain: socket.socket, folder: Path) -> socket.socket:
    plain.connect(address(folder).removeprefix("unix:"))
    return plain


def until(condition: object, seconds: float = 10) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def test_a_renewed_certificate_is_served_and_no_call_fails(
    process: Process, controller: Client, authority: Authority, tmp_path: Path
) -> None:
    """By one that keeps its connection, and by one that makes a new one each time."""
    over, failed, asked = threading.Event(), list[str](), [0, 0]

    def keep() -> None:
        while not over.is_set():
            ask(0, controller)

    def anew() -> None:
        while not over.is_set():
            client = Client(address(tmp_path), authority.folder, "controller")
            ask(1, client)
            client.close()

    def ask(which: int, client: Client) -> None:
        asked[which] += 1
        try:
            client.call("Read", pb.ReadRequest())
        except grpc.RpcError as error:
            failed.append(f"{error.code()}: {error.details()}")

    threads = [threading.Thread(target=keep), threading.Thread(target=anew)]
    before = authority.serial("switch")
    assert served(authority, tmp_path) == before == controller.statistics().certificate.serial
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            authority.renew("switch")
            serial = authority.serial("switch")
            assert serial != before
            until(lambda serial=serial: served(authority, tmp_path) == serial)
            before = serial
        time.sleep(0.5)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert failed == [] and min(asked) > 20, (failed[:3], asked)
    state = controller.statistics().certificate
    ends = authority.certificate("switch").not_valid_after_utc.timestamp()
    assert (state.name, state.serial, state.ends, state.trouble) == ("switch", before, ends * 1e9, "")


def test_a_new_key_is_read_by_the_user_that_it_has_become(authority: Authority) -> None:
    """Also where that user could not come to its folder any more: pytest's are for their own user alone."""
    assert any(parent.stat().st_mode & 0o077 == 0 for parent in authority.folder.parents)
    shutil.chown(authority.folder / "switch.key", "nobody")
    with tempfile.TemporaryDirectory(prefix="polysome-switch-") as place:
        folder = Path(place)
        folder.chmod(0o777)  # it makes its socket there
        with running(EXAMPLE, folder, authority.folder, {}, user="nobody") as process:
            authority.revoke("switch")
            process.await_log("has another list")
            authority.certify("switch")
            key = (authority.folder / "switch.key").stat()
            assert key.st_mode & 0o777 == 0o600 and key.st_uid == pwd.getpwnam("nobody").pw_uid
            until(lambda: served(authority, folder) == authority.serial("switch"))
            assert "cannot be read" not in process.log


def test_a_revoked_controller_is_refused(
    process: Process, controller: Client, authority: Authority, tmp_path: Path
) -> None:
    """On the connection that it has, too; with a new key it may ask again."""
    stolen = tmp_path / "stolen"
    shutil.copytree(authority.folder, stolen)
    authority.revoke("controller")

    def refused(client: Client) -> bool:
        try:
            client.statistics()
        except grpc.RpcError as error:
            assert error.code() == DENIED and "is revoked" in error.details()
            return True
        return False

    until(lambda: refused(controller))
    thief = Client(address(tmp_path), stolen, "controller")
    assert refused(thief)
    process.await_log("refused /polysome.control.SoftSwitch/Statistics: the certificate of `controller` is revoked")
    authority.certify("controller")
    owner = Client(address(tmp_path), authority.folder, "controller")
    assert owner.statistics().boot and refused(thief)
    thief.close()
    owner.close()


def damage(kind: str, authority: Authority, other: Authority) -> str:
    """What is wrong with the list from now on, and what is said of it."""
    path = authority.folder / "revoked.pem"
    if kind == "missing":
        path.unlink()
        return "the list of revoked certificates cannot be read"
    if kind == "forged":
        authority.replace("revoked.pem", other.read("revoked.pem"))
    elif kind == "truncated":
        authority.replace("revoked.pem", path.read_bytes()[:200])
    else:
        authority.replace("revoked.pem", b"")
    return "revoked.pem is no list of revoked certificates of this authority"


@pytest.mark.parametrize("kind", ["missing", "forged", "truncated", "empty"])
def test_a_list_that_is_of_no_use(
    kind: str, process: Process, controller: Client, authority: Authority, tmp_path: Path
) -> None:
    """That before stays in force, which is told; without one, there is no start."""
    thief = tmp_path / "stolen"
    shutil.copytree(authority.folder, thief)
    authority.revoke("controller")
    authority.certify("controller")
    process.await_log("has another list")
    good = (authority.folder / "revoked.pem").read_bytes()
    why = damage(kind, authority, Authority(tmp_path / "other"))
    owner = Client(address(tmp_path), authority.folder, "controller")
    until(lambda: why in owner.statistics().certificate.trouble)
    process.await_log(f"warning: {why}" if kind == "missing" else why)
    stolen = Client(address(tmp_path), thief, "controller")
    with pytest.raises(grpc.RpcError) as error:
        stolen.statistics()
    assert error.value.code() == DENIED
    stolen.close()
    again = tmp_path / "again"
    again.mkdir()
    started = Process(EXAMPLE, configuration(again, authority.folder, {}), again, None)
    assert started.popen.wait(10) == 3 and why in started.log
    authority.replace("revoked.pem", good)
    until(lambda: owner.statistics().certificate.trouble == "")
    owner.close()


def test_an_older_list_does_not_take_back_what_was_revoked(
    process: Process, controller: Client, authority: Authority, tmp_path: Path
) -> None:
    older = authority.read("revoked.pem")
    authority.revoke("operator")
    process.await_log("has another list")
    authority.replace("revoked.pem", older)
    until(lambda: "is older than the list" in controller.statistics().certificate.trouble)


def test_a_list_that_is_overdue_stops_nothing(authority: Authority, tmp_path: Path) -> None:
    """It is in force, at a start as well, and told."""
    authority.revoke("operator")
    authority.list_due(-1)
    with running(EXAMPLE, tmp_path, authority.folder, {}):
        client = Client(address(tmp_path), authority.folder, "controller")
        assert "should have been signed anew by" in client.statistics().certificate.trouble
        client.close()


def test_a_certificate_that_does_not_fit_is_not_taken(
    process: Process, controller: Client, authority: Authority, tmp_path: Path
) -> None:
    before, good = authority.serial("switch"), authority.read("switch.pem")
    other = Authority(tmp_path / "other", "switch")
    for wrong in (authority.read("controller.pem"), other.read("switch.pem"), good[:300], b""):
        authority.replace("switch.pem", wrong)
        until(lambda: "do not fit" in controller.statistics().certificate.trouble)
        assert served(authority, tmp_path) == before
        authority.replace("switch.pem", good)
        until(lambda: controller.statistics().certificate.trouble == "")


def test_another_authority_is_taken_with_all_that_it_has_signed(
    process: Process, controller: Client, authority: Authority, tmp_path: Path
) -> None:
    authority.revoke("controller")
    process.await_log("has another list")
    other = Authority(tmp_path / "other", "switch", "controller")
    for file in ("authority.pem", "switch.key", "switch.pem", "revoked.pem"):
        authority.replace(file, other.read(file))
    process.await_log("has another certificate")
    until(lambda: served(other, tmp_path) == other.serial("switch"))
    client = Client(address(tmp_path), other.folder, "controller")
    assert client.statistics().certificate.trouble == ""
    client.close()


def test_serial_numbers_are_as_the_list_is_read(authority: Authority) -> None:
    serial = authority.serial("switch")
    assert serial[:20] == "01" + hashlib.sha256(b"switch").hexdigest()[:18].upper() and serial[20:24] == "0000"
    authority.revoke("switch")
    authority.certify("switch")
    assert authority.serial("switch")[:24] == serial[:20] + "0001"
    names = authority.certificate("switch").extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["switch", "switch.g0", "switch.g1"]
