"""Loggers: a run's settings, figures and report in MLflow and Weights & Biases."""
