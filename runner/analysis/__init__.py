"""What runs say: opened again, executed again, compared and explained."""
