"""Function graph: which result can be which argument, and random paths over the graph."""
