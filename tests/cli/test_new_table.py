"""A kind of config table that is one folder: all of the compiler knows it; what needs C++ refuses it without."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.added import KINDS, polysome, with_kinds

from polysome.backends.nf_cpp.build import missing

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "load_balancer"
PACKETS = f"clients={EXAMPLE / 'clients.pcap'}"
SPEC = """
use net.l4;

struct Service { uplink: port, level: u16 }

nf by_port {
  port clients, servers;
  config services: ranges<u16, Service>;
  on packet from clients {
    require ipv4 and l4 else drop "no ports";
    let service = services[l4.dport] else drop "no service";
    if service.level < 3 { drop "low"; }
    send service.uplink;
  }
  on packet from servers { send clients; }
  property known {
    for p in trace where p.sent and p.in_port == clients
      expect p.before.services[p.in.l4.dport].uplink == p.out_port;
  }
  property never {
    for p in trace where p.in_port == clients expect not (p.before.services[p.in.l4.dport].level > 4);
  }
}
"""
TOML = """
services = [
  { low = 1, high = 1023, uplink = "servers", level = 100 },
  { low = 2000, high = 3000, uplink = "clients", level = 2 },
]
"""
CSV = "low,high,uplink,level\n1,1023,servers,100\n2000,3000,clients,2\n"
LATER = '{"at": "1ms", "set": {"services": [{"low": 1, "high": 4000, "uplink": "servers", "level": 1}]}}\n'

needs_compiler = pytest.mark.skipif(missing() is not None, reason=missing() or "")
Run = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def with_ranges(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_kinds(tmp_path_factory.mktemp("with_ranges"))


def given(folder: Path) -> None:
    """A spec, and files for it."""
    site = (EXAMPLE / "site.toml").read_text(encoding="utf-8")
    site = site.replace("[config]", "").replace('file = "config.toml"', "")
    files = {"by_port.nf": SPEC, "c.toml": TOML, "c.csv": CSV, "later.jsonl": LATER, "site.toml": site}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def run(with_ranges: Path, tmp_path: Path) -> Run:
    """Runs Polysome with the kinds of `tests/kinds`, where the spec is."""
    given(tmp_path)
    return lambda *words: polysome(with_ranges, *words, cwd=tmp_path)


def changed(place: Path, without: tuple[str, ...] = (), old: str = "", new: str = "") -> Path:
    """The same Polysome, whose `ranges` lacks files, or has another text in its `__init__.py`."""
    folder = with_kinds(place) / "polysome/kinds/state/ranges"
    folder.unlink()
    shutil.copytree(KINDS / "state/ranges", folder, ignore=shutil.ignore_patterns(*without, "__pycache__"))
    text = (folder / "__init__.py").read_text(encoding="utf-8")
    assert old in text
    (folder / "__init__.py").write_text(text.replace(old, new) if old else text, encoding="utf-8")
    return place


# ---------------------------------------------------------------- the language


def test_it_is_checked(run: Run, tmp_path: Path) -> None:
    code, text = run("check", "by_port.nf")
    assert code == 0 and "services" in text
    for old, new, expected in (
        ("ranges<u16, Service>;", "ranges<u16>;", "`ranges` takes 2 type parameters"),
        ("ranges<u16, Service>;", "ranges<u16, Service> { size 3; }", "config `services` has no clause `size`"),
        ("ranges<u16", "rangs<u16", "Did you mean `ranges`?"),
        ("services[l4.dport] else", "services[ipv4.src] else", "ipv4"),
    ):
        (tmp_path / "wrong.nf").write_text(SPEC.replace(old, new), encoding="utf-8")
        code, text = run("check", "wrong.nf")
        assert code == 1 and expected in text, text


def test_the_pages_on_messages_name_it(run: Run) -> None:
    assert "A table (list, set, map, lpm, acl, maglev, ranges) that" in run("explain", "E1005")[1]


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("words", [("--config", "c.toml"), ("--config", "services=c.csv")])
def test_files_give_it(run: Run, words: tuple[str, ...]) -> None:
    code, text = run("run", "by_port.nf", "--in", PACKETS, *words)
    assert code == 0 and "no service         220" not in text and "packets out        220  servers 220" in text
    code, text = run("run", "by_port.nf", "--in", PACKETS, *words, "--events", "later.jsonl")
    assert code == 0 and "low              216" in text


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            '[{ low = 1, high = 9, uplink = "servers", level = 1 },'
            ' { low = 9, high = 10, uplink = "servers", level = 1 }]',
            ["E1013", "rows 1 and 2 of `services` have a key in common", "row 1", "End one of the ranges"],
        ),
        ('[{ low = 9, high = 8, uplink = "servers", level = 1 }]', ["E1014", "this range is empty"]),
        ('[{ low = 9, uplink = "servers", level = 1 }]', ["E1008", "`high` is missing", "low = 1, high = 1, uplink"]),
        ('[{ low = 9, hihg = 9, uplink = "servers", level = 1 }]', ["E1007", "Did you mean `high`?"]),
        ('[{ low = 9, high = 65536, uplink = "servers", level = 1 }]', ["E1011", "65536 does not fit u16"]),
        ("3", ["E1006", "expected an array for ranges<u16, Service>"]),
    ],
)
def test_what_is_wrong_in_files_is_said(run: Run, tmp_path: Path, rows: str, said: list[str]) -> None:
    (tmp_path / "c.toml").write_text(f"services = {rows}\n", encoding="utf-8")
    code, text = run("run", "by_port.nf", "--in", PACKETS, "--config", "c.toml")
    assert code == 2 and all(each in text for each in said), text


def test_keys_are_integers(run: Run, tmp_path: Path) -> None:
    (tmp_path / "by_port.nf").write_text(SPEC.replace("ranges<u16,", "ranges<ipv4,").replace("l4.dport", "ipv4.src"))
    code, text = run("run", "by_port.nf", "--in", PACKETS)
    assert code == 2 and "E1016" in text and "ranges only with keys of integer types" in text, text


# ---------------------------------------------------------------- engines and tests


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine", ["interp", *(pytest.param(engine, marks=needs_compiler) for engine in ("native", "system"))]
)
def test_it_runs_and_is_tested_on_every_engine(run: Run, engine: str) -> None:
    code, text = run("run", "by_port.nf", "--in", PACKETS, "--config", "c.toml", "--engine", engine)
    assert code == 0 and "packets out        220  servers 220" in text
    held = ("table lookups", "known") if engine == "interp" else ("engines agree", "conservation")
    chosen = [word for name in held for word in ("--property", name)]
    code, text = run("test", "by_port.nf", "--traces", 40, "--seed", 1, "--engine", engine, *chosen)
    assert code == 0 and all(f"  holds    {name}" in text for name in held), text


def test_what_its_property_finds_has_a_small_config_that_is_read_again(run: Run, tmp_path: Path) -> None:
    code, text = run("test", "by_port.nf", "--traces", 60, "--seed", 1, "--property", "never", "--out", "found")
    assert code == 1 and "FAILS    never" in text and "the smallest trace has 1 packet" in text
    assert "-> services[1024] is Service { uplink: clients, level: 5 }" in text, text
    config = (tmp_path / "found/never.toml").read_text(encoding="utf-8")
    assert config == 'services = [\n  { low = 1024, high = 1024, uplink = "clients", level = 5 },\n]\n'
    code, text = run("test", "by_port.nf", "--replay", "found/never.json")
    assert code == 1 and "p.before.services[p.in.l4.dport].level = 5" in text
    code, text = run("run", "by_port.nf", "--in", PACKETS, "--config", "found/never.toml", "--explain-packet", 5)
    assert code == 0 and "services[80] is absent" in text, text


@pytest.mark.slow
def test_its_definition_finds_a_fault(run: Run, tmp_path: Path) -> None:
    broken = changed(tmp_path / "broken", (), "key <= self._rows[at][0][1]", "key < self._rows[at][0][1]")
    words = ("test", "by_port.nf", "--traces", 200, "--seed", 1, "--property", "table lookups")
    code, text = polysome(broken, *words, cwd=tmp_path)
    assert code == 1 and "FAILS    table lookups" in text and "`services` was asked for" in text
    assert "in ranges the row whose range holds the key" in " ".join(text.split())


@pytest.mark.slow
def test_coverage_searches_what_it_decides(run: Run) -> None:
    code, text = run("test", "by_port.nf", "--coverage", "--seconds", 200, "--seed", 1)  # it stops when all is reached
    assert code == 0 and "reached 12 of 12 branch outcomes" in text, text


@pytest.mark.slow
def test_it_is_planned_and_compiled(run: Run, tmp_path: Path) -> None:
    code, text = run("plan", "by_port.nf")
    assert code == 0 and "ipv4" in text
    (tmp_path / "names.nf").write_text(SPEC.replace("Service", "Ranges"), encoding="utf-8")
    code, text = run("compile", "names.nf", "-o", "library")
    assert code == 0, text
    header = (tmp_path / "library/nf/by_port.hpp").read_text(encoding="utf-8")
    assert header.count("class Ranges {") == 1 and "Ranges<uint16_t, Ranges_> services{};" in header
    code, text = run("compile", "by_port.nf", "--site", "site.toml", "--no-proof", "-o", "bundle")
    assert code == 0, text


# ---------------------------------------------------------------- with less in the folder


@pytest.fixture(scope="module")
def with_little(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`ranges` of what it is and how files give it, and nothing else."""
    return changed(tmp_path_factory.mktemp("with_little"), ("cpp.py", "*.hpp", "traffic.py", "lookup.py", "model.py"))


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--engine", "native", "--in", PACKETS),
        ("run", "--engine", "system", "--in", PACKETS),
        ("test", "--engine", "native", "--traces", 2),
        ("test", "--engine", "system", "--traces", 2),
        ("check", "--cost"),
        ("compile", "-o", "out"),
        ("compile", "--site", "site.toml", "--no-proof", "-o", "bundle"),
    ],
    ids=lambda words: " ".join(map(str, words[:3])).replace(str(EXAMPLE), ""),
)
def test_what_needs_its_cpp_refuses_it(with_little: Path, tmp_path: Path, words: tuple[object, ...]) -> None:
    given(tmp_path)
    code, text = polysome(with_little, words[0], "by_port.nf", *words[1:], cwd=tmp_path)
    errors = [line for line in text.splitlines() if line.startswith("error")]
    assert code and len(errors) == 1 and "a config table of kind ranges" in errors[0], text
    assert not (tmp_path / "out").exists() and not (tmp_path / "bundle").exists()


def test_without_the_rest_it_runs_and_is_tested_with_what_is_given(with_little: Path, tmp_path: Path) -> None:
    given(tmp_path)
    code, text = polysome(with_little, "run", "by_port.nf", "--in", PACKETS, "--config", "c.toml", cwd=tmp_path)
    assert code == 0 and "packets out        220  servers 220" in text
    words = ("test", "by_port.nf", "--traces", 20, "--seed", 1, "--property", "known", "--config", "c.toml")
    code, text = polysome(with_little, *words, cwd=tmp_path)
    assert code == 0 and "  holds    known" in text, text


def test_without_its_rows_no_file_can_give_it(tmp_path: Path) -> None:
    given(tmp_path)
    path = changed(tmp_path / "without", ("rows.py",))
    code, text = polysome(path, "run", "by_port.nf", "--in", PACKETS, cwd=tmp_path)
    assert code == 2 and "E1016" in text and "config `services` cannot be given in a file" in text
