"""The search classes: parameters, preparation, runs, fitted attributes and delegation."""
