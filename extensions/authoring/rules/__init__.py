"""The rules of ``dataset validate``, one idea per module. They find; they print nothing."""
