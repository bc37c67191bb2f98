"""Two exercises answered on the page, for the tiny book of the tests.

There the module is known as ``primer.exercises.sample``.
"""

from primer.notebook import ChoiceExercise, NumberExercise, exercise, varied
from primer.notebook.wording import word


@varied(queries=range(3, 9), keys=range(3, 7))
def check_count(queries: int = 4, keys: int = 3) -> NumberExercise:
    return NumberExercise(
        "8.1",
        question=f"How many pairs do {word(queries)} queries and {word(keys)} keys make?",
        right=queries * keys,
        within=0.5,
        low=0,
        high=100,
        expects="a whole number of pairs",
        wrong={
            2 * queries * keys: f"every pair was counted twice: {queries}·{keys} ordered pairs",
            queries + keys: f"you added; {queries} times {keys}",
        },
        otherwise=f"each of {queries} queries meets {keys} keys",
        because=f"{word(queries).capitalize()} queries times {word(keys)} keys.",
    )


check_order = ChoiceExercise(
    "8.2",
    choices={"a": "It halves.", "b": "It <stays> & is the same."},
    right="b",
    replies={"a": "halving needs n/2 tokens", "b": "Nothing in it depends on n."},
)


@exercise("8.3")
def check_function(answer):
    answer(1)
