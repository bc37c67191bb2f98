"""Checks of the exercises of chapter 4: each knows the usual mistakes and names the one made."""

from __future__ import annotations

import numpy as np

from primer import networks
from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_array, as_number, explain
from primer.notebook.wording import raised, word


@varied(side=(20, 24, 28, 32, 36, 40), filters=(6, 8, 12, 16, 20, 32), kernel=(3, 5, 7))
def check_flattened(side: int = 28, filters: int = 16, kernel: int = 5) -> NumberExercise:
    """Ask what is left of a picture after a convolution and a pooling by two."""
    places = side - kernel + 1
    pooled = places // 2
    right = filters * pooled**2
    return NumberExercise(
        "4.1",
        question=f"A picture of {side}×{side} gray pixels goes through a convolution of {filters} "
        f"filters {kernel}×{kernel} (stride 1, no padding), ReLU, and 2×2 max pooling. How many "
        "numbers enter the linear layer that follows?",
        right=right,
        within=0.5,
        low=1,
        high=100_000,
        expects="a whole number of inputs",
        wrong={
            filters * (side // 2) ** 2: f"without padding a kernel of side {kernel} finds "
            f"{side} − {kernel} + 1 = {places} places in a row, not {side}",
            filters * places**2: "the pooling is missing: it halves both sides of each of the "
            f"{filters} pictures",
            pooled**2: f"that is one picture of {pooled}×{pooled}; there is one for each of the "
            f"{filters} filters",
            2 * right: "pooling halves both sides, so a quarter of the numbers is left, not half",
            filters * (kernel**2 + 1): "these are the parameters of the convolution, "
            f"{filters}·{kernel**2} + {filters}; asked are its outputs",
        },
        otherwise=f"the side is {places} after the convolution; each of the {filters} pictures is "
        "then pooled by 2",
        because=f"{filters} pictures of {pooled}×{pooled}: the convolution leaves {places}, the "
        f"pooling {pooled}.",
    )


check_silu_sign = ChoiceExercise(
    "4.2",
    choices={
        "a": "below about −1",
        "b": "below −1.2785 only",
        "c": "at every negative z",
        "d": "nowhere",
    },
    right="c",
    replies={
        "a": "at z = −0.5 it is −0.19 already: the sigmoid is positive, so the sign is that of z",
        "b": "there it is lowest, −0.2785, and rises on both sides; look at its sign at z = −0.5",
        "c": "The sigmoid is positive everywhere, so z times it has the sign of z.",
        "d": "that is the ReLU; SiLU at −1 is −0.269",
    },
)


@exercise("4.3")
def check_swish_slope(swish_slope: Answer) -> None:
    """Check ``swish_slope(z, beta)``, the derivative of z·σ(βz)."""
    for beta in (1.0, 0.5, 3.0):
        z = np.linspace(-4, 4, 7)
        s, plain = networks.sigmoid(beta * z), networks.sigmoid(z)
        explain(
            as_array(swish_slope(z, beta), z.shape),
            s + beta * z * s * (1 - s),
            {
                "the product rule has two terms; z times the sigmoid's slope is missing": s,
                "the product rule has two terms; the sigmoid itself is missing": (
                    beta * z * s * (1 - s)
                ),
                "the chain rule brings a factor β with the sigmoid's slope": s + z * s * (1 - s),
                "β is missing inside the sigmoid": plain + z * plain * (1 - plain),
                "this is the function, not its slope": z * s,
                "the slope of the sigmoid is σ(1 − σ), not σ": s + beta * z * s,
                "the slope of the sigmoid is σ(1 − σ), with a minus": s + beta * z * s * (1 + s),
            },
        )


def _in_a_hurry(links: list[list[tuple[int, float]]], again: bool) -> np.ndarray:
    """Play a tape wrongly: a node passes on at its first use or, ``again``, at each of them."""
    gradient = [0.0] * (len(links) - 1) + [1.0]
    reached: set[int] = set()

    def pass_on(node: int) -> None:
        reached.add(node)
        for operand, slope in links[node]:
            gradient[operand] += slope * gradient[node]
            if again or operand not in reached:
                pass_on(operand)

    pass_on(len(links) - 1)
    return np.array(gradient)


@exercise("4.4")
def check_play_backward(play_backward: Answer) -> None:
    """Check ``play_backward(links)``, gradients of the last node with respect to every node."""
    tapes: dict[str, tuple[list[list[tuple[int, float]]], list[float]]] = {
        "one number used twice, x·x at 3": ([[], [(0, 3.0), (0, 3.0)]], [6.0, 1.0]),
        "two ways of the same length": (
            [[], [(0, 2.0)], [(0, 5.0)], [(1, 7.0), (2, 1.0)]],
            [19.0, 7.0, 1.0, 1.0],
        ),
        "ways of length 1 and 3": (
            [[], [(0, 2.0)], [(1, 3.0)], [(0, 10.0), (2, 4.0)]],
            [34.0, 12.0, 4.0, 1.0],
        ),
        "a node that the result does not need": ([[], [(0, 9.0)], [(0, 2.0)]], [2.0, 0.0, 1.0]),
        "a node inside, reached by ways of length 1 and 2": (
            [[], [(0, 2.0)], [(1, 3.0)], [(1, 5.0), (2, 7.0)]],
            [52.0, 26.0, 7.0, 1.0],
        ),
    }
    for name, (links, right) in tapes.items():
        last = [0.0] * len(links)
        last[-1] = 1.0
        for node in reversed(range(len(links))):
            for operand, slope in links[node]:
                last[operand] = slope * last[node]  # the mistake
        forward = [0.0] * len(links)
        forward[-1] = 1.0
        for node in range(len(links)):
            for operand, slope in links[node]:
                forward[operand] += slope * forward[node]
        # Started from 1 everywhere, or with the slopes alone: two more ways to slip.
        from_ones, slopes_alone = [1.0] * len(links), [0.0] * len(links)
        slopes_alone[-1] = 1.0
        for node in reversed(range(len(links))):
            for operand, slope in links[node]:
                from_ones[operand] += slope * from_ones[node]
                slopes_alone[operand] += slope
        got = as_array(play_backward([list(pairs) for pairs in links]), (len(right),))
        if np.allclose(got, right):
            continue
        explain(
            got,
            np.array(right),
            {
                f"{name}: a gradient was overwritten; every use adds its share": np.array(last),
                f"{name}: play the tape backward; a node may pass on its gradient only when all "
                "of its uses have reported": np.array(forward),
                f"{name}: a node passed its gradient on before all of its uses had reported; go "
                "through the numbers from the last to the first": _in_a_hurry(links, again=False),
                f"{name}: a node passed on again what it had passed on before; go through the "
                "numbers from the last to the first": _in_a_hurry(links, again=True),
                f"{name}: only the result begins with 1, all other nodes with 0": np.array(
                    from_ones
                ),
                f"{name}: a slope is multiplied by the gradient of the node that it leads to": (
                    np.array(slopes_alone)
                ),
                "the gradient of the result with respect to itself is 1": np.zeros(len(links)),
            },
        )


@varied(folds=range(5, 11), crease=(0.2, 0.25, 0.3, 0.4, 0.6, 0.7, 0.8))
def check_pieces(folds: int = 5, crease: float = 0.3) -> NumberExercise:
    """Ask for the straight pieces of a strip that was folded off its middle."""
    right = 2**folds
    return NumberExercise(
        "4.5",
        question=f"The strip is folded {word(folds)} times, but its crease is at {crease} instead "
        f"of 0.5: networks.tent(x, {folds}, crease={crease}). Each fold is now t(x) = x/{crease} "
        f"up to {crease} and (1 − x)/{1 - crease:g} from there. How many straight pieces has the "
        "graph?",
        right=right,
        within=0.4,
        low=1,
        high=10_000,
        expects="a whole number of pieces",
        wrong={
            2 * folds: f"two units in each of {word(folds)} layers are {word(2 * folds)} units; "
            "but every fold doubles the pieces",
            right + 1: f"2{raised(folds)} + 1 counts the corners with both ends; between them lie "
            f"2{raised(folds)} pieces",
            right // 2: f"that would be {word(folds - 1)} folds",
            folds + 1: "one corner more for each fold would be right for one layer of "
            f"{word(folds)} units",
            right - 1: "these are the corners inside the interval; pieces are one more",
        },
        otherwise=f"draw two folds with the crease at {crease}: how often does the strip run up "
        "and down?",
        because=f"Each fold doubles them wherever the crease is: 2{raised(folds)} pieces, of "
        "unequal length.",
    )


@exercise("4.6")
def check_batch_norm_gradient(batch_norm_gradient: Answer) -> None:
    """Check ``batch_norm_gradient(x, gain, g)`` for one feature, without epsilon."""
    for seed, n in ((0, 5), (1, 8)):
        rng = np.random.default_rng(seed)
        x, g, gain = rng.normal(1, 2, size=n), rng.normal(size=n), 1.7
        s, hat = x.std(), (x - x.mean()) / x.std()
        bracket = g - g.mean() - hat * (g * hat).mean()
        unbiased = (x - x.mean()) / x.std(ddof=1)
        root = 1 / np.sqrt(x.var() + 1e-5)  # the ε that libraries add
        near = root * (x - x.mean())
        explain(
            as_array(batch_norm_gradient(x, gain, g), (n,)),
            gain / s * bracket,
            {
                "the scale depends on every example too: the term along x̂ is missing": (
                    gain / s * (g - g.mean())
                ),
                "this belongs to a layer that only removes the mean: divide by s, and subtract "
                "the part along x̂": gain * (g - g.mean()),
                "the mean depends on every example too: subtract the mean of g": (
                    gain / s * (g - hat * (g * hat).mean())
                ),
                "the part along x̂ is a mean over the examples, not a sum": (
                    gain / s * (g - g.mean() - hat * (g * hat).sum())
                ),
                "both parts are means over the examples, not sums": (
                    gain / s * (g - g.sum() - hat * (g * hat).sum())
                ),
                "subtract the mean of g, not its sum": (
                    gain / s * (g - g.sum() - hat * (g * hat).mean())
                ),
                "the part along x̂ is subtracted, not added": (
                    gain / s * (g - g.mean() + hat * (g * hat).mean())
                ),
                "the mean of g is subtracted, not added": (
                    gain / s * (g + g.mean() - hat * (g * hat).mean())
                ),
                "the bracket has x̂, with the mean removed and divided by s, not x": (
                    gain / s * (g - g.mean() - x * (g * x).mean())
                ),
                "in front of the mean stands x̂, not x": (
                    gain / s * (g - g.mean() - x * (g * hat).mean())
                ),
                "in the mean stands g times x̂, not g times x": (
                    gain / s * (g - g.mean() - hat * (g * x).mean())
                ),
                "x̂ is missing in front of the mean of g·x̂": (
                    gain / s * (g - g.mean() - (g * hat).mean())
                ),
                "x̂ is divided by s, too: you only removed its mean": (
                    gain / s * (g - g.mean() - s**2 * hat * (g * hat).mean())
                ),
                "a division by s is missing": gain * bracket,
                "the gain γ is missing": bracket / s,
                "divide the sum of squares by n, not by n − 1": (
                    gain
                    / x.std(ddof=1)
                    * (g - g.mean() - unbiased * (g * unbiased).sum() / (n - 1))
                ),
                "`std(ddof=1)` divides the sum of squares by n − 1: the divisor is n": (
                    gain / x.std(ddof=1) * (g - g.mean() - unbiased * (g * unbiased).mean())
                ),
                "without ε: you added it to the variance or to s": (
                    gain * root * (g - g.mean() - near * (g * near).mean())
                ),
            },
        )


check_patient = ChoiceExercise(
    "4.7",
    choices={
        "a": "saturated sigmoids",
        "b": "dead ReLU units",
        "c": "a start that is too small",
        "d": "nothing, it is healthy",
    },
    right="b",
    replies={
        "a": "saturated units have outputs near 0 or 1; here 91 % are exactly 0, for every digit",
        "b": "91 % of the units end at 0 for every digit, and those get no gradient.",
        "c": "a small start shows at step 0; here the first loss, near log 10 = 2.3, and its "
        "gradient are healthy, and the units fall silent afterwards",
        "d": "the loss ends at log 10 = 2.303: it says a tenth for each of ten digits",
    },
)


@exercise("4.8", "Chosen without a look at the test digits, and close to the best there is.")
def check_choose_penalty(choose_penalty: Answer) -> None:
    """Check ``choose_penalty(features, classes)``: its error on digits it has not seen."""
    # The same kind of digits in two units of length, and with more wrong labels: no one penalty is
    # right for all, nor one that is in proportion to the features' squares.
    for seed, unit, wrong in ((0, 0.1, 0.15), (1, 10.0, 0.15), (1, 10.0, 0.5)):
        grid = unit**2 * 10.0 ** np.arange(-4, 3)
        digits = networks.few_digits(200, np.random.default_rng(seed), wrong=wrong)
        both = unit * networks.relu_features(
            np.vstack([digits.train_x, digits.test_x]), 200, np.random.default_rng(seed + 10)
        )
        seen, unseen = both[:200], both[200:]
        answer = choose_penalty(seen.copy(), digits.train_y.copy())
        penalty = as_number(answer, "the penalty")
        if penalty < 0:
            raise Mistake(f"a penalty is 0 or larger, yours is {penalty:g}")

        def test_error(lam: float) -> float:
            targets = np.eye(10)[digits.train_y] - 0.1  # noqa: B023
            W = networks.minimum_norm_fit(seen, targets, lam).weights  # noqa: B023
            return float(((unseen @ W).argmax(axis=1) != digits.test_y).mean())  # noqa: B023

        errors = [test_error(lam) for lam in grid]
        got, best = test_error(penalty), min(errors)
        if got <= best + 0.03:
            continue
        if penalty < grid[int(np.argmin(errors))]:
            raise Mistake(
                f"your penalty {penalty:g} is too small: {got:.0%} of the new digits are misread, "
                f"{best:.0%} are possible. Was the error measured on digits that were fitted?"
            )
        raise Mistake(
            f"your penalty {penalty:g} is too large: {got:.0%} of the new digits are misread, "
            f"{best:.0%} are possible"
        )
