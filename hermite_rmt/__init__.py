"""hermite_rmt: a symbolic-numeric theory toolkit for nonlinear random matrices."""
