"""What can go wrong between the controller and its parts, and with its own configuration."""

from __future__ import annotations


class PartError(Exception):
    """A part did not do what it was asked. The text says why, for people."""


class Unreachable(PartError):
    """No answer, or none in time. The part may or may not have done it."""


class Refused(PartError):
    """The part, or a check of the controller's own, said no: nothing has changed."""


class NotProved(PartError):
    """Queue pairs did not bring back what was parked on them."""


class Untrusted(Refused):
    """The other end has no certificate of the deployment's authority with the part's name."""


class ConfigurationError(Exception):
    """The ControllerConfig is wrong: exit code 2."""


class EnvironmentProblem(Exception):
    """Something that the controller needs is not there: exit code 3."""
