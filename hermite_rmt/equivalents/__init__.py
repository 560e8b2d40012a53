"""From a random matrix expression to its self-consistent equations: symbols and exact numbers only.

The passes, in order, and the modules that hold them:

    entrywise      f of scores, with its diagonal removed, as part of the language
    linearisation  f of scores -> a_1 (scores) + noise
    reading        SymPy expression -> nodes, sizes and orders checked (nodes: their algebra)
    circuit        node -> linear pencil (selfadjoint: its symmetric form; verification: that it holds and is minimal)
    dyson          pencil -> (L_0 - eta(R)) R = 1, by dimension and atom (species, covariance; pattern: what vanishes)
    spikes         deterministic vectors -> quadratic forms
    reduction      merging, Ward identities, elimination, each a named step (polynomials, fields, ward, merging)
    elimination    one polynomial for the trace (series, guess: from the series of the branch)
    hermitise      the pencil that is invertible whatever is inverted (positivity: where it is not needed)

The letters are in `ensembles` and `spectral` (`declared`: what they share); what comes out is a
`system.EquationSystem`.
"""
