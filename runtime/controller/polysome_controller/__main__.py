"""`python3 -m polysome_controller CONFIG.json`.

Exit codes: 0 told to end, 2 the configuration is wrong, 3 something that it needs is not there.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

USAGE = "usage: python3 -m polysome_controller CONFIG.json (a message ControllerConfig of control.proto)"


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    try:
        from polysome_controller.controller import Controller
        from polysome_controller.errors import ConfigurationError, EnvironmentProblem
        from polysome_controller.layout import read_config
    except ImportError as error:
        text = f"{error}: install the packages of requirements.txt (cryptography, grpcio, protobuf, prometheus-client)"
        print(f"polysome-controller: error: {text}", file=sys.stderr)
        return 3

    async def run() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        await Controller(read_config(Path(arguments[0]))).run(stop)

    try:
        asyncio.run(run())
    except (ConfigurationError, EnvironmentProblem) as error:
        print(f"polysome-controller: error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ConfigurationError) else 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
