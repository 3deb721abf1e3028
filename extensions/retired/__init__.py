"""The retired sets of BFCL: executed functions, web services, literals."""
