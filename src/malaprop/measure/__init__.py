"""What a channel does to words, and what an observer learns.

statistics      what a channel does to single words
bayes_success   how often an observer without context guesses a word right
calibrate       from a target that a person understands to ε
calibrate_vectors   the same for vectors: what is left of distances, or how many are found again
best_lambda     λ of the Mahalanobis mechanism by a grid
noise_and_scale how noise compares with the distances of vectors
audit_words     the exact audit of some words and their nearest ones
sampled_audit   a lower bound on the loss, from draws alone
attack          privatize texts, attack the result: what an observer recovers or infers
attacks         the attacks, by name
train_model     a bigram model of a public corpus, for attacks with context
evaluate        privacy beside utility on your own texts, and a recommendation

>>> import malaprop
>>> from malaprop import measure
>>> line = malaprop.Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
>>> measure.statistics(malaprop.TEM(epsilon=2.0).on(line)).summary()["kept"].max < 0.99
True
"""

from lazy_loader import attach_stub

# The names stand in `__init__.pyi`. A module is imported when one of its names is asked for, so
# that a program which needs a part waits for that part alone.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
