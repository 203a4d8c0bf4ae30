"""Which branches of a spec tests reach, which none can, and packets for those that random traffic misses."""

from polysome.testing.coverage.coverage import Coverage, measure
from polysome.testing.coverage.search import campaign
from polysome.testing.coverage.text import as_json, report

__all__ = ["Coverage", "as_json", "campaign", "measure", "report"]
