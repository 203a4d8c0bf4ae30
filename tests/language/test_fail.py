"""Every diagnostic: one file at least that shows it alone, with the exact message, and a page that explains it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from polysome.syntax.diagnostics import Diagnostic

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "compiler" / "polysome"
PAGES = PACKAGE / "explain"
FAIL = Path(__file__).parent / "fail"
# Where diagnostics of other files than specs have their cases and the tests of their pages.
ELSEWHERE = {
    **dict.fromkeys(("E10", "E11"), ROOT / "tests" / "config" / "fail"),  # configuration and event files
    "E12": ROOT / "tests" / "p4" / "fail",  # P4 programs
    **dict.fromkeys(("E13", "E14"), ROOT / "tests" / "plan" / "fail"),  # site files, and plans on them
}
Diagnose = Callable[[Path], tuple[list[Diagnostic], str]]

FILES = sorted(FAIL.glob("[EW]*.nf"))

LONGEST_LINE = 200
# Why nothing can be said that would mend it.
NO_MEND: dict[str, str] = {}


def codes_in_use() -> set[str]:
    sources = [p for p in PACKAGE.rglob("*.py") if "generated" not in p.parts]
    return {code for p in sources for code in re.findall(r'"([EW]\d{4})"', p.read_text(encoding="utf-8"))}


CODES = sorted(codes_in_use())


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_exact_message(
    path: Path, diagnose: Diagnose, golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FAIL)
    found, shown = diagnose(Path(path.name))
    assert {d.code for d in found} == {path.name[:5]}, shown
    for d in found:
        assert_helpful(d)
    golden(path.with_suffix(".txt"), shown)


def assert_helpful(d: Diagnostic) -> None:
    """It has a place, says why and how to mend it, and no line of it is a paragraph."""
    assert d.span is not None and not d.message.endswith("."), d
    assert d.why.endswith((".", "?")), d
    assert d.code in NO_MEND or d.mend.endswith((".", "?")), d
    for text in (d.message, d.label, d.why, d.mend, *(label for _, label in d.also)):
        assert len(text) <= LONGEST_LINE, text


@pytest.mark.parametrize("code", CODES)
def test_no_code_lacks_a_fail_file(code: str) -> None:
    folder = ELSEWHERE.get(code[:3], FAIL)
    assert any(p.name.startswith(code) for p in folder.iterdir()), f"{folder.relative_to(ROOT)}/{code}_… is missing"


def test_no_file_is_left_behind() -> None:
    """What shows a code that is no longer used, or no longer has its spec, is rubbish."""
    assert {p.name[:5] for p in FILES} <= set(CODES)
    assert {p.stem for p in PAGES.glob("*.md")} <= set(CODES)
    assert {p.stem for p in FAIL.glob("*.txt")} <= {p.stem for p in FILES}


@pytest.mark.parametrize("code", CODES)
def test_no_code_lacks_a_page(code: str) -> None:
    page = PAGES / f"{code}.md"
    assert page.is_file(), f"{page.relative_to(ROOT)} is missing"
    title = page.read_text(encoding="utf-8").split("\n", 1)[0]
    assert re.fullmatch(rf"# {code}: \S.*[^.]", title), title


def examples(page: Path) -> tuple[dict[str, str], list[str]]:
    """The page's specs: files that others use begin with their name in a comment; then what fails, then what works."""
    blocks = re.findall(r"```nf\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    helpers = {m[1]: b for b in blocks if (m := re.match(r"// (\S+\.nf)\n", b))}
    return helpers, [b for b in blocks if b not in helpers.values()]


@pytest.mark.parametrize(
    "page", sorted(p for p in PAGES.glob("*.md") if p.stem[:3] not in ELSEWHERE), ids=lambda p: p.stem
)
def test_the_first_example_fails_and_the_second_is_mended(
    page: Path, diagnose: Diagnose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helpers, specs = examples(page)
    assert len(specs) == 2, f"{page.name} has {len(specs)} examples"
    monkeypatch.chdir(tmp_path)
    for name, text in helpers.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    for text, expected in zip(specs, ([page.stem], []), strict=True):
        Path("spec.nf").write_text(text, encoding="utf-8")
        found, shown = diagnose(Path("spec.nf"))
        assert [d.code for d in found] == expected, shown
