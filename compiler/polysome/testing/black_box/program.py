"""The program under test as a process in its namespace; it ends with all that it started."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from polysome.engines.options import Failed
from polysome.testing.black_box.network import Network

NEEDED: Final = {"ip": "iproute2", "nsenter": "util-linux", "unshare": "util-linux", "setpriv": "util-linux"}
"""Programs that this calls, and their Debian packages."""

_GRACE: Final = 1.0  # s from SIGTERM to SIGKILL
_ROUNDS: Final = 100  # of 10 ms, in which what it left behind must end
_KEPT: Final = 1 << 16  # bytes of what it said
_SHOWN: Final = 300  # characters of that in messages
# /sys shows the interfaces of the namespace in which it was mounted: as ip-netns(8) does it, if that is allowed.
_OWN_SYS: Final = 'mount -t sysfs sysfs /sys 2>/dev/null; exec "$@"'


class Program:
    """Running from the beginning on. `output`: what it says, to be read without waiting; standard error is in it."""

    def __init__(self, words: Sequence[str], network: Network) -> None:
        """Raises Failed if there is no such program."""
        self.name = shlex.join(words)
        self.said = b""
        self._network = network
        if shutil.which(words[0]) is None:
            raise Failed(
                f"the program `{words[0]}` of `{self.name}` is not there, or may not be executed; "
                f"give its path, as seen from {os.getcwd()}"
            )
        there = f"--net=/proc/{os.getpid()}/fd/{network.handle}"
        # If this process is killed, so is the program.
        inside = ["unshare", "--mount", "sh", "-c", _OWN_SYS, "sh", "setpriv", "--pdeathsig", "KILL", "--", *words]
        self._process = subprocess.Popen(
            ["nsenter", there, "--", *inside],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self.output = self._process.stdout.fileno()
        os.set_blocking(self.output, False)

    def listen(self) -> bool:
        """Takes what it said since the last time; False once it will say nothing more."""
        try:
            data = os.read(self.output, 1 << 16)
        except BlockingIOError:
            return True
        self.said = (self.said + data)[-_KEPT:]
        return bool(data)

    def last_words(self) -> str:
        """The end of what it said, for messages."""
        lines = " ".join(self.said.decode(errors="replace").split())
        shown = lines if len(lines) <= _SHOWN else f"…{lines[-_SHOWN:]}"
        return f"it said last: {shown}" if shown else "it said nothing"

    def ended(self) -> str | None:
        """How it ended; None while it runs. It is not waited for, so that its number stays its own."""
        found = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        if found.si_code == os.CLD_EXITED:
            return f"ended with code {found.si_status}"
        return f"was ended by {signal.Signals(found.si_status).name}"

    def reads(self, interfaces: Sequence[int]) -> bool:
        """Has a process of the namespace a packet socket (packet(7)) on each of the interfaces?"""
        pid = self._process.pid
        if not self._network.holds(pid):
            return False  # not there yet
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/net/packet").read_text().splitlines()[1:]
            return set(interfaces) <= {int(line.split()[4]) for line in lines}
        return False

    def sleep(self) -> frozenset[tuple[str, str]] | None:
        """How often each of its threads went to sleep so far, if all sleep; None if one runs, or waits for a processor
        or a disk, or is about to end. Twice the same: it slept all the time between.
        """
        if not self._network.holds(self._process.pid):
            return None
        found = set()
        for pid in self._network.inhabitants():
            for path in Path(f"/proc/{pid}/task").glob("*/status"):
                with suppress(OSError):
                    lines = path.read_text().splitlines()
                    if any(line.startswith(("State:\tR", "State:\tD")) for line in lines):
                        return None
                    found |= {(str(path), line) for line in lines if line.startswith("voluntary_ctxt_switches")}
        return frozenset(found)

    def stop(self) -> None:
        """It is asked to end (SIGTERM), soon killed, and with it all that is left in its group and its namespace."""
        try:
            self._signal_group(signal.SIGTERM)
            end = time.monotonic() + _GRACE
            while self.ended() is None and time.monotonic() < end:
                time.sleep(0.002)
        finally:
            self._signal_group(signal.SIGKILL)
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._end_inhabitants()

    def _signal_group(self, what: signal.Signals) -> None:
        """Its first process was not waited for yet, so the group is no one else's."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, what)

    def _end_inhabitants(self) -> None:
        """What it started in other groups: nobody else is in the namespace."""
        for _ in range(_ROUNDS):
            there = self._network.inhabitants()
            if not there:
                return
            for pid in there:
                with suppress(OSError):
                    handle = os.pidfd_open(pid)
                    try:
                        if self._network.holds(pid):  # still the one that the handle is for
                            signal.pidfd_send_signal(handle, signal.SIGKILL)
                    finally:
                        os.close(handle)
            time.sleep(0.01)
