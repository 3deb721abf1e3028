"""Imported APIs: environments of recorded answers, and entries generated from them."""
