"""Privacy beside utility on the owner's own texts, at several settings of the mechanism.

settings      what to measure
attackers     the attacks, over several noise draws
bench         the sample, prepared once: attacks, tasks and bounds on it
cells         what was measured at one setting
kept          cells of an earlier run, so that none is measured twice
recommending  which setting to choose, and why
evaluation    `Evaluation`, the result
run           `evaluate`
"""
