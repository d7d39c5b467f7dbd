"""Results of a search: cv_results_, rung_history_ and messages about failures."""
