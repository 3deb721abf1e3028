"""Function graph, with edges from results to arguments, and random paths in the graph."""
