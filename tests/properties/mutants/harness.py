"""Tries one mutant: `python -m tests.properties.mutants.harness NAME` prints what caught it, as JSON.

A mutant of the machinery is put in place as its module is imported, so each mutant needs a process of its own.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.util
import json
import sys
import tempfile
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.properties.mutants import native_specs
from tests.properties.mutants.kinds import EngineMutant, Mutant, NativeMutant, SpecMutant, SystemMutant
from tests.properties.mutants.machinery import ENGINE_MUTANTS
from tests.properties.mutants.native import NATIVE_MUTANTS
from tests.properties.mutants.native_harness import attempt_native, mutated_runtime
from tests.properties.mutants.specs import SPEC_MUTANTS
from tests.properties.mutants.system import SYSTEM_MUTANTS
from tests.properties.mutants.system_harness import attempt_system, copied

ROOT = Path(__file__).resolve().parents[3]
MUTANTS: dict[str, Mutant] = {m.name: m for m in (*SPEC_MUTANTS, *ENGINE_MUTANTS, *NATIVE_MUTANTS, *SYSTEM_MUTANTS)}


def mutated(text: str, mutant: Mutant) -> str:
    """The source with the fault in it. ValueError unless what it replaces stands there exactly once."""
    if (count := text.count(mutant.old)) != 1:
        raise ValueError(f"{mutant.name}: its text stands {count} times in the source")
    return text.replace(mutant.old, mutant.new)


def source_of(mutant: Mutant) -> Path:
    """The file that the mutant changes."""
    match mutant:
        case SpecMutant(file=str(file)):
            return ROOT / "stdlib" / file
        case SpecMutant(example=example):
            return ROOT / "examples" / example / f"{example}.nf"
        case EngineMutant(module=module):
            path = ROOT / "compiler" / Path(*module.split("."))
            return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        case NativeMutant(file=str(file)) | SystemMutant(file=str(file)):
            return ROOT / file


class _Import(importlib.abc.MetaPathFinder):
    """Imports one module with a fault in it."""

    def __init__(self, mutant: EngineMutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != self.mutant.module:
            return None
        found = PathFinder.find_spec(name, path)
        assert found is not None and found.origin is not None
        return importlib.util.spec_from_loader(name, _Loader(name, found.origin, self.mutant))


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, mutant: EngineMutant) -> None:
        super().__init__(name, path)
        self.mutant = mutant

    def get_code(self, fullname: str) -> Any:
        return compile(mutated(Path(self.path).read_text(encoding="utf-8"), self.mutant), self.path, "exec")


def install(mutant: SpecMutant | EngineMutant, folder: Path) -> Path:
    """Puts the fault in place (before Polysome is imported) and returns the spec to test."""
    spec = ROOT / "examples" / mutant.example / f"{mutant.example}.nf"
    if isinstance(mutant, EngineMutant):
        assert mutant.module not in sys.modules, f"{mutant.module} was imported too early"
        sys.meta_path.insert(0, _Import(mutant))
        return spec
    text = mutated(source_of(mutant).read_text(encoding="utf-8"), mutant)
    if mutant.file is None:
        (folder / spec.name).write_text(text, encoding="utf-8")
    else:  # a file beside the spec comes before the library's
        (folder / spec.name).write_text(spec.read_text(encoding="utf-8"), encoding="utf-8")
        (folder / mutant.file).parent.mkdir(parents=True, exist_ok=True)
        (folder / mutant.file).write_text(text, encoding="utf-8")
    return folder / spec.name


def attempt(mutant: Mutant, seconds: float, seed: int, first: bool) -> dict[str, Any]:
    """What a campaign of at most `seconds` finds: by property, the packets of its counterexample and when."""
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(mutant, NativeMutant):
            return {"kind": mutant.kind.name} | _native(mutant, Path(folder), seconds, seed)
        if isinstance(mutant, SystemMutant):
            text = mutated(source_of(mutant).read_text(encoding="utf-8"), mutant)
            checkout = copied(ROOT, mutant.file, text, Path(folder))
            return {"kind": mutant.kind.name} | attempt_system(mutant.name, checkout, mutant.test)
        path = install(mutant, Path(folder))
        from polysome.syntax.diagnostics import SpecError
        from polysome.testing.campaign import run
        from polysome.testing.plan import Plan
        from polysome.testing.spec import load

        try:
            spec = load(path)
        except SpecError as error:
            return {"name": mutant.name, "kind": mutant.kind.name, "refused": str(error)}
        result = run(spec, Plan(seed=seed, seconds=seconds, first=first, shrinking=10))
    caught = {
        o.name: {"packets": o.findings[0].packets, "seconds": round(o.findings[0].after, 2)} for o in result.failed
    }
    return {
        "name": mutant.name,
        "kind": mutant.kind.name,
        "caught": caught,
        "traces": result.traces,
        "seconds": round(result.seconds, 1),
    }


def _native(mutant: NativeMutant, folder: Path, seconds: float, seed: int) -> dict[str, Any]:
    example, runtime = ROOT / "examples" / mutant.example / f"{mutant.example}.nf", ROOT / "runtime"
    source = source_of(mutant)
    if source.suffix == ".hpp":
        runtime = mutated_runtime(runtime, mutant.file, mutated(source.read_text(encoding="utf-8"), mutant), folder)
    else:
        parts = source.relative_to(ROOT / "compiler").with_suffix("").parts
        module = EngineMutant(mutant.name, mutant.kind, ".".join(parts), mutant.old, mutant.new, mutant.example)
        sys.meta_path.insert(0, _Import(module))
    if mutant.example in native_specs.OWN:  # only now: it imports what may be mutated
        example = folder / f"{mutant.example}.nf"
        example.write_text(native_specs.text(mutant.example), encoding="utf-8")
    return attempt_native(mutant.name, example, runtime, folder / "cache", seconds, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description="Try one mutant.")
    parser.add_argument("name", choices=MUTANTS, metavar="name")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", action="store_true", help="stop at the first property that fails")
    options = parser.parse_args()
    print(json.dumps(attempt(MUTANTS[options.name], options.seconds, options.seed, options.first)))


if __name__ == "__main__":
    main()
