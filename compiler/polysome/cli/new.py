"""`polysome new`: a folder with a small NF that works, to go on from."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Annotated

import typer

from polysome.captures.errors import CaptureError
from polysome.cli.common import COMMAND_LINE, ENVIRONMENT, fail
from polysome.cli.sample import write_sample
from polysome.syntax import ast
from polysome.syntax.diagnostics import Report, did_you_mean

SCAFFOLD = Path(__file__).resolve().parent.parent / "scaffold"
DEFAULT = "plain"
LANES = 4  # device ports that a port of 100 Gbit/s takes, so that the numbers suit a Tofino too


def new(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Of the NF and of its folder; without it, list the kinds.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help=f"What to begin with (default: {DEFAULT}).")
    ] = None,
    parent: Annotated[Path, typer.Option("--in", metavar="FOLDER", help="Where to make the folder.")] = Path("."),
) -> None:
    """Make a folder with a small NF that works: spec, config, site file, test, sample capture."""
    kinds = _kinds()
    if kind is not None and kind not in kinds:
        fail(COMMAND_LINE, f"--kind {kind}: there is no such kind", did_you_mean(kind, kinds))
    if name is None:
        if kind is not None:
            fail(COMMAND_LINE, "the NF has no name", f"Write for example `polysome new my_{kind} --kind {kind}`.")
        for each, about in kinds.items():
            print(f"{each:<{max(map(len, kinds))}}  {about}")
        print("`polysome new NAME --kind KIND` makes a folder with one of these to go on from.")
        return
    _check_name(name)
    if not parent.is_dir():
        fail(COMMAND_LINE, f"there is no folder {parent}", f"Make it (`mkdir -p {parent}`), or name another.")
    target = parent / name
    if os.path.lexists(target):
        fail(COMMAND_LINE, f"{target} exists", "Choose another name, or another folder with `--in FOLDER`.")
    files = _make(name, kind or DEFAULT, target)
    print(f"made {target}: {kinds[kind or DEFAULT]}")
    for file in files:
        print(f"  {target / file}")
    print(f"next: cd {target} && polysome check {name}.nf; README.md says more")


def _kinds() -> dict[str, str]:
    """Each kind and what it is, the plain one first."""
    found = {}
    for path in sorted(SCAFFOLD.glob("*/spec.nf.j2"), key=lambda p: (p.parent.name != DEFAULT, p.parent.name)):
        found[path.parent.name] = path.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("/// ")
    return found


def _check_name(name: str) -> None:
    from polysome.syntax.syntax_errors import RESERVED

    if "/" in name:
        folder, _, last = name.rstrip("/").rpartition("/")
        fail(COMMAND_LINE, f"{name}: a name, not a path", f"Write `polysome new {last} --in {folder or '/'}`.")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        close = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
        mend = f"Write for example `{close if close[:1].isalpha() else f'nf_{close}'.rstrip('_')}`."
        fail(COMMAND_LINE, f"{name}: a name consists of letters, digits and `_`, and begins with a letter", mend)
    if name in RESERVED:
        fail(COMMAND_LINE, f"{name}: this word has a meaning in the language", f"Write for example `my_{name}`.")


def _make(name: str, kind: str, target: Path) -> list[str]:
    """Write all files, under their name only when all is there; their names."""
    scratch = target.with_name(f".{name}.{os.getpid()}")
    try:
        scratch.mkdir()
        _write(name, kind, scratch)
        scratch.rename(target)
    except OSError as error:
        fail(ENVIRONMENT, f"{target} cannot be made: {error.strerror}")
    except CaptureError as error:
        fail(ENVIRONMENT, f"{target} cannot be made: {error}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return sorted(path.name for path in target.iterdir())


def _write(name: str, kind: str, folder: Path) -> None:
    from polysome.backends.templates import filled  # for start-up time

    spec = filled(SCAFFOLD, f"{kind}/spec.nf", {"name": name})
    (folder / f"{name}.nf").write_text(spec, encoding="utf-8")
    has_config = (SCAFFOLD / kind / "config.toml.j2").exists()
    if has_config:
        (folder / "config.toml").write_text(filled(SCAFFOLD, f"{kind}/config.toml", {"name": name}), encoding="utf-8")
    values = _values(name, kind, spec, has_config)
    for template, file in (("site.toml", "site.toml"), ("README.md", "README.md"), ("test.py", f"test_{name}.py")):
        (folder / file).write_text(filled(SCAFFOLD, template, values), encoding="utf-8")
    write_sample(folder / "sample.pcapng")


def _values(name: str, kind: str, spec: str, has_config: bool) -> dict[str, str]:
    """What the templates name, from the spec's own declarations and the defaults of sites."""
    from polysome.analysis.words import duration
    from polysome.plan.site import BackOff, Controller
    from polysome.syntax.parse import parse

    tree = parse(name, spec, Report())
    assert tree is not None
    items = next(item for item in tree.items if isinstance(item, ast.NfDecl)).items
    ports = [port.text for item in items if isinstance(item, ast.PortDecl) for port in item.names]
    params = [item for item in items if isinstance(item, ast.ParamDecl) and item.default is not None]
    defaults = {p.name.text: spec[p.default.span.start : p.default.span.end] for p in params if p.default is not None}
    return {
        "name": name,
        "about": _kinds()[kind],
        "port": ports[0],
        "ports": "\n".join(f"{port} = {i * LANES}" for i, port in enumerate(ports)),
        "poll": duration(Controller.poll),
        "probe": duration(Controller.probe),
        **{share: str(value) for share, value in vars(BackOff()).items()},
        "params": "".join(f'# {param} = "{value}"\n' for param, value in defaults.items()),
        "config": 'file = "config.toml"' if has_config else "# It declares none.",
        "files": "| `config.toml` | what may change while it runs |\n" if has_config else "",
        "given": " --config config.toml" if has_config else "",
    }
