"""Function calls through joblib: workers, crash detection and captured output."""
