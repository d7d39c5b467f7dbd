"""How far a search is, and how long it still takes."""
