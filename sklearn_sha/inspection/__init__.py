"""Trust report, figures and HTML of a fitted search."""

from sklearn_sha.inspection.edges import Edge, EdgeReport, edge_report
from sklearn_sha.inspection.envelope import envelope
from sklearn_sha.inspection.importance import ParameterImportance, parameter_importance
from sklearn_sha.inspection.interactive_figure import interactive_figure
from sklearn_sha.inspection.report import TrustReport
from sklearn_sha.inspection.search_display import SearchDisplay
from sklearn_sha.inspection.trust import trust_report

__all__ = [
    "Edge",
    "EdgeReport",
    "ParameterImportance",
    "SearchDisplay",
    "TrustReport",
    "edge_report",
    "envelope",
    "interactive_figure",
    "parameter_importance",
    "trust_report",
]
