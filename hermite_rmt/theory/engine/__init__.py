"""What stands behind `theory.equivalent`: from the equations of an expression, and values, to numbers and proofs.

In the order in which they are used:

    values, domain, gram       what a user gives: numbers, whether they make sense, overlaps of vectors
    derived                    what is known before any number: pencil, equations, polynomial, moments
    branch, hermitised,        which solution is meant: the path to it
    contraction
    solver, point_solver       the path followed, then Newton's method to the digits asked for
    congruence                 from the plain pencil's unknowns to the self-adjoint one's
    ball_system, branch_proof  the same equations as functions of balls: a solution, and that it is the limit
    certifier                  both at one point
"""
