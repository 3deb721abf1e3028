"""Data authoring: makes, validates, describes and audits data sets."""
