"""What can go wrong with a deployment, for the commands to print."""

from __future__ import annotations


class DeployError(Exception):
    """`text`: what is wrong, where and why; `mend`: how to mend it; `code`: the exit code, 2 input, 3 environment."""

    def __init__(self, text: str, mend: str = "", code: int = 3) -> None:
        super().__init__(text)
        self.mend = mend
        self.code = code
