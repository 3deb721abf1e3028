"""Reports for continuous integration, and a plugin for pytest."""
