"""A hidden Markov model: the forward algorithm on a logarithmic scale, its gradient, and the most probable states.

A dealer switches between a fair and a loaded die (Durbin, Eddy, Krogh and Mitchison, Biological
Sequence Analysis, 1998, chapter 3).
"""

import itertools

import numpy as np

import bitale as bt
import bitale.tensor as pt

rng = np.random.default_rng(7)
transitions = np.array([[0.95, 0.05], [0.1, 0.9]])
emissions = np.array([[1 / 6] * 6, [0.1] * 5 + [0.5]])
begin = np.array([2 / 3, 1 / 3])

rolls, states, state = [], [], 0
for _ in range(300):
    state = rng.choice(2, p=transitions[state])
    states.append(state)
    rolls.append(rng.choice(6, p=emissions[state]))
rolls, states = np.array(rolls), np.array(states)

seen = pt.lvector("seen")
log_begin, log_transitions, log_emissions = (
    pt.dvector("log_begin"),
    pt.dmatrix("log_transitions"),
    pt.dmatrix("log_emissions"),
)
terms = log_emissions.T[seen]  # of each roll, by state


def forward(term, alpha):
    return term + pt.logsumexp(alpha[:, None] + log_transitions, axis=0)


alphas = bt.scan(forward, terms[1:], log_begin + terms[0], return_updates=False)
likelihood = pt.logsumexp(pt.concatenate([(log_begin + terms[0])[None], alphas])[-1])
# The derivative by a roll's term is the probability of the state, given all rolls.
inputs = [seen, log_begin, log_transitions, log_emissions]
f = bt.function(
    inputs, [likelihood, bt.grad(likelihood, terms), bt.grad(likelihood, log_transitions)]
)
parameters = [np.log(begin), np.log(transitions), np.log(emissions)]


def written_out(rolls, begin, transitions, emissions):
    alpha, total = begin * emissions[:, rolls[0]], 0.0
    for roll in rolls[1:]:
        total += np.log(alpha.sum())
        alpha = (alpha / alpha.sum()) @ transitions * emissions[:, roll]
    return total + np.log(alpha.sum())


value, posterior, counts = f(rolls, *parameters)
np.testing.assert_allclose(value, written_out(rolls, begin, transitions, emissions), rtol=1e-12)
np.testing.assert_allclose(posterior.sum(axis=1), 1, rtol=1e-12)
np.testing.assert_allclose(
    counts.sum(), len(rolls) - 1, rtol=1e-10
)  # how often each change of states is expected

# All ways through eight rolls.
short = rolls[:8]
every = [
    begin[way[0]] * np.prod(transitions[way[:-1], way[1:]]) * np.prod(emissions[way, short])
    for way in map(np.array, itertools.product(range(2), repeat=len(short)))
]
np.testing.assert_allclose(f(short, *parameters)[0], np.log(np.sum(every)), rtol=1e-12)

right = (posterior.argmax(axis=1) == states).mean()
assert right > 0.7
print(
    f"dice: log likelihood {value:.3f}; the likelier state of each roll is right {right:.0%} of the time"
)
