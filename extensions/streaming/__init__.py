"""Streaming: streamed answers of live models."""
