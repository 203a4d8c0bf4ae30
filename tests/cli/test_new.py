"""`polysome new`: whatever it makes works at once, and a mistake leaves nothing behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import dpkt
import pytest
from tests.plan.helpers import program_of
from typer.testing import CliRunner, Result

from polysome.cli import new as command
from polysome.cli.main import app
from polysome.cli.sample import write_sample
from polysome.plan.site import Controller
from polysome.plan.site_complete import complete
from polysome.plan.site_config import config_of
from polysome.plan.site_file import open_site, site_of
from polysome.plan.split import plan
from polysome.resources import folder
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

KINDS = list(command._kinds())
WITH_CONFIG = {path.parent.name for path in command.SCAFFOLD.glob("*/config.toml.j2")}
FILES = {"README.md", "sample.pcapng", "site.toml", "test_my_nf.py", "my_nf.nf"}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def polysome(*arguments: object) -> Result:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def made(kind: str) -> Path:
    result = polysome("new", "my_nf", "--kind", kind)
    assert result.exit_code == 0 and result.stderr == "", result.stderr
    return Path("my_nf")


def test_without_a_name_it_lists_the_kinds() -> None:
    lines = polysome("new").stdout.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == KINDS and KINDS[0] == "plain"
    assert {"nat", "load_balancer", "firewall", "limiter"} < set(KINDS)
    assert all(len(line) <= 100 and line.endswith(".") for line in lines)
    assert os.listdir() == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_it_makes_works(kind: str) -> None:
    where = made(kind)
    spec = where / "my_nf.nf"
    assert {p.name for p in where.iterdir()} - {"config.toml"} == FILES
    checked = polysome("check", spec, "--deny", "all")
    assert checked.exit_code == 0 and checked.stderr == ""
    assert polysome("fmt", "--check", where).exit_code == 0
    program = check(spec, Report())
    config = ["--config", where / "config.toml"] if program.config else []
    assert (where / "config.toml").exists() == bool(program.config)
    run = polysome("run", spec, "--in", f"{program.ports[0]}={where / 'sample.pcapng'}", *config, "--json")
    assert run.exit_code == 0, run.stderr
    sent = re.search(r'"sent": (\d+)', run.stdout)
    assert sent is not None and int(sent[1]) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_it_has_the_properties_of_its_kind_and_one_of_its_own(kind: str) -> None:
    text = (made(kind) / "my_nf.nf").read_text(encoding="utf-8")
    assert "  property " in text and text.startswith("/// ")
    if (folder("stdlib") / "test" / f"{kind}.nf").exists():
        assert f"  use test.{kind}" in text
    else:
        assert kind == "plain"


def tofino(text: str) -> str:
    """The site as its comments say for a Tofino: a commented member replaces the same one above it."""
    lines: list[str] = []
    for line in text.split("\n"):
        member = re.match(r"# (\w+) = ", line)
        if member and lines and lines[-1].startswith(f"{member[1]} = "):
            lines[-1] = line.removeprefix("# ")
        else:
            lines.append(line)
    return "\n".join(lines)


def with_options(text: str) -> str:
    """The Tofino's site with all that its comments offer besides."""
    head, params, rest = tofino(text).partition("[params]")
    return re.sub(r"^# (?=\w+ = )", "", head, flags=re.M) + params + rest


@pytest.mark.parametrize("kind", KINDS)
def test_the_site_file_names_the_spec_s_own_ports_params_and_config(kind: str) -> None:
    where = made(kind)
    text = (where / "site.toml").read_text(encoding="utf-8")
    site = tomllib.loads(text)
    program = check(where / "my_nf.nf", Report())
    assert list(site) == [
        "architecture",
        "switch",
        "ports",
        "nf_servers",
        "rdma_servers",
        "controller",
        "params",
        "config",
    ]
    assert list(site["ports"]) == list(program.ports) and len(set(site["ports"].values())) == len(program.ports)
    assert site["config"] == ({"file": "config.toml"} if program.config else {})
    offered = re.findall(r'^# (\w+) = "(.*)"$', text.partition("[params]")[2], re.M)
    assert {name for name, _ in offered} == {name for name in program.params if name != "seed" and "." not in name}
    given = [option for name, value in offered for option in ("--param", f"{name}={value}")]
    assert polysome("check", where / "my_nf.nf", *given).exit_code == 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_site_is_one_for_a_bundle_as_written_and_for_a_tofino(kind: str) -> None:
    where = made(kind)
    path = where / "site.toml"
    planned = polysome("plan", where / "my_nf.nf", "--site", path)
    assert planned.exit_code == 0, planned.stderr
    program = program_of(where / "my_nf.nf")
    written = path.read_text(encoding="utf-8")
    for change in (str, tofino, with_options):
        path.write_text(change(written), encoding="utf-8")
        file = open_site(str(path), report := Report())
        site = site_of(file, program.ports, report)
        plan(program, site)
        complete(site, report)
        config_of(file, program, report)
        soft = change is str
        assert site.switch.name == ("linux" if soft else "tofino")
        assert all((server.device == "soft", server.huge_pages) == (soft, not soft) for server in site.rdma_servers)
        assert {server.nic.name for server in site.rdma_servers} == {"linux" if soft else "connectx5"}
    assert site.controller == replace(Controller(), metrics="0.0.0.0:9464", listen="192.0.2.1:50070")
    assert [server.spare for server in site.rdma_servers] == [80 * 10**9] * 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_bundle_is_made_for_its_site(kind: str) -> None:
    where = made(kind)
    written = (where / "site.toml").read_text(encoding="utf-8")
    (where / "rack.toml").write_text(tofino(written), encoding="utf-8")
    for site in ("site.toml", "rack.toml"):
        out = site.removesuffix(".toml")
        done = polysome("compile", where / "my_nf.nf", "--site", where / site, "-o", out, "--no-proof")
        assert done.exit_code == 0, done.stderr
        assert (Path(site.removesuffix(".toml")) / "source" / "config.toml").exists() == (kind in WITH_CONFIG)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_its_own_test_passes(kind: str) -> None:
    where = made(kind)
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=1", "test_my_nf.py"]
    done = subprocess.run(tests, cwd=where, env=env, capture_output=True, text=True)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout


def test_the_readme_says_commands_that_exist() -> None:
    text = (made("nat") / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^polysome (\w+)", text, re.M)
    known = {c.name for c in app.registered_commands}
    assert {"check", "run"} <= set(commands) <= known
    assert "--in inside=sample.pcapng --config config.toml" in text and "$" not in text
    for file in re.findall(r"^\| `(.+?)`", text, re.M):
        assert (Path("my_nf") / file).is_file()


def test_the_sample_is_well_formed() -> None:
    write_sample(Path("a.pcapng"))
    write_sample(Path("b.pcapng"))
    assert Path("a.pcapng").read_bytes() == Path("b.pcapng").read_bytes()
    packets = []
    with open("a.pcapng", "rb") as file:
        for time, data in dpkt.pcapng.Reader(file):
            packets.append((time, ip := dpkt.ethernet.Ethernet(data).data))
            segment = bytes(ip.data)
            pseudo = ip.src + ip.dst + bytes([0, ip.p]) + len(segment).to_bytes(2, "big")
            assert dpkt.in_cksum(bytes(ip)[:20]) == 0 and dpkt.in_cksum(pseudo + segment) == 0
            assert ip.len == 20 + len(segment)
    assert [time for time, _ in packets] == sorted(time for time, _ in packets)
    tcp = [ip.data for _, ip in packets if ip.p == 6]
    assert len(packets) == 55 and len(tcp) == 15 and sum(t.flags == 2 for t in tcp) == 3


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["a-b"], "Write for example `a_b`"),
        (["1st"], "Write for example `nf_1st`"),
        (["é"], "letters, digits and `_`"),
        ([""], "letters, digits and `_`"),
        (["let"], "Write for example `my_let`"),
        (["x/y/"], "Write `polysome new y --in x`"),
        (["x", "--kind", "nta"], "Did you mean `nat`?"),
        (["--kind", "nat"], "the NF has no name"),
        (["x", "--in", "nowhere"], "there is no folder nowhere"),
        (["taken"], "taken exists"),
        (["dangling"], "dangling exists"),
    ],
)
def test_mistakes_are_explained_and_nothing_is_made(arguments: list[str], says: str) -> None:
    Path("taken").mkdir()
    Path("dangling").symlink_to("nothing")
    result = polysome("new", *arguments)
    assert result.exit_code == 2 and says in result.stderr and result.stdout == ""
    assert sorted(os.listdir()) == ["dangling", "taken"] and os.listdir("taken") == []


def test_nothing_half_written_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> None:
        assert path.parent.name != "my_nf" and (path.parent / "my_nf.nf").exists()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(command, "write_sample", full)
    result = polysome("new", "my_nf")
    assert result.exit_code == 3 and "my_nf cannot be made: No space left on device" in result.stderr
    assert os.listdir() == []


def test_it_can_be_made_elsewhere() -> None:
    Path("there").mkdir()
    result = polysome("new", "my_nf", "--in", "there")
    assert result.exit_code == 0 and "cd there/my_nf && polysome check my_nf.nf" in result.stdout
    assert os.listdir("there") == ["my_nf"]
    assert polysome("new", "my_nf", "--in", "there").exit_code == 2
