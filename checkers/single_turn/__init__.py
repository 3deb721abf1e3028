"""The judge of single-turn entries: it compares calls, not states. No I/O."""
