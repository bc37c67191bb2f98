"""Two exercises answered on the page, for the tiny book of the tests.

There the module is known as ``primer.exercises.sample``.
"""

from primer.notebook import ChoiceExercise, NumberExercise, exercise

check_count = NumberExercise(
    "8.1",
    right=12,
    within=0.5,
    low=0,
    high=100,
    expects="a whole number of pairs",
    wrong={24: "every pair was counted twice: 4·3 ordered pairs", 7: "you added; 4 times 3"},
    otherwise="each of 4 queries meets 3 keys",
    because="Four queries times three keys.",
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
