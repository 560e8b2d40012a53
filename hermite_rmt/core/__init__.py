"""Numbers at the door, local precision, balls, and what a solve returns."""
