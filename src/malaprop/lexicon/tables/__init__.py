"""The tables of a lexicon: what is computed once for it, kept, and carried by it.

    values            the tables themselves: plain, frozen, each with the fingerprint it belongs to
    exponent_files    TEM's audited exponents, as JSON
    balance_files     the balances of a word graph, as a folder of arrays
    nearest_files     the nearest words of each word, as an array
    kept              the only module that looks tables up, in the package and in the user's folder
    graphs            the same for word graphs, which are metrics rather than tables

`Lexicon.open`, `with_graph` and `with_metric` attach what they find; mechanisms read
`lexicon.tables` and no file. A table belongs to the lexicon whose fingerprint it has, and to no
other. Tables in the package are used only as they were verified; the user's folder is the user's.
"""
