"""Data authoring: creation, validation, description and audit of data sets."""
