"""Generated entries: writing tasks, filters for answers, and checks of whole entries."""
