"""What listens on this machine: sessions for models in other programs (MCP), runs for a browser."""
