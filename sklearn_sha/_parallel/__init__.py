"""joblib: workers, monitoring of calls, captured output."""
