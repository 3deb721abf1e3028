"""Calling formats: how functions are shown to a model and calls are written."""
