"""Time and events of worlds, and four example worlds."""
