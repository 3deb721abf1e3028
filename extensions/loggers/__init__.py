"""Loggers: a run's settings, metrics and report in MLflow and Weights & Biases."""
