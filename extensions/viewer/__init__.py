"""The viewer: all runs of a folder in the browser."""
