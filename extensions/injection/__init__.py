"""Prompt injection: attacks on entries, their scores, and AgentDojo's suites and runs."""
