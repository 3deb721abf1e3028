"""The rules of ``trajectories.validate``, one idea per module. They find; they print nothing."""
