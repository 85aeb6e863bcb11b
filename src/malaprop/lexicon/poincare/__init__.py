"""Training vectors in the Poincaré ball from IS-A relations (Nickel & Kiela 2017).

    relations    pairs of words from a file, and all words above each word
    wordnet      such pairs from WordNet
    training     the vectors, by stochastic gradient descent on the ball
    gradients    the gradient of the loss on a batch of words
    checkpoint   the file from which an interrupted training resumes
    quality      how well the vectors reproduce the relations
    compiling    from relations to a lexicon that opens by its name

On the command line:  malaprop lexicon train-poincare
"""
