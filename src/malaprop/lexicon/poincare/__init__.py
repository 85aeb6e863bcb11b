"""Training vectors in the Poincaré ball from IS-A relations (Nickel & Kiela 2017).

    relations    pairs of words from a file, and all that is above each word
    wordnet      such pairs from WordNet
    training     the vectors, by stochastic gradients on the ball
    gradients    the gradient of its loss on a batch of words
    checkpoint   what an interrupted training goes on from
    quality      how well the vectors give the relations back
    compiling    from relations to a lexicon that opens by its name

The command line has it as  malaprop lexicon train-poincare.
"""
