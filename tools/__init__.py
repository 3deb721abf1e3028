"""Scripts for authors of the built-in data; they are not installed."""
