"""Trust report, figures and HTML of a fitted search."""

from sklearn_sha.inspection.envelope import envelope
from sklearn_sha.inspection.search_display import SearchDisplay
from sklearn_sha.inspection.trust import TrustReport, trust_report

__all__ = [
    "SearchDisplay",
    "TrustReport",
    "envelope",
    "trust_report",
]
