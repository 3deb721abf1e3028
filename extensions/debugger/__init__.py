"""Time-travel debugger: a terminal application that steps through one episode."""
