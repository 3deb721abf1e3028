"""Generated entries: writing tasks, filters of answers, and checks of whole entries."""
