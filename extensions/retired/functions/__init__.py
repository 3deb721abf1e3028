"""The functions of the retired sets, as environments."""
