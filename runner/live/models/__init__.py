"""Live models: what they are asked, what they answer, and the clients that reach them."""
