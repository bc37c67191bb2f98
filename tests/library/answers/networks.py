"""Answers to the exercises on networks."""

import numpy as np

from primer import networks
from primer.exercises import networks as exercises


def sigma(z, beta):
    return 1 / (1 + np.exp(-beta * z))


def swish(z, beta):
    s = sigma(z, beta)
    return s * (1 + beta * z * (1 - s))


def play(links, add=True, order=reversed, seed=1.0):
    gradient = [0.0] * len(links)
    gradient[-1] = seed
    for node in order(range(len(links))):
        for operand, slope in links[node]:
            share = slope * gradient[node]
            gradient[operand] = gradient[operand] + share if add else share
    return gradient


def play_and_empty(links):
    gradient = play(links)
    links.clear()
    return gradient


def breadth_first(links):
    gradient = [0.0] * (len(links) - 1) + [1.0]
    queue = [len(links) - 1]
    for node in queue:  # it grows on the way
        for operand, slope in links[node]:
            gradient[operand] += slope * gradient[node]
            if operand not in queue:
                queue.append(operand)
    return gradient


def first_come(links, again=False):
    gradient = [0.0] * (len(links) - 1) + [1.0]
    waiting = [len(links) - 1]
    met = set(waiting)
    while waiting:
        node = waiting.pop(0)
        for operand, slope in links[node]:
            gradient[operand] += slope * gradient[node]
            if again or operand not in met:
                waiting.append(operand)
                met.add(operand)
    return gradient


def play_from_ones(links):
    gradient = [1.0] * len(links)
    for node in reversed(range(len(links))):
        for operand, slope in links[node]:
            gradient[operand] += slope * gradient[node]
    return gradient


def slopes_alone(links):
    gradient = [0.0] * (len(links) - 1) + [1.0]
    for node in reversed(range(len(links))):
        for operand, slope in links[node]:
            gradient[operand] += slope
    return gradient


def bracket(part):
    """Return the gradient with another bracket."""

    def gradient(x, gain, g):
        hat = (x - x.mean()) / x.std()
        return gain / x.std() * eval(part, {"g": g, "x": x, "hat": hat})

    return gradient


def norm(x, gain, g, mean=True, along=True, scale=True, keep_gain=True, ddof=0, epsilon=0):
    s = np.sqrt(x.var(ddof=ddof) + epsilon)
    hat = (x - x.mean()) / s
    bracket = g - mean * g.mean() - along * hat * (g * hat).sum() / (len(x) - ddof)
    return (gain if keep_gain else 1) * bracket / (s if scale else 1)


def sample_deviation(x, gain, g):
    s = x.std(ddof=1)
    hat = (x - x.mean()) / s
    return gain / s * (g - g.mean() - hat * (g * hat).mean())


def spoiled(features, classes):
    classes[:] = 0
    return 0.01


def in_proportion(features, classes):
    """Choose without a look at any error, only at how long the features are."""
    return 0.1 * np.linalg.norm(features) ** 2 / len(features)


def validated(features, classes):
    targets = np.eye(10)[classes] - 0.1
    grid = 10.0 ** np.arange(-4, 5)
    errors = []
    for penalty in grid:
        wrong = 0
        for fold in range(5):
            out = np.arange(len(features)) % 5 == fold
            W = networks.minimum_norm_fit(features[~out], targets[~out], penalty).weights
            wrong += ((features[out] @ W).argmax(axis=1) != classes[out]).sum()
        errors.append(wrong)
    return grid[int(np.argmin(errors))]


RIGHT = [
    (exercises.check_swish_slope, swish),
    (exercises.check_play_backward, play),
    (exercises.check_play_backward, play_and_empty),
    (exercises.check_batch_norm_gradient, norm),
    (exercises.check_choose_penalty, validated),
]

WRONG = [
    (exercises.check_swish_slope, sigma, "z times the sigmoid's slope is missing"),
    (
        exercises.check_swish_slope,
        lambda z, b: b * z * sigma(z, b) * (1 - sigma(z, b)),
        "the sigmoid itself is missing",
    ),
    (
        exercises.check_swish_slope,
        lambda z, b: sigma(z, b) + z * sigma(z, b) * (1 - sigma(z, b)),
        "brings a factor β",
    ),
    (exercises.check_swish_slope, lambda z, b: swish(z, 1.0), "inside the sigmoid"),
    (
        exercises.check_swish_slope,
        lambda z, b: sigma(z, b) * (1 + b * z * (1 + sigma(z, b))),
        "with a minus",
    ),
    (exercises.check_swish_slope, lambda z, b: z * sigma(z, b), "this is the function"),
    (
        exercises.check_swish_slope,
        lambda z, b: sigma(z, b) * (1 + b * z),
        r"σ\(1 − σ\), not σ",
    ),
    (exercises.check_play_backward, lambda links: play(links, add=False), "overwritten"),
    (exercises.check_play_backward, lambda links: play(links, order=list), "backward"),
    (exercises.check_play_backward, breadth_first, "before all of its uses"),
    (exercises.check_play_backward, first_come, "before all of its uses"),
    (
        exercises.check_play_backward,
        lambda links: first_come(links, again=True),
        "passed on again",
    ),
    (exercises.check_play_backward, lambda links: play(links, seed=0.0), "with respect to itself"),
    (exercises.check_play_backward, play_from_ones, "all other nodes with 0"),
    (exercises.check_play_backward, slopes_alone, "multiplied by the gradient"),
    (exercises.check_batch_norm_gradient, lambda x, a, g: norm(x, a, g, along=False), "along x̂"),
    *[
        (exercises.check_batch_norm_gradient, bracket(part), sentence)
        for part, sentence in {
            "g - g.mean() - hat * (g * hat).sum()": "the part along x̂ is a mean",
            "g - g.sum() - hat * (g * hat).sum()": "both parts are means",
            "g - g.sum() - hat * (g * hat).mean()": "not its sum",
            "g - g.mean() + hat * (g * hat).mean()": "x̂ is subtracted, not added",
            "g + g.mean() - hat * (g * hat).mean()": "mean of g is subtracted, not added",
            "g - g.mean() - x * (g * x).mean()": "the bracket has x̂",
            "g - g.mean() - x * (g * hat).mean()": "in front of the mean stands x̂",
            "g - g.mean() - hat * (g * x).mean()": "g times x̂, not g times x",
            "g - g.mean() - (g * hat).mean()": "x̂ is missing",
            "g - g.mean() - (x - x.mean()) * (g * (x - x.mean())).mean()": "is divided by s, too",
        }.items()
    ],
    (
        exercises.check_batch_norm_gradient,
        lambda x, a, g: norm(x, a, g, along=False, scale=False),
        "only removes the mean",
    ),
    (exercises.check_batch_norm_gradient, lambda x, a, g: norm(x, a, g, mean=False), "mean of g"),
    (exercises.check_batch_norm_gradient, lambda x, a, g: norm(x, a, g, scale=False), "by s"),
    (exercises.check_batch_norm_gradient, lambda x, a, g: norm(x, a, g, keep_gain=False), "gain"),
    (exercises.check_batch_norm_gradient, lambda x, a, g: norm(x, a, g, ddof=1), "not by n − 1"),
    (exercises.check_batch_norm_gradient, sample_deviation, "the divisor is n"),
    (
        exercises.check_batch_norm_gradient,
        lambda x, a, g: norm(x, a, g, epsilon=1e-5),
        "without ε",
    ),
    (exercises.check_choose_penalty, spoiled, "too small"),
    (exercises.check_choose_penalty, in_proportion, "too small"),
    (exercises.check_choose_penalty, lambda features, classes: 0.0, "too small"),
    (exercises.check_choose_penalty, lambda features, classes: 1e5, "too large"),
    (exercises.check_choose_penalty, lambda features, classes: 0.1, "too large"),
    (exercises.check_choose_penalty, lambda features, classes: 0.01, "too small"),
    (exercises.check_choose_penalty, lambda features, classes: -1.0, "0 or larger"),
]
