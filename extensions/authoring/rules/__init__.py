"""Rules of ``dataset validate``, one topic per module."""
