"""Episodes: execution and judging of calls, without I/O."""
