"""Scripts for those who make the data; none of them is shipped."""
