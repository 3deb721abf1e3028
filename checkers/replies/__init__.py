"""Readers of model replies: text, tool calls, Java, JavaScript, JSON and XML become calls."""
