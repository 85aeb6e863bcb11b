"""Malaprop: private text and word embeddings under metric differential privacy.

>>> import malaprop
>>> tiny = malaprop.Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
>>> privatizer = malaprop.Privatizer(tiny, malaprop.TEM(epsilon=2.0))
>>> release = privatizer("Cold, very COLD!")
>>> release.guarantee.loss(1.0)
2.0
"""

from lazy_loader import attach_stub

# The names stand in `__init__.pyi`. A module is imported when one of its names is asked for, so
# that a program which needs a part waits for that part alone.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
