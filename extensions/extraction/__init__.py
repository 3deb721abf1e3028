"""Extraction: structured data from texts, judged field by field."""
