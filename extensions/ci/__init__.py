"""Reports for continuous integration, and a pytest plugin."""
