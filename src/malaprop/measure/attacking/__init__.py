"""What all attacks share: what an observer sees, likelihoods, learners, scores.

base              `Attack` and the registry
words             `WordAttack`, and what an observer of words sees
labels            `LabelAttack`: texts with labels, splits, bounds
vectors           `VectorAttack`: released vectors
adapting          shares of words, learnt from private text
learners          what attackers on labels train
likelihoods       which words an output may come from, from a law or from draws
forward_backward  beliefs in candidates, given a bigram model
models            the public model that an attack uses
scoring           the share of words recovered, with an interval
result            `AttackResult`, and one for each kind of attack
run               `attack`
training          `train_model`
"""
