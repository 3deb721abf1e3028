"""The judge: pure functions from outcomes to verdicts. No I/O, no live backends."""
