"""Campaigns: traces from a spec, each run once, judged by every property; failures are made small and told by cause."""

from __future__ import annotations

from polysome.testing.campaign.campaign import Campaign, run
from polysome.testing.campaign.causes import Cause
from polysome.testing.campaign.crews import Crew, Here, Processes
from polysome.testing.campaign.journal import Journal, Nothing
from polysome.testing.campaign.properties import due, judged, names, properties
from polysome.testing.campaign.ray_crew import Ray
from polysome.testing.campaign.results import Finding, Outcome, Result
from polysome.testing.campaign.traces import sized, stream

__all__ = [
    "Campaign",
    "Cause",
    "Crew",
    "Finding",
    "Here",
    "Journal",
    "Nothing",
    "Outcome",
    "Processes",
    "Ray",
    "Result",
    "due",
    "judged",
    "names",
    "properties",
    "run",
    "sized",
    "stream",
]
