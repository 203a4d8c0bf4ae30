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
    done = subprocess.run([sys.executable, "-c", f"{BEGIN}    {place}{END}"], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"heard {heard}\n", "")


def test_where_it_is_ignored_it_stays_so() -> None:
    text = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    text += BEGIN.replace("import gc, signal", "import gc") + "    interrupted()\n    print('goes on')\nfinally: pass\n"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("goes on\n", "")
