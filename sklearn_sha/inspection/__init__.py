"""Reads a fitted search: trust report, figures and HTML."""

from sklearn_sha.inspection.envelope import envelope
from sklearn_sha.inspection.search_display import SearchDisplay
from sklearn_sha.inspection.trust import TrustReport, trust_report

__all__ = [
    "SearchDisplay",
    "TrustReport",
    "envelope",
    "trust_report",
]
