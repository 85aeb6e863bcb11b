"""The graph of near words: how its edges are chosen, kept and balanced."""
