"""An interrupt is heard wherever it comes."""

from __future__ import annotations

import subprocess
import sys

import pytest

BEGIN = """
import gc, signal, time
from polysome.cli import interrupts

interrupts.hear()

def interrupted(*phase):
    signal.raise_signal(signal.SIGINT)
    reached.append(phase)

reached = []
class Outside:
    def __del__(self): interrupted()

def collecting(*phase):
    if not reached: interrupted()

def waits():
    for _ in range(200):
        time.sleep(0.01)
    raise SystemExit("nothing was heard")

try:
"""
END = """
    waits()
except KeyboardInterrupt:
    print("heard", len(reached))
"""


def said(program: str) -> tuple[str, str]:
    """Of a program that does not ignore the signal to begin with, as those that scripts start in the background do."""
    command = ["env", "--default-signal=INT", sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    ("place", "heard"),
    [
        ("interrupted()", 0),
        ("Outside()", 1),  # a finalizer goes on to its end
        ("Outside(), Outside()", 2),
        ("gc.callbacks.append(collecting); gc.collect()", 1),  # so does a callback
    ],
)
def test_an_interrupt_is_heard(place: str, heard: int) -> None:
    assert said(f"{BEGIN}    {place}{END}") == (f"heard {heard}\n", "")


def test_where_it_is_ignored_it_stays_so() -> None:
    text = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    text += BEGIN.replace("import gc, signal", "import gc") + "    interrupted()\n    print('goes on')\nfinally: pass\n"
    assert said(text) == ("goes on\n", "")
