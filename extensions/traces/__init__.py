"""Import and export of traces: OpenAI messages, OpenTelemetry, LangSmith, inspect_ai."""
