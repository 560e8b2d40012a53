"""Zero patterns: which entries of an inverse can be nonzero, from the nonzero entries of the matrix alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def perfect_matching(support: Collection[tuple[int, int]], blocks: Sequence[int]) -> dict[int, int] | None:
    """Return {column: row} of a perfect matching of rows and columns inside the support, or None.

    >>> perfect_matching({(0, 1), (1, 0)}, [0, 1])
    {1: 0, 0: 1}
    """
    columns: dict[int, list[int]] = {row: [] for row in blocks}
    for row, column in support:
        if row in columns:
            columns[row].append(column)
    matched: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for column in sorted(columns[row]):
            if column not in tried:
                tried.add(column)
                if column not in matched or place(matched[column], tried):
                    matched[column] = row
                    return True
        return False

    return matched if all(place(row, set()) for row in blocks) else None


def inverse_support(support: Collection[tuple[int, int]], blocks: Sequence[int]) -> set[tuple[int, int]]:
    """Return a superset of the support of the inverse of any matrix with this support, restricted to `blocks`.

    With the rows permuted so that the diagonal is nonzero, an inverse's support lies in the transitive closure
    of the matrix's graph. Where no permutation exists the matrix is singular, and everything may be nonzero.

    >>> sorted(inverse_support({(0, 0), (0, 1), (1, 1)}, [0, 1]))
    [(0, 0), (0, 1), (1, 1)]
    """
    matching = perfect_matching(support, blocks)
    if matching is None:
        return {(i, j) for i in blocks for j in blocks}
    position = {row: column for column, row in matching.items()}  # the row becomes the row of its column
    reach: dict[int, set[int]] = {i: {i} for i in blocks}
    for row, column in support:
        if row in position:
            reach[position[row]].add(column)
    for middle in blocks:  # Warshall
        for i in blocks:
            if middle in reach[i]:
                reach[i] |= reach[middle]
    return {(i, matching[j]) for i in blocks for j in reach[i]}
