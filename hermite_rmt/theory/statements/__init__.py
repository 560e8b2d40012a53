"""Statements by name: `laws` holds expressions of classical laws, `derivation` writes out how each follows."""
