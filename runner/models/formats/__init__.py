"""Prompt formats: how function documents are written into a prompt."""
