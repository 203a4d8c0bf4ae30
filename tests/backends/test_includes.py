"""The files that C++ sources include are found as a compiler finds them."""

from __future__ import annotations

from pathlib import Path

from polysome.backends.includes import with_included


def test_what_is_included_is_found(tmp_path: Path) -> None:
    texts = {
        "own/main.cpp": '#include <vector>\n#include "near.hpp"\n  # include"deep/far.hpp"\n// #include "no.hpp"\n',
        "own/near.hpp": '#include "both.hpp"\n#include "openssl/evp.h"\n',
        "own/both.hpp": '#include "../own/near.hpp"\n',
        "first/deep/far.hpp": '#include "both.hpp"\n',
        "first/both.hpp": "",
        "second/both.hpp": "",
        "own/no.hpp": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = with_included([tmp_path / "own/main.cpp"], lambda _: (tmp_path / "first", tmp_path / "second"))
    names = {str(path.relative_to(tmp_path)) for path in found}
    assert names == {"own/main.cpp", "own/near.hpp", "own/both.hpp", "first/deep/far.hpp", "first/both.hpp"}
