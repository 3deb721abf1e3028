"""Readers of calls in model replies: text, tool calls, Java, JavaScript, JSON and XML."""
