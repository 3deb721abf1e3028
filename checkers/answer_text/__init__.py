"""Reader of final answers: tests whether they report required information, in English only."""
