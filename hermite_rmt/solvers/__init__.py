"""Numbers from equations: Newton and continuation in double, to any digits, and as proofs; knows no SymPy.

`attention_equations` and `attention_response` state Proposition 1 and Theorem 1 once, in plain arithmetic that every
number type runs; `attention_grid` solves them in double for whole grids, `attention_digits` to any digits, and
`attention_certified` with proof. `continuation` follows the branch of any compiled system.
"""
