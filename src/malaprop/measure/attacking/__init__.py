"""What all attacks on words share: what an observer sees, likelihoods, scores.

base              `Attack`, the registry, and what an attack is given
likelihoods       which words an output may come from, from a law or from draws
forward_backward  beliefs in candidates, given a bigram model
models            the public model that an attack uses
scoring           the share of words recovered, with an interval
result            `AttackResult`
run               `attack`
training          `train_model`
"""
