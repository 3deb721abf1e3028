"""What a calling format is, and tool calls of chat completions; others are an extension."""
