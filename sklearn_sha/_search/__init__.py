"""The search classes, from their parameters to their fitted attributes."""
