"""Time and events in worlds, and four example worlds."""
