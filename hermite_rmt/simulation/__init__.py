"""Finite n and p: tokens, features, one ridge solve a trial, estimates with standard errors; knows no SymPy."""
