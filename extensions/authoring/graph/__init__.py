"""Function graph, whose edges lead from results to arguments, and random paths in the graph."""
