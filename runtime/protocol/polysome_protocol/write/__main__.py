"""Writes them; run by `make protocol`."""

from __future__ import annotations

from pathlib import Path

from polysome_protocol.write import cpp, page

RUNTIME = Path(__file__).resolve().parents[3]


def main() -> None:
    (RUNTIME / "protocol" / "protocol.hpp").write_text(cpp.text(), encoding="utf-8")
    told = RUNTIME / "PROTOCOL.md"
    told.write_text(page.written(told.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
