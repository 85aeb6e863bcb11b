"""English function words: articles, pronouns, prepositions, conjunctions, auxiliaries, particles.

All other words count as content words. The list is closed and public.
"""

from typing import Final

_LISTED: Final = """
    a an the this that these those such same other another each every either neither both all any
    some no none few several many much more most less least enough own
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
    himself she her hers herself it its itself they them their theirs themselves one ones who whom
    whose which what whoever whatever whichever someone anyone everyone nobody somebody anybody
    everybody something anything everything nothing
    aboard about above across after against along among amongst around as at before behind below
    beneath beside besides between beyond by despite down during except for from in inside into
    like near of off on onto out outside over past per since through throughout till to toward
    towards under underneath until up upon via with within without
    and but or nor so yet if then than because while whereas although though unless whether once
    when whenever where wherever why how
    am is are was were be been being do does did doing done have has had having will would shall
    should can could may might must ought
    not never ever also too very just only even still again here there now almost quite rather
    s t d ll m re ve don isn aren wasn weren doesn didn hasn haven hadn won wouldn shouldn couldn
    cannot
"""
FUNCTION_WORDS: Final = frozenset(_LISTED.split())
"""The function words, in small letters."""
