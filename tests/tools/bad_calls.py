"""Wrong calls as readers make them, and words of the sentence that answers each.

Names are those of :func:`names`: the topics, ``tensor``, ``np``, ``nan``, and small good things to
go wrong with.
"""

import importlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import torch

from press.registry import read_book

BOOK = read_book(Path(__file__).parents[2])
TOPICS = sorted({package for chapter in BOOK.chapters for package in chapter.library})
"""The packages that the registry names: a new one is held from its first day."""


def names() -> dict[str, Any]:
    """Return the names that the calls use."""
    topics = {name: importlib.import_module(f"primer.{name}") for name in TOPICS}
    inference, regression = topics["inference"], topics["regression"]
    transformers, language_models = topics["transformers"], topics["language_models"]
    small = {"vocab_size": 5, "n_layers": 1, "d_model": 8, "n_heads": 2, "context_length": 9}
    return topics | {
        "np": np,
        "torch": torch,
        "tensor": torch.tensor,
        "ones": torch.ones,
        "full": torch.full,
        "letters": topics["recurrent"].RecurrentLanguageModel("abc", "rnn", 2),
        "nan": math.nan,
        "inf": math.inf,
        "eye": torch.eye(3),
        "chain": inference.MarkovModel(torch.tensor([[0.9, 0.1], [0.5, 0.5]])),
        "linear": torch.nn.Linear(3, 2),
        "line": regression.ols([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 2.0, 4.0]),
        "solve": regression.least_squares,
        "config": transformers.TransformerConfig(**small),
        "small": small,
        "tokenizer": language_models.BytePairEncoding([(97, 98)]),
    }


# What once was computed silently, or handed on NaN: the worst that a library can do.
WRONG_ANSWERS = [
    ("optimization.clip_by_norm([1.0, 2.0], nan)", "limit must be one finite number, got nan"),
    ("optimization.clip_by_norm([nan, 2.0], 1.0)", "gradient must be finite, got nan at [0]"),
    (
        "attention.MultiHeadAttention(4, 2)(ones(1, 3, 4), return_weights='no')",
        "return_weights must be True or False, got 'no'",
    ),
    (
        "positions.shaw_attention(*[ones(3, 2)] * 5, causal='no')",
        "causal must be True or False, got 'no'",
    ),
    (
        "transformers.TransformerConfig(**small, tied_embeddings='no')",
        "tied_embeddings must be True or False, got 'no'",
    ),
    ("regression.ols([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0], intercept='no')", "True or False"),
    ("attention.causal_mask(2.5)", "n_queries must be a whole number ≥ 1, got 2.5"),
    ("attention.causal_mask('3')", "n_queries must be a whole number ≥ 1, got '3'"),
    ("attention.sliding_window_mask(3, 3, 1.5)", "window must be a whole number ≥ 1, got 1.5"),
    ("optimization.stochastic_gradient([[1.0]], [1.0], [1.0], [0.5])", "must be a whole number"),
    (
        "optimization.noisy_moments(1.0, 1.0, 1.0, 0.1, 5, start=nan)",
        "start must be one finite number",
    ),
    ("regression.condition([0, 0], [[1, 2], [2, 1]], [0.0])", "positive semidefinite"),
    ("regression.sandwich([[1.0], [1.0]], [-1.0, -1.0])", "no variance is negative"),
    ("inference.acceptance_rate(tensor([0.5, 0.5]), tensor([1.0]))", "over the same tokens"),
    (
        "inference.acceptance_rate(tensor([5.0, 5.0]), tensor([0.5, 0.5]))",
        "sum to 1, got the sum 10",
    ),
    ("inference.acceptance_rate(tensor([nan, 0.5]), tensor([0.5, 0.5]))", "sum to 1, got nan"),
    ("inference.residual(tensor([[0.5, 0.5]]), tensor([[0.5, 0.5]] * 2))", "over the same tokens"),
    ("inference.residual(tensor([1.0]), tensor([0.5, 0.5]))", "over the same tokens"),
    (
        "inference.beam_search(chain, [0], 2, 2, length_penalty=nan)",
        "length_penalty must be one finite",
    ),
    ("inference.generate(chain, [0], 2, end_token=7)", "end_token must be a token of the model"),
    ("inference.beam_search(chain, [0], 2, 2, end_token=7)", "end_token must be a token"),
    (
        "inference.speculative_decode(chain, chain, [0], 2, end_token=7)",
        "end_token must be a token",
    ),
    ("fourier.leakage([1.0, -1.0])", "no peak at frequency 0"),
    ("fourier.dtft([1.0, 2.0], 0.1, start=0.5)", "start must be a whole number, got 0.5"),
    ("fourier.dtft([1.0, 2.0], 0.3, start=10**15)", "omega times n reaches 3e+14 rad"),
    ("fourier.two_tones(frequencies=(1000,))", "frequencies must have length 2"),
    ("train.learning_rate(0, peak=nan, final=0.0, warmup_steps=1, total_steps=5)", "finite number"),
    (
        "train.learning_rate(0, peak=-1.0, final=0.0, warmup_steps=1, total_steps=5)",
        "above 0, got -1",
    ),
    (
        "train.learning_rate(0, peak=1.0, final=0.0, warmup_steps=9, total_steps=5)",
        "at most total_steps = 5",
    ),
    ("train.learning_rate(0, peak=1.0, final=0.0, warmup_steps=-2, total_steps=5)", "at least 0"),
    ("train.Batches(torch.arange(12), 3, -1, 0)", "batch_size must be a whole number ≥ 1, got -1"),
    ("train.Batches(torch.arange(12), 3, 1, 0).at(-1)", "step must be a whole number ≥ 0, got -1"),
    ("train.make_optimizer(linear, weight_decay=-1.0)", "weight_decay must be a finite number, 0"),
    (
        "language_models.learn_merges({b'ab': -1}, 1)",
        "the count of b'ab' must be a whole number ≥ 0",
    ),
    ("language_models.learn_merges({b'ab': 1}, -1)", "n_merges must be 0 or more, got -1"),
    (
        "language_models.learn_merges({'ab': 1}, 1)",
        "each name in word_counts must be bytes, got 'ab'",
    ),
    ("inference.distinct_ngrams(tensor([1.5, 2.5]), 1)", "tokens must hold whole numbers"),
    (
        "attention.head_scores(torch.ones(1, 2, 2), tensor([1.0, 2.0]))",
        "tokens must hold whole numbers",
    ),
    ("attention.head_targets(tensor([]))", "tokens must hold whole numbers"),
    ("attention.Only('norm', print)", "write ['norm']"),
    ("attention.Only(['norm'], 3)", "observe must be a function of 2 arguments"),
    ("statistics.grid_posterior(np.linspace(0, 1, 5), 0.0, np.zeros(5))", "the grid (5,)"),
    ("statistics.grid_posterior(np.linspace(0, 1, 5), np.zeros(2), np.zeros(3))", "the grid (5,)"),
    ("statistics.kolmogorov_distance([0.5, 1.0], lambda x: 3 * x)", "a distribution function"),
    ("transformers.blockwise_attention(eye * nan, eye, eye, block_size=2)", "query must be finite"),
    (
        "transformers.blockwise_attention(eye, torch.ones(3, 4), eye, block_size=2)",
        "key must have shape",
    ),
    (
        "attention.scaled_dot_product_attention(eye, eye, eye, scale=nan)",
        "scale must be one finite",
    ),
    ("attention.scaled_dot_product_attention(eye, eye, eye, bias=eye * nan)", "bias contains NaN"),
    ("attention.scaled_dot_product_attention(eye / 0, eye, eye)", "query contains infinity"),
    ("attention.scaled_dot_product_attention(eye, eye + inf, eye)", "key contains infinity"),
    ("positions.rotate_pairs(torch.ones(4), tensor([nan, 0.0]))", "angles must be finite"),
    ("positions.rotate_pairs(torch.ones(4), torch.ones(3, 2))", "one angle for each pair of x"),
    ("positions.apply_rope(torch.full((2,), inf), 1)", "x contains infinity"),
    ("transformers.layer_norm(tensor([1.0, nan]))", "x must be finite"),
    ("transformers.layer_norm(tensor([2.0, 2.0]), eps=0.0)", "all features of x are equal"),
    ("transformers.rms_norm(tensor([0.0, 0.0]), eps=0.0)", "all features of x are 0"),
    ("transformers.route(tensor([[nan, 1.0]]), 1)", "scores must be finite, got nan at [0, 0]"),
    ("transformers.route(torch.rand(3), 1)", "scores must have shape (tokens, experts), got (3,)"),
    ("inference.greedy(tensor(1.0))", "logits needs at least 1 axis"),
]

# What once ended in an exception of Python, NumPy or torch.
FOREIGN = [
    ("attention.scaled_dot_product_attention([[1.0, 0.0]], eye, eye)", "write torch.tensor(query)"),
    (
        "attention.scaled_dot_product_attention(eye, eye, eye, mask=[[True]])",
        "mask must be a tensor",
    ),
    ("attention.scaled_dot_product_attention(eye.long(), eye, eye)", "write query.float()"),
    ("attention.scaled_dot_product_attention(eye.double(), eye, eye)", "one precision"),
    ("attention.MultiHeadAttention(8, 2)([[1.0] * 8])", "write torch.tensor(x)"),
    ("attention.MultiHeadAttention(8, 2)(torch.ones(1, 3, 8).double())", "the layer's precision"),
    ("attention.MultiHeadAttention(8.0, 2)", "d_model must be a whole number ≥ 1, got 8.0"),
    ("attention.head_targets([1, 2, 1])", "tokens must be a tensor of shape"),
    ("attention.split_heads(torch.ones(8), 2)", "x needs at least 2 axes"),
    ("attention.merge_heads(torch.ones(3))", "x needs at least 3 axes"),
    (
        "attention.qk_circuit(attention.MultiHeadAttention(8, 2), 0.5)",
        "head must be a whole number",
    ),
    ("positions.apply_rope([1.0, 2.0], 1)", "write torch.tensor(x)"),
    ("positions.apply_rope(torch.ones(2), None)", "positions must be whole numbers"),
    (
        "positions.apply_rope(torch.ones(2, 2), ['a', 'b'])",
        "positions must be whole numbers",
    ),
    ("positions.rotation_matrix('x')", "angle must be a tensor or one finite number"),
    ("positions.rotate_pairs(tensor(1.0), tensor(0.0))", "angles needs at least 1 axis"),
    ("positions.rope_matrix(nan, 4)", "offset must be"),
    ("transformers.layer_norm([1.0, 2.0])", "write torch.tensor(x)"),
    ("transformers.RMSNorm(3)(torch.ones(2, 4))", "x has 4 features"),
    ("transformers.Transformer(config)([[1, 2]])", "tokens must be a tensor of token ids"),
    ("transformers.route(torch.rand(2, 3), 1.0)", "k must be a whole number, got 1.0"),
    ("transformers.expert_load(torch.rand(2, 3), 2)", "chosen must hold whole numbers"),
    ("transformers.patchify(torch.ones(3, 4, 4), 2)", "images must have shape"),
    ("optimization.odd_polynomial(eye, (1.5, -0.5))", "coefficients must be a tuple"),
    ("optimization.newton_schulz([[1.0, 2.0], [3.0, 4.0]])", "write torch.tensor("),
    ("optimization.newton_schulz(tensor([[1, 2], [3, 4]]))", "floating-point numbers"),
    ("optimization.rounding_error([1.0, 2.0])", "write torch.tensor("),
    (
        "attention.scaled_dot_product_attention(*[eye.to(torch.float8_e4m3fn)] * 3)",
        "query must be one tensor of 16 bits a number or more, got torch.float8_e4m3fn; write",
    ),
    ("optimization.descend('adam', lambda w: w, [1.0], 3)", "rule must be a Rule, got 'adam'"),
    ("optimization.descend(optimization.Adam(), lambda w: 1e160 * w, [1.0], 3)", "large, 1e+160"),
    ("language_models.BytePairEncoding([(0,)])", "entry 0 of merges must be a tuple"),
    (
        "language_models.merge_pair([1, 2], (1,), 3)",
        "pair must be a tuple, its entries a whole number, a whole number",
    ),
    ("language_models.split_words(5)", "text must be a text, got 5"),
    ("tokenizer.encode(5)", "text must be a text, got 5"),
    ("tokenizer.decode(72)", "ids must be an iterable"),
    ("tokenizer.decode([1.5])", "entry 0 of ids must be a whole number, got 1.5"),
    ("language_models.BytePairEncoding.load('/none')", "there is no tokenizer"),
    ("inference.greedy([0.1, 0.2])", "write torch.tensor(logits)"),
    ("inference.MarkovModel([[0.5, 0.5], [0.5, 0.5]])", "must be a tensor"),
    ("inference.distinct_ngrams([1, 2, 1], 1)", "write torch.tensor(tokens)"),
    ("inference.log_likelihoods(chain, tensor([[0, 7]]))", "tokens must lie between 0 and 1"),
    ("inference.generate(chain, '0', 2)", "pass a text through its tokenizer"),
    (
        "inference.generate(chain, [0], 2, choose=lambda logits: tensor([9]))",
        "token ids must lie between",
    ),
    ("inference.probabilities(torch.ones(3), temperature='1')", "temperature must be one finite"),
    (
        "inference.probabilities(torch.ones(3), top_p='0.9')",
        "p must be one finite number, got '0.9'",
    ),
    (
        "inference.sample(torch.ones(3), generator=np.random.default_rng(0))",
        "torch's random generator",
    ),
    ("inference.probabilities(torch.ones(3), top_k=9)", "k must be a whole number between 1 and"),
    (
        "statistics.metropolis(lambda x: -(x**2), 0.0, 1.0, 5, rng=0)",
        "numpy.random.default_rng(seed)",
    ),
    ("regression.k_folds(6, 3, None)", "rng must be NumPy's random generator"),
    ("regression.newey_west_covariance(line, 2.5)", "lags must be a whole number"),
    ("regression.cross_validated_errors(solve, [[1.0], [2.0]], [1.0, 2.0], [])", "at least"),
    (
        "train.Batches(torch.arange(12), 0, 1, 0)",
        "context_length must be a whole number ≥ 1, got 0",
    ),
    ("fourier.fft([[1, 2], [3]])", "rows are equally long"),
    ("statistics.t_sample_size(1e-9)", "too small"),
]

# Over the topics that came later.
NEW_TOPICS = [
    (
        "networks.autoencoder_gradients(X=[[3.0, 4.0]], model='ab', penalty=0.0)",
        "model must be an Autoencoder, got 'ab'",
    ),
    (
        "networks.autoencoder_loss(X=[[3.0, 4.0]], model=3, penalty=0.0)",
        "model must be an Autoencoder, got 3",
    ),
    (
        "networks.average_pool(images=1.5, kernel=2, stride=None)",
        "images must have four axes, (batch or filters, channels,",
    ),
    (
        "networks.average_pool(images=[], kernel=2, stride=None)",
        "images is empty, got shape (0,); it needs at least one number",
    ),
    (
        "networks.batch_norm(x=[[1.0], [3.0]], gain=[1.0], shift=[[10.0, 10.0]], epsilon=1e-12)",
        "shift must be a vector, one sequence of numbers, got shape (1,",
    ),
    (
        "networks.batch_norm(x=[], gain=[1.0], shift=[10.0], epsilon=1e-12)",
        "x is empty, got shape (0,); it needs at least one number",
    ),
    (
        "networks.best_autoencoder(X=[[3.0, 0.0], [0.0, 1.0]], units=1.0, penalty=0.0)",
        "units must be a whole number ≥ 1, got 1.0",
    ),
    (
        "networks.best_autoencoder(X=[[3.0, 0.0], [0.0, 1.0]], units=1, penalty=-1.0)",
        "penalty must be a finite number, 0 or larger, got -1.0",
    ),
    (
        "networks.binary_cross_entropy(labels=[1, 0], probabilities=[-1.0, 0.5])",
        "probabilities must lie strictly between 0 and 1: a sure error",
    ),
    (
        "networks.convolution_size(size=28, kernel=-1, stride=1, padding=0)",
        "kernel must be a whole number ≥ 1, got -1",
    ),
    (
        "networks.convolution_size(size='2', kernel=5, stride=1, padding=0)",
        "size must be a whole number ≥ 1, got '2'",
    ),
    (
        "networks.convolve(images=[], kernels=[[[[-1.0, 1.0]]]], bias=None, stride=1, padding=0)",
        "images is empty, got shape (0,); it needs at least one number",
    ),
    (
        "networks.convolve(images=1.5, kernels=[[[[-1.0, 1.0]]]], bias=None, stride=1, padding=0)",
        "images must have four axes, (batch or filters, channels,",
    ),
    (
        "networks.corners(layers=None, low=0.0, high=1.0)",
        "layers must be a sequence, its entries a Layer, got None",
    ),
    (
        "networks.corners(layers=[], low=0.0, high=1.0)",
        "the network must have a layer and take one number",
    ),
    (
        "networks.cosine_features(x=[-1.0, 1.0], degree='2')",
        "degree must be a whole number ≥ 0, got '2'",
    ),
    (
        "networks.cosine_features(x=[], degree=1)",
        "x is empty, got shape (0,); it needs at least one number",
    ),
    ("networks.cost(result='ab')", "result must be a Variable, got 'ab'"),
    ("networks.count_parameters(sizes=[])", "sizes needs an input and an output width, got []"),
    ("networks.count_parameters(sizes=[0, 50, 10])", "sizes[0] must be a whole number ≥ 1, got 0"),
    (
        "networks.count_walks(adjacency=None, length=2)",
        "adjacency must hold numbers, got an array of type object",
    ),
    (
        "networks.count_walks(adjacency=[[0, 1, 0], [1, 0, 1], [0, 1, 0]], length='2')",
        "length must be a whole number ≥ 0, got '2'",
    ),
    ("networks.cross_entropy(logits=None, classes=[0, 3])", "logits must be a Variable, got None"),
    (
        "networks.descend_from(features=[None], y=[2.0], start=[3.0, 0.0], step=0.5, steps=20)",
        "features must hold numbers, got an array of type object",
    ),
    (
        "networks.descend_from(features=[[1.0, 1.0]], y=[], start=[3.0, 0.0], step=0.5, steps=20)",
        "y is empty, got shape (0,); it needs at least one number",
    ),
    (
        "networks.dropout(x=[], keep=0.25, rng=np.random.default_rng(0))",
        "x is empty, got shape (0,); it needs at least one number",
    ),
    (
        "networks.dropout(x=None, keep=0.25, rng=np.random.default_rng(0))",
        "x must hold numbers, got an array of type object",
    ),
    (
        "networks.few_digits(n_train=50, rng=np.random.default_rng(0), wrong='2')",
        "wrong must be one finite number, got '2'",
    ),
    (
        "networks.few_digits(n_train=50.5, rng=np.random.default_rng(0), wrong=0.0)",
        "n_train must be a whole number ≥ 2, got 50.5",
    ),
    ("networks.history(result=None)", "result must be a Variable, got None"),
    (
        "networks.initialize(sizes=[3, 5, 2], rng=np.random.default_rng(0), gain=-1.0)",
        "gain must be a finite number, 0 or larger, got -1.0",
    ),
    (
        "networks.initialize(sizes=['2', 5, 2], rng=np.random.default_rng(0), gain=2.0)",
        "entry 0 of sizes must be a whole number, got '2'",
    ),
    ("networks.leaky_relu(slope=inf)", "slope must be one finite number, got inf"),
    ("networks.legendre_features(x=[nan], degree=2)", "x must be finite, got nan at [0]"),
    (
        "networks.legendre_features(x=[], degree=2)",
        "x is empty, got shape (0,); it needs at least one number",
    ),
    (
        "networks.logistic_gradient(weights=[0.0], X=None, labels=[0, 1], penalty=0.0)",
        "X must hold numbers, got an array of type object",
    ),
    (
        "networks.logistic_gradient(weights=[0.0], X=[[1.0], [2.0]], labels=1.5, penalty=0.0)",
        "labels must be a vector, one sequence of numbers, got the",
    ),
    (
        "networks.logistic_hessian(weights=[0.0], X=[[1.0], [2.0]], penalty=None)",
        "penalty must be one finite number, got None",
    ),
    (
        "networks.logistic_hessian(weights=[0.0], X=[1.5, [2.0]], penalty=0.0)",
        "X must be a table whose rows are equally long",
    ),
    (
        "networks.logistic_loss(weights=[0.0], X=[[1.0], [2.0]], labels=[0.5, 1], penalty=0.0)",
        "labels must be 0 or 1, got [0.5, 1.0]",
    ),
    (
        "networks.logistic_loss(weights=[0.0], X=[[1.0], [2.0]], labels=[0, 1], penalty=inf)",
        "penalty must be one finite number, got inf",
    ),
    (
        "networks.logistic_regression(X=1.5, labels=[0, 0, 1, 1], penalty=1.0)",
        "X must be a matrix, with rows and columns, got the number 1.5",
    ),
    (
        "networks.logistic_regression(X=None, labels=[0, 0, 1, 1], penalty=1.0)",
        "X must hold numbers, got an array of type object",
    ),
    (
        "networks.max_pool(images=1.5, kernel=2, stride=None)",
        "images must have four axes, (batch or filters, channels,",
    ),
    (
        "networks.max_pool(images=[], kernel=2, stride=None)",
        "images is empty, got shape (0,); it needs at least one number",
    ),
    (
        "networks.message_passing(adjacency=[], states=[[1.0], [10.0], [100.0]], reduce='sum')",
        "adjacency is empty, got shape (0,); it needs at least one number",
    ),
    (
        "networks.message_passing(adjacency=1.5, states=[[1.0], [10.0], [100.0]], reduce='sum')",
        "adjacency must be a matrix, with rows and columns, got the",
    ),
    (
        "networks.minimum_norm_fit(features=[[1.0, 1.0]], y=[2.0], penalty=nan, cut=1e-10)",
        "penalty must be one finite number, got nan",
    ),
    (
        "networks.minimum_norm_fit(features=[[1.0, 1.0]], y=[inf], penalty=0.0, cut=1e-10)",
        "y must be finite, got inf at [0]; remove or fill incomplete",
    ),
    (
        "networks.purify(X=[[3.0, 0.0], [0.0, 1.0]], penalty=inf)",
        "penalty must be one finite number, got inf",
    ),
    (
        "networks.purify(X=1.5, penalty=1.0)",
        "X must be a matrix, with rows and columns, got the number 1.5",
    ),
    ("networks.receptive_field(layers=0, kernel=3)", "layers must be a whole number ≥ 1, got 0"),
    (
        "networks.receptive_field(layers=3, kernel=3.0)",
        "kernel must be a whole number ≥ 1, got 3.0",
    ),
    (
        "networks.reliability(confidence=[0.9, 0.9, 0.9, 0.9], correct=np.True_, bins=10)",
        "correct must be a NumPy array of shape (n,), got np.True_",
    ),
    (
        "networks.reliability(confidence=[0.9, 0.9, 0.9, 0.9], correct=np.array([]), bins=10)",
        "correct must hold truth values, got float64",
    ),
    (
        "networks.relu_features(X=np.array([]), width=200, rng=np.random.default_rng(0))",
        "X is empty, got shape (0,); it needs at least one number",
    ),
    (
        "networks.relu_features(X='ab', width=200, rng=np.random.default_rng(0))",
        "X must hold numbers, got an array of type <U2",
    ),
    (
        "networks.softmax_regression(X=[[-2.0], [-1.0], [1.0], [2.0]], classes=1.5, penalty=1.0)",
        "classes must be 4 whole numbers, one for each row of X, got",
    ),
    (
        "networks.softmax_regression(X=None, classes=[0, 0, 1, 1], penalty=1.0)",
        "X must hold numbers, got an array of type object",
    ),
    (
        "networks.tent(x=[0.0, 0.25, 0.5, 1.0], folds='2', crease=0.5)",
        "folds must be a whole number, got '2'",
    ),
    (
        "networks.tent(x=[-1.0, 0.25, 0.5, 1.0], folds=1, crease=0.5)",
        "x must lie between 0 and 1, the interval that is folded",
    ),
    ("networks.tent_network(folds=None, crease=0.5)", "folds must be a whole number, got None"),
    (
        "networks.tent_network(folds=2, crease=-1.0)",
        "crease must lie strictly between 0 and 1, got -1.0",
    ),
    ("networks.zigzag_network(depth=2, width=0)", "width must be a whole number ≥ 1, got 0"),
    ("networks.zigzag_network(depth=0, width=3)", "depth must be a whole number ≥ 1, got 0"),
    (
        "language_models.bits_per_character(nats_per_token='2', tokens=10, characters=20)",
        "nats_per_token must be one finite number, got '2'",
    ),
    (
        "language_models.count_ngrams(texts=[[1, 2]], vocab_size=None, order=1)",
        "vocab_size must be a whole number, got None",
    ),
    (
        "language_models.count_ngrams(texts=[[1, 2]], vocab_size=10, order=1.5)",
        "order must be a whole number, got 1.5",
    ),
    (
        "language_models.count_words(texts=1.5)",
        "texts must be an iterable, its entries a text, got 1.5",
    ),
    (
        "language_models.cross_entropy(p=[0.5, 0.5], q=[0.25, 0.75], base=nan)",
        "base must be one finite number, got nan",
    ),
    (
        "language_models.cross_entropy(p=[0.5, 0.5], q=1.5, base=2)",
        "q must be a vector, one sequence of numbers, got the number 1.5",
    ),
    (
        "language_models.entropy(p=[0.0, 0.25, 0.25], base=2)",
        "p must sum to 1, but sums to 0.5; divide by the sum if these",
    ),
    ("language_models.entropy(p=[nan, 0.25, 0.25], base=2)", "p must be finite, got nan at [0]"),
    (
        "language_models.kl_divergence(p=[0.5, 0.5], q=[0.25, 0.75], base='2')",
        "base must be one finite number, got '2'",
    ),
    (
        "language_models.kl_divergence(p=[0.0, 0.5], q=[0.25, 0.75], base=2)",
        "p must sum to 1, but sums to 0.5; divide by the sum if these",
    ),
    (
        "language_models.kneser_ney_discounts(values=None)",
        "values must be a NumPy array of shape (n,), got None",
    ),
    ("language_models.largest_order(vocab_size=0)", "vocab_size must be a whole number ≥ 2, got 0"),
    (
        "language_models.learn_merges(word_counts='ab', n_merges=2)",
        "word_counts must be a mapping from bytes to a whole number, got",
    ),
    (
        "language_models.learn_merges_by_rescan(word_counts={}, n_merges=4)",
        "after 0 merges every word of the corpus is one token, but 4",
    ),
    (
        "language_models.learn_merges_by_rescan(word_counts=None, n_merges=4)",
        "word_counts must be a mapping from bytes to a whole number, got",
    ),
    (
        "language_models.log_softmax(logits=None)",
        "logits must hold numbers, got an array of type object",
    ),
    (
        "language_models.log_softmax(logits=[[0.0, 0.0], -2000.0])",
        "logits must be a table whose rows are equally long",
    ),
    (
        "language_models.merge_pair(ids=[1, 1, 1, 2], pair=(), new_id=3)",
        "pair must be a tuple, its entries a whole number, a whole number",
    ),
    (
        "language_models.merges_by_rescan(word_counts=None)",
        "word_counts must be a mapping from bytes to a whole number, got",
    ),
    (
        "language_models.nearest(vectors=np.array([[1, 0], [0, 1], [2, 0]]), word=0, n=1)",
        "vectors must hold floating-point numbers, got int64",
    ),
    (
        "language_models.nearest(vectors='ab', word=0, n=1)",
        "vectors must be a NumPy array of shape (vocab, dim), got 'ab'",
    ),
    (
        "language_models.ngram_keys(text=[1, 2], vocab_size=10, order=None)",
        "order must be a whole number, got None",
    ),
    (
        "language_models.ngram_keys(text=[-1, 2], vocab_size=10, order=1)",
        "symbols are 0 to 9, got -1",
    ),
    (
        "language_models.perplexity(probabilities=None)",
        "probabilities must hold numbers, got an array of type object",
    ),
    (
        "language_models.perplexity_per(unit='2', characters=50, bits=2.0)",
        "unit must be a whole number ≥ 1, got '2'",
    ),
    (
        "language_models.perplexity_per(unit=10, characters=50, bits=-1.0)",
        "bits must be a finite number, 0 or larger, got -1.0",
    ),
    (
        "language_models.positive_pmi(pairs=np.array([]), vocab_size=3, power=1.0)",
        "pairs must hold whole numbers, got float64",
    ),
    (
        "language_models.positive_pmi(pairs=np.array([0, 1]), vocab_size=3, power=1.0)",
        "pairs must have shape (pairs, 2), got (2,)",
    ),
    (
        "language_models.shannon_bounds(ranks=np.int64(1))",
        "ranks must be a NumPy array of shape (guesses,), got np.int64(1)",
    ),
    (
        "language_models.shannon_bounds(ranks=np.array([[1, 1, 2, 2]]))",
        "ranks must have shape (guesses,), got (1, 4)",
    ),
    (
        "language_models.skip_gram_pairs(words=[7, 8, 9], window=1.5)",
        "window must be a whole number, got 1.5",
    ),
    (
        "language_models.skip_gram_pairs(words=[7.0, 8, 9], window=1)",
        "words must be at least two whole numbers, 0 or more: number the",
    ),
    ("language_models.split_words(text=3)", "text must be a text, got 3"),
    (
        "language_models.window_rows(text=[1, 2], vocab_size=3, window=2.5)",
        "window must be a whole number ≥ 1, got 2.5",
    ),
    (
        "language_models.window_rows(text=[1, 2], vocab_size=[3, 3], window=2)",
        "vocab_size must be a whole number, got a list",
    ),
    (
        "recurrent.adding_problem(batch_size=[4, 4], length=10, generator=torch.Generator())",
        "batch_size must be a whole number ≥ 1, got a list",
    ),
    (
        "recurrent.adding_problem(batch_size=4, length=10.0, generator=torch.Generator())",
        "length must be a whole number ≥ 2, got 10.0",
    ),
    (
        "recurrent.agreement(batch_size='2', phrases=2, generator=torch.Generator(), agree=0.0)",
        "batch_size must be a whole number ≥ 1, got '2'",
    ),
    (
        "recurrent.agreement(batch_size=1, phrases=nan, generator=torch.Generator(), agree=0.0)",
        "phrases must be a whole number ≥ 0, got nan",
    ),
    (
        "recurrent.gradient_ratio(cell='ab', x=tensor([[[0.0], [0.0], [0.0], [0.0]]]), seed=0)",
        "cell must be a Cell, got 'ab'",
    ),
    ("recurrent.half_life(forget_bias=None)", "forget_bias must be one finite number, got None"),
    (
        "recurrent.input_gradients(model=None, tokens=tensor([[0, 1, 0, 1]]))",
        "model must be a RecurrentLanguageModel, got None",
    ),
    (
        "recurrent.jacobian_product(cell='ab', x=tensor([[0.0], [0.0], [0.0]]), state=None)",
        "cell must be a Cell, got 'ab'",
    ),
    (
        "recurrent.parity(batch_size=-1, length=6, generator=torch.Generator())",
        "batch_size must be a whole number ≥ 1, got -1",
    ),
    (
        "recurrent.parity(batch_size=1, length=inf, generator=torch.Generator())",
        "length must be a whole number ≥ 1, got inf",
    ),
    (
        "recurrent.power_norms(weight=1.5, steps=20)",
        "weight must be a matrix, with rows and columns, got the number",
    ),
    (
        "recurrent.power_norms(weight=[[0.9, 10.0], [0.0, 0.9]], steps=20.5)",
        "steps must be a whole number ≥ 0, got 20.5",
    ),
    (
        "recurrent.reversal(batch_size=64, length=9, n_letters='2', generator=torch.Generator())",
        "n_letters must be a whole number ≥ 1, got '2'",
    ),
    (
        "recurrent.reversal(batch_size=64, length=9, n_letters=26, "
        "generator=np.random.default_rng(0))",
        "generator must be torch's random generator,",
    ),
    (
        "recurrent.step_jacobian(cell=3, x=tensor([0.0]), state=(tensor([0.0]),))",
        "cell must be a Cell, got 3",
    ),
    (
        "recurrent.text_windows(tokens=None, length=3, number=2, seed=0)",
        "tokens must be a tensor of shape (n,), got None",
    ),
    (
        "recurrent.text_windows(tokens=tensor(0), length=3, number=2, seed=0)",
        "tokens must have shape (n,), got ()",
    ),
    (
        "beyond_attention.best_state(x=[2.5, 3.5], size=inf)",
        "size must be a whole number ≥ 1, got inf",
    ),
    ("beyond_attention.best_state(x=[inf, 3.5], size=2)", "x must be finite, got inf at [0]"),
    (
        "beyond_attention.bilinear(A=[1.5], B=[1.0], step=1.0)",
        "A must be a matrix, with rows and columns, got shape (1,)",
    ),
    (
        "beyond_attention.bilinear(A=[[-2.0]], B=[1.0], step=None)",
        "step must be one finite number, got None",
    ),
    (
        "beyond_attention.convolve(x=[1.0, 2.0, 3.0], taps=[None, 10.0, 0.0], method='direct')",
        "taps must hold numbers, got an array of type object",
    ),
    (
        "beyond_attention.convolve(x=[1.0, 2.0, 3.0], taps=[nan, 10.0, 0.0], method='direct')",
        "taps must be finite, got nan at [0]; compute the kernel as long",
    ),
    (
        "beyond_attention.diagonal_kernel(eigenvalues=None, B=[1.0, 1.0], C=[1.0, 1.0], length=3)",
        "eigenvalues must hold numbers, got an array of type object",
    ),
    (
        "beyond_attention.elu_features(x=[1.5])",
        "x must be a matrix, with rows and columns, got shape (1,)",
    ),
    (
        "beyond_attention.elu_features(x=[[]])",
        "x is empty, got shape (1, 0); it needs at least one number",
    ),
    (
        "beyond_attention.kernel(A=[[0.5]], B=[1.0], C=[], length=3)",
        "C is empty, got shape (0,); it needs at least one number",
    ),
    (
        "beyond_attention.kernel(A=[[0.5]], B=[1.0], C=[inf], length=3)",
        "C must be finite, got inf at [0]",
    ),
    ("beyond_attention.legs_matrices(size=2.5)", "size must be a whole number ≥ 1, got 2.5"),
    (
        "beyond_attention.matrix_exponential(A=None)",
        "A must hold numbers, got an array of type object",
    ),
    (
        "beyond_attention.matrix_exponential(A=np.array([]))",
        "A is empty, got shape (0,); it needs at least one number",
    ),
    (
        "beyond_attention.power_block(A=[[2.0]], length=-1)",
        "length must be a whole number ≥ 1, got -1",
    ),
    (
        "beyond_attention.power_block(A=[], length=5)",
        "A is empty, got shape (0,); it needs at least one number",
    ),
    (
        "beyond_attention.quadratic_features(x=[])",
        "x is empty, got shape (0,); it needs at least one number",
    ),
    (
        "beyond_attention.quadratic_features(x=[1.5])",
        "x must be a matrix, with rows and columns, got shape (1,)",
    ),
    (
        "beyond_attention.rank_one_power(p=1.5, length=2)",
        "p must be a vector, one sequence of numbers, got the number 1.5",
    ),
    (
        "beyond_attention.rank_one_power(p=[1.0, 1.0], length=[2, 2])",
        "length must be a whole number ≥ 0, got a list",
    ),
    (
        "beyond_attention.recall(memory=None, keys=[[1, 0]], codes=[[1, 0], [0, 1]], answers=[1])",
        "memory must be a Memory, got None",
    ),
    (
        "beyond_attention.reconstruct(state=1.5, length=2)",
        "state must be a vector, one sequence of numbers, got the number",
    ),
    (
        "beyond_attention.remember(x=None, size=2)",
        "x must hold numbers, got an array of type object",
    ),
    (
        "beyond_attention.remember(x=[], size=2)",
        "x is empty, got shape (0,); it needs at least one number",
    ),
    (
        "beyond_attention.run_system(A=[[0.5]], B=[1.0], C=[1.0], x=[], skip=0.0)",
        "x is empty, got shape (0,); it needs at least one number",
    ),
    (
        "beyond_attention.run_system(A=[[0.5]], B=[1.0], C=[1.0], x=[nan, 0.0, 0.0], skip=0.0)",
        "x must be finite, got nan at [0]",
    ),
    (
        "beyond_attention.scan(factor=[0.5, 0.5, 0.5], term=[nan, 0.0, 1.0])",
        "term must be finite, got nan at [0]",
    ),
    (
        "beyond_attention.scan(factor=1.5, term=[8.0, 0.0, 1.0])",
        "factors and terms need one shape with time first, got () and",
    ),
    (
        "beyond_attention.scan_by_loop(factor=[0.5, 0.5, 0.5], term=[nan, 0.0, 1.0])",
        "term must be finite, got nan at [0]",
    ),
    (
        "beyond_attention.scan_by_loop(factor=[0.5, 0.5, 0.5], term=[None, 0.0, 1.0])",
        "term must hold numbers, got an array of type object",
    ),
    (
        "beyond_attention.sherman_morrison(inverse=np.array([[0.5]]), u=np.array([1.0]), v=1.0)",
        "v must be a vector, one sequence of numbers, got the number 1.0",
    ),
    (
        "beyond_attention.sherman_morrison(inverse=np.array([[0.5]]), u=np.array([1.0]), v=None)",
        "v must hold numbers, got an array of type object",
    ),
    (
        "beyond_attention.zero_order_hold(A=[[0], [0, 0]], B=[0, 1], step=0.1)",
        "A must be a table whose rows are equally long",
    ),
    (
        "beyond_attention.zero_order_hold(A=[[0, 1], [0, 0]], B=[[0, 0], 1], step=0.1)",
        "B must be a table whose rows are equally long",
    ),
    (
        "pretraining.attention_layers(x=[[1.0]], y=[2.0], query=[3], learning_rate=1, layers=nan)",
        "layers must be a whole number ≥ 1, got nan",
    ),
    (
        "pretraining.attention_layers(x=[], y=[2.0], query=[3.0], learning_rate=0.5, layers=2)",
        "x is empty, got shape (0,); it needs at least one number",
    ),
    (
        "pretraining.bert_parameters(config='ab', heads=False)",
        "config must be a TransformerConfig, got 'ab'",
    ),
    ("pretraining.best_rate(n=None, d=8)", "n must be a whole number ≥ 1, got None"),
    ("pretraining.best_rate(n=16, d=nan)", "d must be a whole number ≥ 1, got nan"),
    (
        "pretraining.best_span(start=[inf, 2.0, 1.0], end=[3.0, 0.0, 1.0], limit=2)",
        "start must be finite, got inf at [0]",
    ),
    (
        "pretraining.best_span(start=[0.0, 2.0, 1.0], end=1.5, limit=2)",
        "end must be a vector, one sequence of numbers, got the number",
    ),
    (
        "pretraining.collect_tags(tags=['B-LOC', 'O'], pieces=[2, 1])",
        "2 tags for 3 pieces: each needs one",
    ),
    (
        "pretraining.collect_tags(tags=['B-LOC', 'O', 'O'], pieces=[nan, 1])",
        "entry 0 of pieces must be a whole number, got nan",
    ),
    ("pretraining.decode_bio(tags=None)", "tags must be a sequence, its entries a text, got None"),
    (
        "pretraining.decode_bio(tags=['', 'I-LOC', 'O', 'B-LOC'])",
        "'' is no BIO tag: it must be 'O', or 'B-' or 'I-' and a kind",
    ),
    (
        "pretraining.encode_bio(spans=1.5, n_words=4)",
        "spans must be a sequence, its entries a Span, got 1.5",
    ),
    (
        "pretraining.f1(truth=[1, 0, 0, 0], guess=[[1, 1], 1, 0, 0])",
        "guess must be a table whose rows are equally long",
    ),
    (
        "pretraining.f1(truth=1.5, guess=[1, 1, 0, 0])",
        "truth must be a vector, one sequence of numbers, got the number",
    ),
    (
        "pretraining.family_mask(family=None, n_tokens=3, prefix=2)",
        "family must be one of 'encoder', 'decoder', 'prefix', got None",
    ),
    (
        "pretraining.family_mask(family='prefix', n_tokens=0, prefix=2)",
        "n_tokens must be a whole number ≥ 1, got 0",
    ),
    (
        "pretraining.gradient_steps(x=[], y=[2.0], query=[3.0], learning_rate=0.5, steps=2)",
        "x is empty, got shape (0,); it needs at least one number",
    ),
    (
        "pretraining.gradient_steps(x=[[1.0]], y=[2.0], query=[3], learning_rate=1, steps=[2, 2])",
        "steps must be a whole number ≥ 1, got a list",
    ),
    (
        "pretraining.linear_tasks(n_tasks=None, n=5, d=3, generator=torch.Generator())",
        "n_tasks must be a whole number ≥ 1, got None",
    ),
    (
        "pretraining.linear_tasks(n_tasks=2, n=5, d=inf, generator=torch.Generator())",
        "d must be a whole number ≥ 1, got inf",
    ),
    (
        "pretraining.matthews(truth=[1, 1, 1, 0], guess=['2', 1, 1, 1])",
        "guess must hold numbers, got an array of type <U21",
    ),
    (
        "pretraining.matthews(truth=[1.5, 1, 1, 0], guess=[1, 1, 1, 1])",
        "answers must be 0 or 1; turn scores into answers first",
    ),
    ("pretraining.may_follow(before='O', tag=None)", "tag must be a text, got None"),
    (
        "pretraining.may_follow(before='O', tag='')",
        "'' is no BIO tag: it must be 'O', or 'B-' or 'I-' and a kind",
    ),
    (
        "pretraining.next_token(tokens=1.0)",
        "tokens must be a tensor of shape (*batch, seq), got 1.0",
    ),
    (
        "pretraining.next_token(tokens=tensor([5.5, 6.5, 7.5]))",
        "tokens must hold whole numbers, got torch.float32; write",
    ),
    (
        "pretraining.occurrences(text=[1, 2, 1, 2, 3], length=2.5, vocab_size=4)",
        "length must be a whole number ≥ 1, got 2.5",
    ),
    (
        "pretraining.occurrences(text=[1, 2, 1, 2, 3], length=2, vocab_size=nan)",
        "vocab_size must be a whole number ≥ 1, got nan",
    ),
    (
        "pretraining.overlap(test=[1, 2, 3], training=[9, 1, 2, 9], length=2.5)",
        "length must be a whole number, got 2.5",
    ),
    (
        "pretraining.overlap(test=[], training=[9, 1, 2, 9], length=2)",
        "the test text of 0 tokens holds no 2 in a row",
    ),
    (
        "pretraining.prefix(tokens=tensor([5, 6, 7, 8]), length=0)",
        "length must be a whole number ≥ 1, got 0",
    ),
    (
        "pretraining.prefix(tokens=tensor([5.5, 6.5, 7.5, 8.5]), length=2)",
        "tokens must hold whole numbers, got torch.float32; write",
    ),
    (
        "pretraining.restore(inputs=1.0, targets=tensor([100, 7, 8, 9, 101]), first_sentinel=100)",
        "inputs must be a tensor of shape (kept,), got 1.0",
    ),
    (
        "pretraining.right_guesses(model=3, rows=tensor([[1, 2, 3]]))",
        "model must be a Transformer, got 3",
    ),
    (
        "pretraining.span_length_probabilities(p=0.0, longest=10)",
        "p must lie strictly between 0 and 1, got 0.0",
    ),
    (
        "pretraining.span_length_probabilities(p=[0.2, 0.2], longest=10)",
        "p must be one finite number, got an array of shape (2,)",
    ),
    (
        "pretraining.span_sizes(n_tokens=512, rate='2', mean_span=3.0)",
        "rate must be one finite number, got '2'",
    ),
    (
        "pretraining.span_sizes(n_tokens=0, rate=0.15, mean_span=3.0)",
        "n_tokens must be a whole number ≥ 2, got 0",
    ),
    (
        "pretraining.spearman(first=[inf, 2, 3, 4], second=[1, 10, 100, 1000])",
        "first must be finite, got inf at [0]",
    ),
    (
        "pretraining.spearman(first=[None, 2, 3, 4], second=[1, 10, 100, 1000])",
        "first must hold numbers, got an array of type object",
    ),
    (
        "pretraining.spread_tags(tags=['B-LOC', 'O'], pieces=None)",
        "pieces must be a sequence, its entries a whole number, got None",
    ),
    (
        "pretraining.spread_tags(tags=['B-LOC', 'O'], pieces=[0, 1])",
        "2 words need as many numbers of pieces, each ≥ 1 and together at most 1,000,000, got [0",
    ),
    ("pretraining.stage_directions(markdown=3)", "markdown must be a text, got 3"),
    (
        "pretraining.train_layer(d=2, n=4, seed=0, steps=-1)",
        "steps must be a whole number ≥ 1, got -1",
    ),
    (
        "pretraining.train_layer(d=2, n=4, seed='2', steps=2)",
        "seed must be a whole number ≥ 0, got '2'",
    ),
    ("pretraining.with_mask(tokenizer=3)", "tokenizer must be a BytePairEncoding, got 3"),
    (
        "scaling.attention_share(n_tokens=2048, d_model=inf)",
        "d_model must be a whole number ≥ 1, got inf",
    ),
    (
        "scaling.attention_share(n_tokens=-1, d_model=12288)",
        "n_tokens must be a whole number ≥ 1, got -1",
    ),
    (
        "scaling.bootstrap(None, [1.0, 2.0, 3.0, 4.0], resamples=500, seed=0)",
        "fit must be a function, got None",
    ),
    ("scaling.brier_score(p=1.5)", "p must hold probabilities, from 0 to 1"),
    ("scaling.brier_score(p=[None, 0.5, 1.0])", "p must hold numbers, got an array of type object"),
    ("scaling.exact_match(p=['2', 0.9], k=4)", "p must hold numbers, got an array of type <U32"),
    ("scaling.exact_match(p=[0.5, 0.9], k=0)", "k must be a whole number ≥ 1, got 0"),
    (
        "scaling.fit_power_law(x=[1000.0, 10000.0, 100000.0], loss=[-1.0, 2.0, 1.0], floor=False)",
        "loss must be above 0, got -1",
    ),
    (
        "scaling.fit_power_law(x=[1000.0, 10000.0, 100000.0], loss=[None, 2.0, 1.0], floor=False)",
        "loss must hold numbers, got an array of type object",
    ),
    (
        "scaling.kaplan_forward_flops(parameters=1000, n_layers=2.5, n_tokens=10, d_attn=8)",
        "n_layers must be a whole number, got 2.5",
    ),
    (
        "scaling.kaplan_forward_flops(parameters='2', n_layers=2, n_tokens=10, d_attn=8)",
        "parameters must be one finite number, got '2'",
    ),
    (
        "scaling.measured_matches(p=1.5, k=3, items=10, seed=0)",
        "p must hold probabilities, from 0 to 1",
    ),
    (
        "scaling.measured_matches(p=[0.0, 1.0], k=3, items='2', seed=0)",
        "items must be a whole number ≥ 1, got '2'",
    ),
    (
        "scaling.multiplied_parameters(hidden=[10, 10])",
        "hidden must be a whole number ≥ 1, got a list",
    ),
    (
        "scaling.score(metric='exact match', p=None, k=2)",
        "p must hold numbers, got an array of type object",
    ),
    (
        "scaling.score(metric='no such', p=0.5, k=2)",
        "metric must be one of 'exact match', 'tokens right', 'log",
    ),
    (
        "scaling.token_probability(parameters=[], scale=100000000.0, exponent=0.3)",
        "parameters is empty, got shape (0,); it needs at least one",
    ),
    (
        "scaling.token_probability(parameters=None, scale=100000000.0, exponent=0.3)",
        "parameters must hold numbers, got an array of type object",
    ),
    (
        "scaling.training_days(flops=3.15e+23, devices=1024, peak=None, utilization=1.0)",
        "peak must be one finite number, got None",
    ),
    (
        "scaling.training_days(flops=3.15e+23, devices=1024, peak=0.0, utilization=1.0)",
        "peak must be a finite number above 0, got 0.0",
    ),
    (
        "scaling.training_flops(parameters=175000000000.0, tokens='2')",
        "tokens must be one finite number, got '2'",
    ),
    (
        "scaling.training_flops(parameters=-1.0, tokens=300000000000.0)",
        "parameters must be a finite number above 0, got -1.0",
    ),
    (
        "fine_tuning.adapter_parameters(d=768, bottleneck=64, n_layers=-1)",
        "n_layers must be a whole number ≥ 1, got -1",
    ),
    (
        "fine_tuning.adapter_parameters(d=768, bottleneck='2', n_layers=12)",
        "bottleneck must be a whole number ≥ 1, got '2'",
    ),
    (
        "fine_tuning.add_adapters(model='ab', bottleneck=2, targets=('down',))",
        "model must be a model, a torch.nn.Module, got 'ab'",
    ),
    (
        "fine_tuning.add_ia3(model='ab', outputs=(), inputs=('down',))",
        "model must be a model, a torch.nn.Module, got 'ab'",
    ),
    (
        "fine_tuning.completion_mask(prompts=tensor([2, 1]), lengths=tensor([3, 4]), width=4.0)",
        "width must be a whole number ≥ 1, got 4.0",
    ),
    (
        "fine_tuning.completion_mask(prompts=tensor([2.5, 1.5]), lengths=tensor([3, 4]), width=4)",
        "prompts must hold whole numbers, got torch.float32; write",
    ),
    ("fine_tuning.freeze(model=None)", "model must be a model, a torch.nn.Module, got None"),
    ("fine_tuning.integer_codebook(bits=nan)", "bits must be a whole number from 2 to 8, got nan"),
    (
        "fine_tuning.keep_largest(scores=tensor([inf, 3.0, 2.0, 0.5]), sparsity=0.5)",
        "scores must be finite, got inf at [0]",
    ),
    (
        "fine_tuning.keep_largest(scores=tensor([0, 3, 2, 0]), sparsity=0.5)",
        "scores must hold floating-point numbers, got torch.int64; write",
    ),
    (
        "fine_tuning.linear_layers(model=3, targets=('down',))",
        "model must be a model, a torch.nn.Module, got 3",
    ),
    (
        "fine_tuning.lloyd_codebook(samples=tensor([inf, 0.0, 0.4, 0.6, 1.0]), bits=2, steps=40)",
        "samples must be finite, got inf at [0]",
    ),
    (
        "fine_tuning.lloyd_codebook(samples=tensor([-1.0, 0.0, 0.4, 0.6, 1.0]), bits=2, steps=-1)",
        "steps must be a whole number ≥ 1, got -1",
    ),
    (
        "fine_tuning.lora_parameters(d=4096, k=4096.0, rank=8)",
        "k must be a whole number ≥ 1, got 4096.0",
    ),
    (
        "fine_tuning.lora_parameters(d=4096, k=4096, rank='2')",
        "rank must be a whole number ≥ 1, got '2'",
    ),
    (
        "fine_tuning.matrix_of(layer='ab')",
        "str has no plain matrix: merge or dequantize it first, or use",
    ),
    (
        "fine_tuning.matrix_of(layer=None)",
        "NoneType has no plain matrix: merge or dequantize it first, or",
    ),
    (
        "fine_tuning.normal_float_codebook(bits=inf, offset=0.9677083)",
        "bits must be a whole number from 2 to 8, got inf",
    ),
    (
        "fine_tuning.normal_float_codebook(bits=2, offset=inf)",
        "offset must be one finite number, got inf",
    ),
    ("fine_tuning.pack(codes=None, bits=8)", "codes must be a tensor of shape (n,), got None"),
    (
        "fine_tuning.pack(codes=tensor(32), bits=8)",
        "codes must hold whole numbers of 8 bits, 0 to 255, got torch.int64",
    ),
    (
        "fine_tuning.principal_factors(matrix='ab', rank=1)",
        "matrix must be a tensor of shape (d, k), got 'ab'",
    ),
    (
        "fine_tuning.principal_factors(matrix=tensor([[4.0, 0.0], [0.0, 1.0]]), rank=1.5)",
        "rank must be a whole number ≥ 1, got 1.5",
    ),
    (
        "fine_tuning.rank_for(share=-1.0, values=tensor([3.0, 1.0, 0.0]))",
        "share must lie strictly between 0 and 1, got -1.0",
    ),
    (
        "fine_tuning.rank_for(share=0.9, values=[3.0, 1.0, 0.0])",
        "values must be a tensor of shape (n,), got a list; write",
    ),
    (
        "fine_tuning.trainable_numbers(model='ab')",
        "model must be a model, a torch.nn.Module, got 'ab'",
    ),
    (
        "fine_tuning.unpack(packed=tensor([218]), bits=2, n=None)",
        "packed must hold whole numbers of 8 bits, 0 to 255, got torch.int64",
    ),
    (
        "fine_tuning.unpack(packed=1.0, bits=2, n=4)",
        "packed must be a tensor of shape (bytes,), got 1.0",
    ),
    (
        "fine_tuning.windows_of(tokens=1.0, windows=2, length=3)",
        "tokens must be a tensor of shape (tokens,), got 1.0",
    ),
    (
        "fine_tuning.windows_of(tokens=tensor(0), windows=2, length=3)",
        "tokens must have shape (tokens,), got ()",
    ),
    (
        "alignment.best_of_n(reference=tensor([0.5, 0.5]), reward=tensor([0.0, 1.0]), draws='2')",
        "draws must be a whole number ≥ 1, got '2'",
    ),
    (
        "alignment.best_of_n(reference=tensor([0.5, 0.5]), reward=tensor(0.0), draws=2)",
        "reward must have shape (n,), got (), beside reference (n,) =",
    ),
    ("alignment.best_of_n_kl_bound(draws=inf)", "draws must be a whole number ≥ 1, got inf"),
    ("alignment.centered(reward=1.0)", "reward must be a tensor of shape (batch,), got 1.0"),
    (
        "alignment.centered(reward=tensor([1, 2, 6]))",
        "reward must hold floating-point numbers, got torch.int64; write",
    ),
    (
        "alignment.fit_preferences(differences=[[1.0], [1.0], [1.0], [-1.0]], prior=[0.0, 0.0])",
        "prior must be one finite number, got an array of shape (2,)",
    ),
    (
        "alignment.fit_scores(wins=1.5, prior=0.0)",
        "wins must be a matrix, with rows and columns, got the number 1.5",
    ),
    (
        "alignment.fit_scores(wins=None, prior=0.0)",
        "wins must hold numbers, got an array of type object",
    ),
    (
        "alignment.gaussian_tilt(distance=np.array([0.0, 1.0, 2.0]), slope=1.0, curvature='2')",
        "curvature must be one finite number, got '2'",
    ),
    (
        "alignment.gaussian_tilt(distance=np.array([0.0, 1.0, 2.0]), slope=nan, curvature=0.25)",
        "slope must be one finite number, got nan",
    ),
    (
        "alignment.grouped(reward='ab', group_size=2, divide=True)",
        "reward must be a tensor of shape (batch,), got 'ab'",
    ),
    (
        "alignment.grouped(reward=tensor([1.0, 3.0, 5.0, 5.0]), group_size=2.5, divide=True)",
        "group_size must be a whole number ≥ 1, got 2.5",
    ),
    (
        "alignment.implicit_reward(log_probs=tensor([-4.0]), reference_log_probs=None, beta=0.1)",
        "reference_log_probs must be a tensor of shape (batch,), got None",
    ),
    (
        "alignment.implicit_reward(log_probs=1.0, reference_log_probs=tensor([-4.0]), beta=0.1)",
        "log_probs must be a tensor of shape (batch,), got 1.0",
    ),
    (
        "alignment.kl_estimates(log_ratio=None)",
        "log_ratio must be a tensor of shape (*batch,), got None",
    ),
    (
        "alignment.leave_one_out(reward=tensor([nan, 2.0, 6.0]))",
        "reward must be finite, got nan at [0]",
    ),
    (
        "alignment.leave_one_out(reward=tensor([[1.0, 2.0, 6.0]]))",
        "reward must have shape (batch,), got (1, 3)",
    ),
    (
        "alignment.log_partition(reference='ab', reward=tensor([2.0, 2.0]), kl_weight=1.0)",
        "reference must be a tensor of shape (*batch, n), got 'ab'",
    ),
    (
        "alignment.log_partition(reference=tensor([0.5, 0.5]), reward=None, kl_weight=1.0)",
        "reward must be a tensor of shape (*batch, n), got None",
    ),
    (
        "alignment.penalized_reward(reward=[1.0], log_ratio=tensor([-0.5]), kl_weight=0.2)",
        "reward must be a tensor of shape (*batch,), got a list; write",
    ),
    (
        "alignment.penalized_reward(reward=tensor([1.0]), log_ratio=tensor([nan]), kl_weight=0.2)",
        "log_ratio must be finite, got nan at [0]",
    ),
    (
        "alignment.policy_gradient(probabilities='ab', reward=tensor([1.0, 2.0, 3.0]))",
        "probabilities must be a tensor of shape (n,), got 'ab'",
    ),
    (
        "alignment.preference_loss(chosen=tensor([[2.0]]), rejected=tensor([2.0]))",
        "chosen must have shape (batch,), got (1, 1), beside rejected",
    ),
    (
        "alignment.preference_loss(chosen=[2.0], rejected=tensor([2.0]))",
        "chosen must be a tensor of shape (batch,), got a list; write",
    ),
    (
        "alignment.reply_mask(tokens='ab', end_token=9)",
        "tokens must be a tensor of shape (batch, reply), got 'ab'",
    ),
    (
        "alignment.reply_mask(tokens=tensor([[5, 9, 9, 9], [5, 6, 7, 8]]), end_token=nan)",
        "end_token must be a whole number, got nan",
    ),
    (
        "alignment.tilted(reference=tensor([0.5, 0.5]), reward=tensor([0.0]), kl_weight=1.0)",
        "reward must have shape (*batch, n), got (1,), beside reference",
    ),
    (
        "alignment.tilted(reference=tensor([0.5, 0.5]), reward=tensor([0, 1]), kl_weight=1.0)",
        "reward must hold floating-point numbers, got torch.int64; write",
    ),
    ("alignment.whitened(reward=1.0)", "reward must be a tensor of shape (batch,), got 1.0"),
    ("alignment.whitened(reward=tensor(1.0))", "reward must have shape (batch,), got ()"),
    (
        "train.attention_of(model='ab', tokens=tensor([[1, 2, 3]]))",
        "model must be a Transformer, got 'ab'",
    ),
    ("train.characters_of(tokenizer=3)", "tokenizer must be a BytePairEncoding, got 3"),
    (
        "train.cut_passages(stream=None, length=3, passages=99)",
        "stream must be a tensor of shape (tokens,), got None",
    ),
    (
        "train.cut_passages(stream=tensor(0), length=3, passages=99)",
        "stream must have shape (tokens,), got ()",
    ),
    (
        "train.initialize(model='ab', kind='fan-in', shared_vector=3.0)",
        "model must be a Transformer, got 'ab'",
    ),
    (
        "train.learning_rate(step='2', peak=1.0, final=0.0, warmup_steps=2, total_steps=7)",
        "step must be a whole number ≥ 0, got '2'",
    ),
    (
        "train.learning_rate(step=0, peak=1.0, final=0.0, warmup_steps=-1, total_steps=7)",
        "warmup_steps must be at least 0 and at most total_steps = 7, got -1",
    ),
    (
        "train.make_optimizer(model=3, betas=(0.9, 0.95), weight_decay=0.1)",
        "model must be a model, a torch.nn.Module, got 3",
    ),
    ("train.read_configuration(path=None)", "path must be a text or a Path, got None"),
    (
        "train.relative_entropies(weights=1.0)",
        "weights must be a tensor of shape (layers, batch, heads, seq,",
    ),
    (
        "train.relative_entropies(weights=tensor([[[[[1, 0], [0, 0]], [[1, 0], [0, 0]]]]]))",
        "weights must hold floating-point numbers, got torch.int64;",
    ),
    ("train.rounded(model=3)", "model must be a Transformer, got 3"),
    (
        "train.token_stream(texts={'first': 'to', 'second': 'be'}, tokenizer='ab')",
        "tokenizer must be a BytePairEncoding, got 'ab'",
    ),
]
# Numbers and shapes at the edges of attention, layers and recurrences.
EDGES_LAYERS = [
    (
        "beyond_attention.diagonal_kernel([nan], [1.0], [1.0], 3)",
        "eigenvalues must be finite, got nan at [0]",
    ),
    (
        "beyond_attention.linear_recurrence(tensor([[nan]]), tensor([[1.0]]))",
        "keep contains NaN at [0, 0]",
    ),
    (
        "beyond_attention.linear_recurrence(full((1, 3), 1e+30), ones(1, 3))",
        "the states grow beyond all torch.float32: the largest factor is",
    ),
    (
        "beyond_attention.linear_recurrence(ones(2, 3), ones(2, 3), ones(1))",
        "before must have shape (2,) and all one precision, got (1,);",
    ),
    (
        "beyond_attention.linear_recurrence([[1.0]], [[1.0]])",
        "keep must be a tensor of floating-point numbers, got a list;",
    ),
    ("beyond_attention.LinearAttention(8, 2)(full((1, 3, 8), nan))", "x contains NaN at [0, 0, 0]"),
    (
        "beyond_attention.LinearAttention(8, 2)(ones(3, 8))",
        "x must have shape (batch, tokens, 8), with at least one token,",
    ),
    ("beyond_attention.SelectiveLayer(8, 4)(full((1, 3, 8), nan))", "x contains NaN at [0, 0, 0]"),
    ("positions.ntk_base(4, 1e+200)", "ntk_base cannot be computed for these arguments, (34,"),
    ("positions.apply_rope(ones(2), 1e+30)", "positions must be below 2⁶³, got 1e+30"),
    ("positions.ShawRelativeAttention(8, 2, 3)(full((3, 8), nan))", "x contains NaN at [0, 0]"),
    (
        "positions.ShawRelativeAttention(8, 2, 3)(ones(3, 7))",
        "x must hold tokens of width 8 in torch.float32, got",
    ),
    ("positions.rotate_pairs(full((2,), nan), ones(1))", "x contains NaN at [0]"),
    (
        "attention.MultiHeadAttention(8, 2)(ones(1, 3, 8), ones(2, 3, 8))",
        "x and memory need the same batch axes, got shapes (1, 3, 8) and",
    ),
    (
        "attention.MultiHeadAttention(8, 2)(ones(1, 3, 8), ones(2, 3, 8), return_weights=True)",
        "x and memory need the same batch axes, got shapes (1, 3, 8) and",
    ),
    ("attention.MultiHeadAttention(8, 2)(full((1, 3, 8), nan))", "x contains NaN at [0, 0, 0]"),
    (
        "attention.MultiHeadAttention(8, 2)(ones(1, 3, 8) * 1e+30, return_weights=True)",
        "products of query and key are too large for torch.float32: the",
    ),
    (
        "attention.MultiHeadAttention(8, 2)(ones(1, 3, 8), bias=tensor(inf))",
        "bias contains +∞; where attention is forbidden it may be −∞, or",
    ),
    (
        "attention.MultiHeadAttention(8, 2).project(ones(1, 3, 7), ones(1, 3, 8))",
        "expected at least one token of width 8, (…, tokens, 8); got x",
    ),
    (
        "attention.share_heads(ones(4, 1, 1), ones(1, 1), ones(2, 1, 1))",
        "query, key and value need the same number of axes, and every",
    ),
    (
        "beyond_attention.rank_one_power([1e+200], 2)",
        "rank_one_power gives nan at [0, 0] for these arguments: they",
    ),
    (
        "beyond_attention.rank_one_power([1.0, 1.0], 5000)",
        "rank_one_power gives inf at [0, 0] for these arguments: they",
    ),
    (
        "beyond_attention.power_block([[2.0]], 2000)",
        "power_block gives inf at [1023, 0, 0] in entry 0 for these",
    ),
    (
        "beyond_attention.scan([1e+200] * 3, [1.0] * 3)",
        "scan gives inf at [2] in entry 0 for these arguments: they are",
    ),
    (
        "beyond_attention.scan_by_loop([1e+200] * 3, [1.0] * 3)",
        "scan_by_loop gives inf at [2] for these arguments: they are too",
    ),
    (
        "beyond_attention.quadratic_features([[1e+200]])",
        "quadratic_features gives inf at [0, 2] for these arguments:",
    ),
    (
        "beyond_attention.similarity_attention([[1e+200]], [[1e+200]], [[1.0]], np.exp)",
        "the result of similarity must be finite, got inf at [0, 0]",
    ),
    (
        "beyond_attention.similarity_attention([[1.0]], [[1.0]], [[1.0]], lambda x: [1, 2])",
        "similarity must return a number for each point, shape (1, 1),",
    ),
    (
        "beyond_attention.similarity_attention([[1.0]], [[1.0]], [[1.0]], lambda x: nan)",
        "the result of similarity must be finite, got nan",
    ),
    (
        "beyond_attention.linear_attention([[1e+200]], [[1e+200]], [[1.0]])",
        "weights must be finite, got inf at [0]",
    ),
    (
        "beyond_attention.sherman_morrison([[1e+200]], [1e+200], [1.0])",
        "sherman_morrison gives nan at [0, 0] for these arguments: they",
    ),
    (
        "beyond_attention.matrix_exponential([[1e+308, 1e+308], [1e+308, 1e+308]])",
        "matrix_exponential cannot be computed for these arguments,",
    ),
    (
        "beyond_attention.bilinear([[1e+300]], [1.0], 1e+300)",
        "ΔA/2 must be finite, got inf at [0, 0]",
    ),
    (
        "beyond_attention.diagonal_kernel([1.0], [1e+200], [1e+200], 3)",
        "diagonal_kernel gives inf at [0] for these arguments: they are",
    ),
    (
        "beyond_attention.convolve([1e+200], [1e+200])",
        "x and kernel are too large to be multiplied; divide one of them",
    ),
    (
        "beyond_attention.remember([1e+308] * 4, 3)",
        "remember gives nan at [1, 0] for these arguments: they are too",
    ),
    (
        "beyond_attention.reconstruct([1e+308, 1e+308], 3)",
        "reconstruct gives inf at [2] for these arguments: they are too",
    ),
    (
        "beyond_attention.parallel_delta_rule([[1e+200]], [[1e+200]], [[1.0]], [1.0])",
        "parallel_delta_rule gives inf at [0, 0] for these arguments:",
    ),
    (
        "beyond_attention.recall(beyond_attention.AdditiveMemory(1, 1), [[1.0]], [[1.0]], [-1])",
        "answers must be rows of codes, whole numbers from 0 to 0, got",
    ),
    (
        "beyond_attention.recall(beyond_attention.AdditiveMemory(1, 1), [[1.0]], [[1.0]], [5])",
        "answers must be rows of codes, whole numbers from 0 to 0, got",
    ),
    (
        "beyond_attention.recall(beyond_attention.AdditiveMemory(1, 1), [[1.0]], [[1.0]], [0.5])",
        "answers must be rows of codes, whole numbers from 0 to 0, got",
    ),
    (
        "beyond_attention.LinearAttention(8, 2)(ones(1, 3, 8), cache=3)",
        "cache must be a LayerState, got a int",
    ),
    ("recurrent.half_life(800)", "half_life cannot be computed for these arguments, float"),
    ("letters.decode([-1])", "tokens must hold token ids, 0 to 2, got -1 at [0]"),
    ("letters.decode([3])", "tokens must hold token ids, 0 to 2, got 3 at [0]"),
    ("letters.decode([0.5])", "tokens must hold token ids, whole numbers from 0 to 2, got"),
    ("letters.decode(tensor([[0, 1]]))", "tokens must be one sequence, got shape (1, 2)"),
    ("letters(tensor([[0, -1]]))", "tokens must hold token ids, 0 to 2, got -1 at [0, 1]"),
    ("letters(tensor([[True]]))", "tokens must hold token ids, whole numbers from 0 to 2, got"),
    ("letters(tensor([0, 1]))", "tokens must be a tensor of shape (batch, time), got (2,); one"),
    ("letters([[0, 1]])", "tokens must be a tensor of shape (batch, time), got list; one"),
    (
        "letters(tensor([[]], dtype=torch.long))",
        "there is nothing to read: 1 sequences of length 0; leave empty",
    ),
    (
        "letters.read(tensor([[0, 1]]), torch.zeros(1, 1, 2))",
        "a state is a tuple of tensors, (h,) or (h, c), got a Tensor",
    ),
    (
        "letters.read(tensor([[0, 1]]), (torch.zeros(1, 2, 2),))",
        "the state of this cell has 1 part(s) of length 2, here of shape",
    ),
    ("letters.encode(3)", "text must be a text, got 3"),
    (
        "letters.bits_per_character('ab')",
        "a text is read after line breaks, which the model's alphabet",
    ),
    (
        "letters.bits_by_character('ab')",
        "a text is read after line breaks, which the model's alphabet",
    ),
    ("letters.bits_by_character('')", "the text is empty"),
    (
        "recurrent.RecurrentLanguageModel('abc', 'rnn', 2.0)",
        "hidden_size must be a whole number ≥ 1, got 2.0",
    ),
    ("recurrent.Recurrent('gru', 2, 3)(full((1, 3, 2), nan))", "the sequences contain NaN"),
    ("recurrent.Recurrent('gru', 2, 3)(full((1, 3, 2), inf))", "the sequences contain infinity"),
    (
        "recurrent.Recurrent('gru', 2, 3)(ones(1, 3, 2).double())",
        "all tensors need one precision, got the model in float32, x in",
    ),
    (
        "recurrent.Recurrent('gru', 2, 3)(ones(1, 3, 2), (torch.zeros(1, 2, 3),))",
        "the state of this cell has 1 part(s) of length 3, here of shape",
    ),
    (
        "recurrent.Recurrent('gru', 2, 3)(ones(1, 3, 2), lengths=[1.5])",
        "lengths must be 1 whole numbers, one for each sequence, got",
    ),
    (
        "recurrent.Recurrent('gru', 2, 3)(ones(1, 3, 2), lengths='a')",
        "lengths must be 1 whole numbers, got 'a'",
    ),
    (
        "recurrent.Recurrent('gru', 2, 3)(ones(2, 3, 2), lengths=[1])",
        "lengths must be 2 whole numbers, one for each sequence, got",
    ),
    ("recurrent.Recurrent('gru', 2, 3.0)", "hidden_size must be a whole number ≥ 1, got 3.0"),
    (
        "recurrent.Recurrent('gru', 2, 3, bidirectional='no')",
        "bidirectional must be True or False, got 'no'",
    ),
    (
        "recurrent.GRUCell(2, 3)(ones(3, 2), (torch.zeros(1, 3),))",
        "the state of this cell has 1 part(s) of length 3, here of shape",
    ),
    (
        "recurrent.GRUCell(2, 3)(ones(2), torch.zeros(3))",
        "state must be a tuple, its entries a tensor or None, got a tensor of shape (3,)",
    ),
    (
        "recurrent.GRUCell(2, 3)([1.0, 2.0])",
        "; write torch.tensor(x)",
    ),
    (
        "recurrent.LSTMCell(2, 3)(ones(2), (torch.zeros(3),))",
        "the state of this cell has 2 part(s) of length 3, here of shape",
    ),
    ("recurrent.LSTMCell(2, 3, forget_bias=nan)", "forget_bias must be one finite number, got nan"),
    ("recurrent.GRUCell(2, 3)(full((2,), nan))", "x must be finite, got nan at [0]"),
    ("recurrent.GRUCell(2, 3).zero_state(2.5)", "batch_size must be a whole number ≥ 1, got 2.5"),
    (
        "recurrent.GRUCell(2, 3).load_torch(torch.nn.Linear(2, 3))",
        "the module must have weights weight_hh of shape (9, 3), inputs",
    ),
    (
        "recurrent.GRUCell(2, 3).load_torch(torch.nn.LSTMCell(2, 3))",
        "the module must have weights weight_hh of shape (9, 3), inputs",
    ),
    (
        "recurrent.GRUCell(2, 3).load_torch(torch.nn.GRUCell(2, 3, bias=False))",
        "the module must have weights weight_hh of shape (9, 3), inputs",
    ),
    (
        "recurrent.Recurrent.from_torch(torch.nn.Linear(2, 3))",
        "only torch.nn.RNN, LSTM and GRU with biases and without",
    ),
    (
        "recurrent.memory_capacity(np.random.rand(50, 2), np.ones(50), [1])",
        "inputs do not vary on the part that is measured: nothing to",
    ),
    (
        "recurrent.memory_capacity(np.random.rand(50, 2), np.random.rand(50), [])",
        "delays is empty: give at least one number of steps to look back",
    ),
    (
        "recurrent.memory_capacity(np.random.rand(50, 2), np.random.rand(50), [-1])",
        "a delay must be a whole number ≥ 0, got -1",
    ),
    ("recurrent.power_norms([[1e+200]], 3)", "a power must be finite, got inf at [0, 0]"),
    ("recurrent.power_norms([[nan]], 3)", "weight must be finite, got nan at [0, 0]"),
    (
        "recurrent.jacobian_product(recurrent.GRUCell(2, 3), ones(3, 2), (torch.zeros(2, 3),))",
        "the state of this cell has 1 part(s) of length 3, here of shape",
    ),
    (
        "recurrent.step_jacobian(recurrent.GRUCell(2, 3), ones(2), (torch.zeros(2),))",
        "the state of this cell has 1 part(s) of length 3, here of shape",
    ),
    (
        "recurrent.step_jacobian(recurrent.GRUCell(2, 3), ones(2), ())",
        "the state of this cell has 1 part(s) of length 3, here of shape",
    ),
    (
        "recurrent.input_gradients(letters, tensor([[0, 5]]))",
        "tokens must hold token ids, 0 to 2, got 5 at [0, 1]",
    ),
    (
        "recurrent.input_gradients(letters, tensor([[0, 1]], dtype=torch.uint8)).shape",
        "tokens must hold whole numbers that may be negative, got torch.uint8; write",
    ),
    (
        "recurrent.input_gradients(letters, tensor([[0, -100]]))",
        "tokens must hold token ids, 0 to 2, got -100 at [0, 1]",
    ),
    (
        "recurrent.loss_with_erased_past(letters, tensor([[0, -1], [1, 1]]), 1)",
        "tokens must hold token ids, 0 to 2, got -1 at [0, 1]",
    ),
    (
        "recurrent.text_windows(torch.arange(10), 3, 2, seed=-1)",
        "seed must be a whole number ≥ 0, got -1",
    ),
    (
        "recurrent.text_windows(torch.arange(10), 3, 2, seed=2 ** 64)",
        "seed must be below 2⁶³, got 18446744073709551616",
    ),
    (
        "recurrent.dot_score(ones(1, 3), ones(2, 4, 3))",
        "query (..., d) and keys (..., n, d) need the same leading axes,",
    ),
    (
        "recurrent.dot_score(ones(2, 3), ones(4, 3))",
        "query (..., d) and keys (..., n, d) need the same leading axes,",
    ),
    (
        "recurrent.bilinear_score(ones(1, 3), ones(2, 4, 3), torch.eye(3))",
        "query (..., d) and keys (..., n, d) need the same leading axes,",
    ),
    (
        "recurrent.mlp_score(ones(1, 3), ones(2, 4, 3), ones(6, 2), ones(2))",
        "query (..., d) and keys (..., n, d) need the same leading axes,",
    ),
    (
        "recurrent.attend(ones(1, 4), ones(2, 4, 3))",
        "each key needs a score, got scores of shape (1, 4) and keys of",
    ),
    (
        "recurrent.attend(ones(0), ones(0, 3))",
        "each key needs a score, got scores of shape (0,) and keys of",
    ),
    (
        "recurrent.attend(tensor([-inf, -inf]), ones(2, 3))",
        "scores must be finite, got -inf at [0]",
    ),
    ("recurrent.parity(2, 3, 0)", "generator must be torch's random generator,"),
    (
        "recurrent.agreement(2, 3, torch.Generator(), nan)",
        "agree must be one finite number, got nan",
    ),
    (
        "transformers.Transformer(config)(tensor([[1, 2, 3]]), n_last=1.5)",
        "n_last must be a whole number, got 1.5",
    ),
    (
        "transformers.Transformer(config)(tensor([[1, 2, 3]]), n_last=True)",
        "n_last must be a whole number, got True",
    ),
    (
        "transformers.Transformer(config)(tensor([[1, 2, 3]]).bool())",
        "tokens must be whole numbers of shape (batch, seq), got",
    ),
    (
        "transformers.Transformer(config)(tensor([[1, 2, 3]]) - 5)",
        "token ids must lie between 0 and 4, got -4 to -2",
    ),
    (
        "transformers.Transformer(config)(tensor([[1, 2, 3]]) + 50)",
        "token ids must lie between 0 and 4, got 51 to 53",
    ),
    (
        "transformers.Transformer(config)(tensor([[1, 2, 3]]).float())",
        "tokens must be whole numbers of shape (batch, seq), got",
    ),
    (
        "transformers.Transformer(config)(tensor([[1, 2, 3]])[0])",
        "tokens must be whole numbers of shape (batch, seq), got",
    ),
    (
        "transformers.Transformer(config)(tensor([[1, 2, 3]]), cache=3)",
        "cache must be a KeyValueCache(model.config), got 3",
    ),
    (
        "transformers.Transformer(config)(tensor([[1, 2, 3]]), observe=3)",
        "observe must be a function of a name and a tensor, got 3",
    ),
    ("transformers.Transformer('x')", "config must be a TransformerConfig, got 'x'"),
    ("transformers.rms_norm(tensor([nan, 1.0]))", "x must be finite, got nan at [0]"),
    ("transformers.RMSNorm(2)(tensor([nan, 1.0]))", "x must be finite, got nan at [0]"),
    ("transformers.RMSNorm(2, eps=nan)", "eps must be one finite number, got nan"),
    (
        "transformers.RMSNorm(2, eps=0.0)(torch.zeros(2))",
        "all features of x are 0: without eps nothing brings them to",
    ),
    ("transformers.RMSNorm(2.0)", "dim must be a whole number ≥ 1, got 2.0"),
    (
        "transformers.FeedForward(2, 3)(ones(1, 3))",
        "x must hold tokens of width 2, got shape (1, 3)",
    ),
    (
        "transformers.FeedForward(2, 3)(ones(1, 2).double())",
        "x needs the layer's precision, torch.float32, got torch.float64",
    ),
    (
        "transformers.SwiGLU(2, 3)([1.0, 2.0])",
        "; write torch.tensor(x)",
    ),
    ("transformers.FeedForward(2, 3.0)", "d_ff must be a whole number ≥ 1, got 3.0"),
    (
        "transformers.FeedForward(2, 3, 'no')",
        "activation must be one of 'relu', 'gelu', 'gelu_tanh', got 'no'",
    ),
    (
        "transformers.MixtureOfExperts(lambda: torch.nn.Linear(2, 2), 2, 3, 1.5)",
        "experts_per_token must be a whole number, got 1.5",
    ),
    (
        "transformers.MixtureOfExperts(lambda: torch.nn.Linear(2, 2), 2, 3, 1)(full((1, 2), nan))",
        "x contains NaN at [0, 0]",
    ),
    (
        "transformers.MixtureOfExperts(lambda: torch.nn.Linear(2, 2), 2, 3, 1)(ones(1, 3))",
        "x must hold tokens of width 2 in torch.float32, got",
    ),
    (
        "transformers.MixtureOfExperts(3, 2, 3, 1)",
        "make_expert must be a function of 0 arguments, got 3",
    ),
    (
        "transformers.MixtureOfExperts(lambda: torch.nn.Linear(2, 3), 2, 3, 1)(ones(1, 2))",
        "expert 0 must return as many features as it gets, 2, got shape",
    ),
    ("transformers.route(tensor([[inf, 1.0]]), 1)", "scores must be finite, got inf at [0, 0]"),
    ("transformers.route(tensor([[1.0, 1.0]]), 1.5)", "k must be a whole number, got 1.5"),
    (
        "transformers.expert_load(tensor([[0.5]]), 2)",
        "chosen must hold whole numbers, got torch.float32; write",
    ),
    ("transformers.load_balancing_loss(3)", "routing must be a Routing, got 3"),
    (
        "transformers.blockwise_attention(ones(1, 3, 8), ones(2, 3, 8), ones(2, 3, 8))",
        "queries, keys and values need the same leading axes, got shapes",
    ),
    (
        "transformers.blockwise_attention(ones(2, 8) * 1e+25, ones(2, 8) * 1e+25, ones(2, 8))",
        "products of query and key are too large for torch.float32:",
    ),
    (
        "transformers.blockwise_attention(ones(2, 8), ones(2, 8), ones(2, 8), block_size=1.5)",
        "block_size must be a whole number ≥ 1, got 1.5",
    ),
    (
        "transformers.patchify(ones(1, 1, 0, 0), 2)",
        "squares of 2 × 2 pixels do not cover 0 × 0: the side of a",
    ),
    (
        "transformers.PatchEmbedding(4, 2, 1, 8)(ones(1, 1, 0, 0))",
        "images must have shape (batch, 1, 4, 4), got (1, 1, 0, 0)",
    ),
    (
        "transformers.PatchEmbedding(4, 2, 1, 8)(ones(1, 3, 4, 4))",
        "images must have shape (batch, 1, 4, 4), got (1, 3, 4, 4)",
    ),
    (
        "transformers.PatchEmbedding(4, 2, 1, 8)(full((1, 1, 4, 4), nan))",
        "images must be finite, got nan at [0, 0, 0, 0]",
    ),
    ("transformers.quantize(ones(3, 0))", "weight must have columns, got shape (3, 0)"),
    ("transformers.flops_per_token(config, 1.5)", "n_tokens must be a whole number, got 1.5"),
    ("transformers.count_parameters(3)", "config must be a TransformerConfig, got 3"),
    (
        "transformers.TransformerConfig(5.0, 1, 8, 2, 9)",
        "vocab_size must be a whole number ≥ 1, got 5.0",
    ),
    (
        "transformers.TransformerConfig(5, 1, 8, 2, 9, rope_base=1e309)",
        "rope_base must be one finite number, got inf",
    ),
    (
        "transformers.TransformerConfig(5, 1, 8, 2, 9, dropout='0')",
        "dropout must be one finite number, got '0'",
    ),
    (
        "attention.head_scores(ones(1, 2, 2), tensor([1.0, 2.0]))",
        "tokens must hold whole numbers, got torch.float32; write",
    ),
    (
        "attention.shown(3, 'x', ones(2))",
        "observe must be a function of a name and a tensor, got 3",
    ),
    ("attention.padding_mask([1.5], 3)", "entry 0 of lengths must be a whole number, got 1.5"),
    ("attention.padding_mask(tensor([1]), 2.5)", "n_keys must be a whole number, got 2.5"),
    ("attention.causal_mask(True)", "n_queries must be a whole number ≥ 1, got True"),
    (
        "attention.scaled_dot_product_attention(ones(2, 3), ones(2, 3), ones(2, 3), observe=3)",
        "observe must be a function of a name and a tensor, got 3",
    ),
    (
        "attention.scaled_dot_product_attention(ones(2, 3), ones(2, 3), ones(2, 3), scale=nan)",
        "scale must be one finite number, got nan",
    ),
    ("attention.split_heads(ones(2, 4), 2.0)", "n_heads must be a whole number ≥ 1, got 2.0"),
    (
        "attention.merge_heads([1.0])",
        "; write torch.tensor(x)",
    ),
]

# Language models, their training, tuning and use: what runs past an edge.
EDGES_MODELS = [
    (
        "train.RepeatingBatches(train.Batches(torch.arange(99), 32, 1, 0), nan, 'text', 9)",
        "share must be one finite number, got nan",
    ),
    ("train.make_optimizer(torch.nn.Linear(2, 2).requires_grad_(False))", "nothing may be trained"),
    ("train.read_configuration('x' * 5000)", "cannot be read"),
    ("inside.modular_pairs(2**61 - 1)", "p must be at most 10,000"),
    ("inside.AdditionNetwork(eye, eye, 'no').logits(tensor([[0, 0]]))", "bend must be one of"),
    ("language_models.skip_gram_pairs(np.array([2**63, 1], dtype=np.uint64), 1)", "below 2⁶³"),
    ("language_models.nearest(np.zeros((3, 0)), 0, 1)", "vectors must hold numbers"),
    (
        "inference.beam_search(chain, [0], 2, 2, length_penalty=1e5)",
        "no floating-point number holds 2^100000",
    ),
    (
        "inference.generate(chain, [0], 2, choose=3)",
        "choose must be a function of 1 argument, got 3",
    ),
    (
        "inference.generate(chain, [0], 2, choose=lambda logits: 1)",
        "choose must return a tensor of token ids of shape (1,), got 1",
    ),
    (
        "inference.generate(chain, [0], 2, choose=lambda logits: tensor([0.5]))",
        "got a tensor of torch.float32 and shape (1,)",
    ),
    ("inference.generate(chain, [0], 2, end_token=0.5)", "end_token must be a whole number"),
    ("inference.generate(chain, None, 2)", "the prompt needs at least one token, a number"),
    ("inference.generate(chain, ['a'], 2)", "pass a text through its tokenizer"),
    (
        "inference.speculative_decode(chain, chain, [0], 3, generator=42)",
        "generator must be torch's random generator",
    ),
    ("chain(tensor([[0.5]]))", "tokens must hold whole numbers, got torch.float32"),
    ("chain(tensor([[-1]]))", "token ids must lie between 0 and 1, got -1"),
    ("inference.MarkovModel(tensor([[1.0]]), -1)", "context_length must be a whole number ≥ 1"),
    ("inference.Reader(chain).forget('0')", "length must be a whole number ≥ 0, got '0'"),
    (
        "alignment.best_of_n(tensor([0.6, 0.5]), tensor([1.0, 2.0]), 2)",
        "reference must be a distribution: numbers ≥ 0 that sum to 1, got the sum 1.1",
    ),
    ("alignment.tilted(tensor([0.2, 0.2]), tensor([1.0, 2.0]), 1.0)", "got the sum 0.4"),
    ("alignment.log_partition(tensor([-0.5, 1.5]), tensor([1.0, 2.0]), 1.0)", "sum to 1, got -0.5"),
    ("alignment.policy_gradient(tensor([0.5, 0.6]), tensor([1.0, 2.0]))", "got the sum 1.1"),
    ("alignment.gaussian_tilt([nan], 1.0, 1.0)", "distance must be finite, got nan at [0]"),
    ("alignment.gaussian_tilt([-1.0], 1.0, 1.0)", "the root of a divergence, 0 or larger, got -1"),
    (
        "alignment.log_partition(tensor([0.5, 0.5]), tensor([0.0, 1.0]), 1e-320)",
        "log_partition gives inf",
    ),
    (
        "alignment.reinforce_loss(torch.rand(2, 3), torch.rand(1))",
        "advantages must have shape (batch,), got (1,), beside log_probs",
    ),
    (
        "alignment.clipped_policy_loss(ones(2, 3), ones(1, 3), ones(2), ones(2, 3) > 0)",
        "old_log_probs must have the shape of mask, (2, 3), got (1, 3)",
    ),
    (
        "alignment.clipped_policy_loss(ones(2, 3), ones(2, 3), ones(2), ones(3) > 0)",
        "log_probs must have the shape of mask, (3,), got (2, 3)",
    ),
    (
        "alignment.clipped_policy_loss(ones(2, 3), ones(2, 3), ones(1), ones(2, 3) > 0)",
        "advantages must have shape (batch,), got (1,)",
    ),
    (
        "alignment.clipped_policy_loss(ones(1, 2), ones(1, 2), ones(1), ones(1, 2))",
        "mask must be a tensor of truth values, got torch.float32",
    ),
    (
        "alignment.clipped_policy_loss(100 * ones(1, 2), 0 * ones(1, 2), -ones(1), ones(1, 2) > 0)",
        "are up to e^100 times as probable as before",
    ),
    (
        "alignment.clipped_policy_loss(nan * ones(1, 2), ones(1, 2), ones(1), ones(1, 2) > 0)",
        "log_probs must be finite where it counts, got nan at [0, 0]",
    ),
    ("alignment.whitened(ones(0))", "there is no reward to compare"),
    ("alignment.Rater(3)", "wish must be a function of a reply, got 3"),
    ("alignment.Rater(len).prefers(['a'], ['b'], 42)", "rng must be NumPy's random generator"),
    (
        "alignment.Rater(len).prefers(['a'], [], np.random.default_rng(0))",
        "each reply needs one to be compared with, got 1 and 0",
    ),
    (
        "alignment.Replies(tensor([[1]]), tensor([[1, 2]]), tensor([True, True]))",
        "mask must have shape (batch, reply), got (2,)",
    ),
    (
        "alignment.reply_log_probs(chain, alignment.Replies(tensor([[1]]), tensor([[7]]), "
        "tensor([[True]])))",
        "replies.tokens must hold token ids, 0 to 1, got 7 at [0, 0]",
    ),
    ("alignment.fit_preferences([[1e200], [-1e200], [2e200]])", "measure it in other units"),
    ("fine_tuning.linear_layers(linear, 'query')", "several names, got one text; write ['query']"),
    ("fine_tuning.unpack(tensor([1], dtype=torch.uint8), 4, -1)", "n must be a whole number ≥ 0"),
    ("fine_tuning.Codebook('x', 'ab')", "values must hold numbers"),
    (
        "fine_tuning.NF4.look_up(tensor([16], dtype=torch.uint8))",
        "codes of NF4 are 0 to 15, got 16",
    ),
    (
        "fine_tuning.prune(torch.nn.ModuleDict({'up': linear}), {'up': ones(2, 3)})",
        "the mask of up must hold truth values, got torch.float32; write mask.bool()",
    ),
    (
        "fine_tuning.fine_tune(linear, torch.arange(99), 0.1, seed=-1, length=8)",
        "seed must lie between 0 and 4294967295, got -1",
    ),
    (
        "fine_tuning.completion_loss(0 * ones(1, 3, 5), tensor([[1, 2, -100]]), "
        "tensor([[False, True, True]]))",
        "tokens must hold token ids, 0 to 4, got -100 at [0, 2]",
    ),
    ("pretraining.occurrences([0, 3, 1, 0], 2, 3)", "text must hold token ids, 0 to 2, got 3"),
    ("pretraining.occurrences([1.7, 2.2], 1, 3)", "whole numbers from 0 to 2, got numbers of type"),
    ("pretraining.overlap([1, -1], [1], 1)", "got -1 at [1]"),
    ("pretraining.run_lengths(['False'])", "right must hold True or False"),
    (
        "pretraining.restore(tensor([1, 100]), tensor([5, 100, 2]), first_sentinel=100)",
        "the targets must begin with a sentinel",
    ),
    (
        "pretraining.restore(tensor([1, 100]), tensor([100, 2, 101, 7]), first_sentinel=100)",
        "sentinel 101 stands in the targets and not in the inputs",
    ),
    (
        "pretraining.path_score(0 * ones(3, 2), 0 * ones(2, 2), tensor([0, 1, -1]))",
        "got -1 at [2]",
    ),
    ("pretraining.path_score(0 * ones(1, 1), inf * ones(1, 1), tensor([0]))", "or −∞ for what is"),
    (
        "pretraining.span_loss(0 * ones(1, 3), 0 * ones(1, 3), tensor([[-100, 1]]))",
        "answers must hold token ids, 0 to 2, got -100 at [0, 0]",
    ),
    (
        "pretraining.masked_cross_entropy(0 * ones(1, 2, 3), pretraining.Corruption("
        "tensor([[1, 2]]), tensor([[1, 9]]), tensor([[True, True]])))",
        "targets must hold token ids, 0 to 2, got 9 at [0, 1]",
    ),
    (
        "pretraining.masked_cross_entropy(0 * ones(2, 2, 3), pretraining.Corruption("
        "tensor([[1, 2], [1, 2]]), tensor([[1, 2], [1, 2]]), tensor([True, False])))",
        "counted must hold truth values of the targets' shape",
    ),
    (
        "pretraining.infill(torch.arange(20), torch.Generator(), mask_id=99, mean_span=1e-12)",
        "is less than the rate of 0.3: most spans would hide nothing",
    ),
    (
        "pretraining.next_sentence_pairs([[[1], [2]], [[3]]], -1, np.random.default_rng(0))",
        "n_pairs must be a whole number ≥ 1, got -1",
    ),
    (
        "pretraining.mask_tokens(tensor([1, 2]), torch.Generator(), mask_id=9, vocab_size=3, "
        "unigram=ones(3))",
        "unigram must be a distribution: numbers ≥ 0 that sum to 1, got the sum 3",
    ),
    ("pretraining.gradient_steps([[1.0]], [1.0], [1.0], 1e10, 200)", "gradient_steps gives"),
    ("pretraining.load_bert({}, None)", "config must be Hugging Face's BertConfig or a mapping"),
    ("pretraining.longest_match('sanitas', 'sanitas')", "several pieces, got one text"),
    ("pretraining.train_layer(2, 3, seed=-1, steps=1)", "seed must be a whole number ≥ 0, got -1"),
    (
        "language_models.skip_gram_loss(ones(4, 2), ones(4, 2), tensor([[-1, 0]]))",
        "pairs must hold token ids, 0 to 3, got -1 at [0, 0]",
    ),
    (
        "language_models.BytePairEncoding.train(['low low'], 258.0)",
        "vocab_size must be a whole number, got 258.0",
    ),
    ("tokenizer.decode(tensor([[97, 98]]))", "ids must be one row of whole numbers, got several"),
    ("tokenizer.decode([-1])", "token ids are 0 to 257, got -1"),
    ("language_models.Alphabet('ab').decode([1.5])", "entry 0 of codes must be a whole number"),
    (
        "language_models.AddK.fit([[1, 2, 1]], 3, 2, 1.0).sample(3, 42)",
        "rng must be NumPy's random generator",
    ),
    (
        "language_models.AddK.fit([[1, 2, 1]], 3, 2, 1.0).distributions(np.array([9]))",
        "contexts must hold token ids, 0 to 2, got 9 at [0]",
    ),
    (
        "language_models.next_characters(lambda t: np.full((len(t) + 1, 258), nan), tokenizer, '')",
        "must be logarithms of probabilities, got nan",
    ),
    (
        "language_models.WindowModel(5, 2, 2, 2)(tensor([[1, 9]]))",
        "contexts must hold token ids, 0 to 4, got 9 at [0, 1]",
    ),
    (
        "train.learning_rate(0, peak=1.0, final=0.0, warmup_steps=0.5, total_steps=5)",
        "warmup_steps must be a whole number, got 0.5",
    ),
    ("train.Batches(torch.arange(100), 4, 2, -1)", "seed must lie between 0 and 4294967295"),
    ("train.Batches(torch.arange(100), 4, 2, 2**64)", "seed must lie between 0 and 4294967295"),
    ("train.make_optimizer(linear, betas=(2.0, 0.9))", "at least 0 and less than 1, got 2.0"),
    ("train.cut_passages(torch.arange(9), 0, 2)", "length must be a whole number ≥ 1, got 0"),
]

# At the edges of numbers: seeds, functions, halves, and what runs without an end.
EDGES_FOUNDATIONS = [
    ("statistics.Bernoulli().draw(0.5, 3, 42)", "rng must be NumPy's random generator"),
    ("statistics.Bernoulli().draw(0.5, -1, np.random.default_rng(0))", "size must be whole"),
    ("statistics.Poisson().draw(1e300, 3, np.random.default_rng(0))", "theta must be below 9e18"),
    ("statistics.metropolis(3, 0.0, 1.0, 5, np.random.default_rng(0))", "must be a function"),
    (
        "statistics.metropolis(lambda x: -x, [0.0, 0.0], 1.0, 5, np.random.default_rng(0))",
        "log_density must return one number for a state",
    ),
    ("statistics.marginal_likelihood(1.0, 2.0, 0.0, 1.0)", "likelihood must be a function"),
    ("statistics.kolmogorov_distance([0.5], 3)", "cdf must be a function"),
    ("statistics.kolmogorov_distance([0.5, 0.6], lambda t: [0.5])", "a number for each point"),
    ("regression.ols([[np.ma.masked, 1], [2, 3], [4, 4]], [1, 2, 3])", "X holds a masked array"),
    ("statistics.scale_mixture(1e-200, 0.0)", "scale_mixture needs more memory than there is"),
    ("statistics.typewriter_interval(1.5)", "n must be a whole number ≥ 1, got 1.5"),
    (
        "statistics.metropolis(lambda a, b: -a * a, 0.0, 1.0, 5, np.random.default_rng(0))",
        "log_density must be a function of 1 argument, got <lambda>(a, b)",
    ),
    (
        "statistics.kolmogorov_distance([0.5], lambda: 1.0)",
        "cdf must be a function of 1 argument, got <lambda>()",
    ),
    (
        "statistics.metropolis(lambda x: 0.0, 0.0, 1.0, 2**63, np.random.default_rng(0))",
        "n_draws must be at most 1,000,000, got 9223372036854775808",
    ),
    (
        "beyond_attention.SelectiveLayer(10**9, 10)",
        "d_model must be at most 32,768, got 1000000000",
    ),
    ("statistics.typewriter([1, 2], [0.1, 0.2, 0.3])", "n and u must have shapes that go together"),
    (
        "statistics.sample_variance([1.0, 2.0], ddof=0.5)",
        "ddof must be a whole number ≥ 0, got 0.5",
    ),
    (
        "statistics.sample_variance([1.0, 2.0], ddof=nan)",
        "ddof must be a whole number ≥ 0, got nan",
    ),
    ("statistics.HypothesisTest(3, abs)", "statistic must be a function, got 3"),
    ("statistics.score(statistics.Poisson().log_density, [1, 2], [1.0, 2, 3])", "3,"),
    ("statistics.t_power(0.5, 10, alpha=0.0)", "alpha must lie strictly between 0 and 1"),
    ("regression.cross_validated_errors(3, [[0.0], [1]], [1, 2], [[0], [1]])", "a function"),
    ("optimization.sgd([[1.0], [2.0]], [1.0, 2.0], 0.1, [0.9, 1.9])", "sequence of whole numbers"),
    ("optimization.sgd([[1.0], [2.0]], [1.0, 2.0], 0.1, 1)", "sequence of whole numbers"),
    ("optimization.input_moments(1e100, 1.0)", "the fourth moment is too large"),
    (
        "optimization.train(optimization.Mlp(8, 'mup'), 3, optimization.digits(), 1, -1)",
        "optimizer",
    ),
    ("networks.tent([0.5], 10**8)", "folds must be at most 10000"),
    ("networks.tent_network(10**8)", "folds must be at most 10000"),
    ("networks.corners(networks.tent_network(60))", "more than 4,000,000 corners"),
    ("networks.relu_features([[1.0]], 3, 0)", "rng must be NumPy's random generator"),
    ("scaling.PowerLaw(-1.0, 0.5)", "scale must be a finite number above 0"),
    ("scaling.PowerLaw(nan, 0.5)", "scale must be one finite number, got nan"),
    ("scaling.JointLaw(1e13, nan, 0.1, 0.1)", "D_c must be one finite number, got nan"),
    ("scaling.fit_power_law([1, 2], [1, 1])", "hardly changes with size"),
    ("scaling.fit_power_law([1e6, 1e8], [4e100, 2e100])", "in a far too large or small unit"),
    ("scaling.CHINCHILLA_REFIT.tokens_to_reach(nan, 1e9)", "loss must be one finite number"),
    ("scaling.CHINCHILLA_REFIT.loss([1e9, 1e10], [1e9] * 3)", "shapes that go together"),
    ("scaling.bootstrap(np.mean, [1.0, 2.0], seed=-1)", "seed must be a whole number ≥ 0"),
    ("scaling.bootstrap(np.mean, [1.0, 2.0], seed=2**64)", "seed must be below 2⁶³"),
    ("scaling.measured_matches([0.5], 2, 3, -1)", "seed must be a whole number ≥ 0"),
]

# A benchmark of one cluster, a share above 1, a tournament of one: what has no error, or no sense.
EVALUATION = [
    ("evaluation.clustered_mean([1.0, 2.0, 3.0], [1, '1', 2])", "got int and str"),
    ("evaluation.agreement(['a'], [b'a'])", "of the same kind for both"),
    ("evaluation.ClusteredMean(2.0, -0.1, 4).p_value", "error must be a finite number, 0 or"),
    ("evaluation.ClusteredMean(2.0, 0.1, 1).interval()", "needs at least two clusters, got 1"),
    ("evaluation.sign_flip_test([1.0] * 30, np.random.default_rng(0), 10**12)", "draws must be at"),
    ("evaluation.best_temperature([[0.0, 0.0]], [0])", "every temperature says the same"),
    ("evaluation.pass_at_k([10**8], 10**9, 10**8)", "must be at most 1,000,000"),
    ("evaluation.fit_items([[1, 0]])", "with two readers or more and an item or more, got shape"),
    ("evaluation.fit_items([1, 0, 1])", "a table with two readers or more"),
    ("evaluation.fit_items([[1, 2], [0, 1]])", "an answer must be 1, 0 or NaN where there is none"),
    ("evaluation.fit_items([[1, nan], [0, nan]])", "nobody answered item 1: leave it out"),
    ("evaluation.fit_items([['right'], ['wrong']])", "right must be numbers, got <U5; NaN stands"),
    ("evaluation.clustered_mean([1.0, 2.0], [0, 1, 2])", "one cluster for each of 2 values"),
    ("evaluation.clustered_mean([1.0, 2.0], [3, 3])", "at least two clusters, got 1"),
    ("evaluation.clustered_mean([1.0, nan], [0, 1])", "values must be finite, got nan at [1]"),
    ("evaluation.clustered_mean([1.0, inf], [0, 1])", "values must be finite, got inf at [1]"),
    ("evaluation.clustered_mean([1.0, 2.0], [0.5, 1.0])", "whole numbers or names, got fractions"),
    ("evaluation.clustered_mean([1.0, 2.0], [0, 1], [1.0, 0.0])", "weights must be above 0, got 0"),
    ("evaluation.clustered_mean([1.0, 2.0], [0, 1], [1.0])", "weights must have length 2"),
    ("evaluation.clustered_mean([1.0, 2.0], [0, 1]).interval(95)", "level must lie strictly"),
    ("evaluation.intraclass_correlation([1.0, 2.0], [0, 1])", "each cluster holds one value"),
    ("evaluation.intraclass_correlation([1.0] * 4, [0, 0, 1, 1])", "all values are equal"),
    ("evaluation.design_effect([20, 0], 0.1)", "sizes must be whole numbers from 1 on, got 0"),
    ("evaluation.design_effect([20, 20], 1.5)", "between -0.0526 and 1 for clusters of up to 20"),
    ("evaluation.design_effect([20, 20], -0.5)", "between -0.0526 and 1 for clusters of up to 20"),
    ("evaluation.sign_flip_test([], np.random.default_rng(0))", "differences is empty"),
    ("evaluation.sign_flip_test([nan, 1.0], np.random.default_rng(0))", "differences must be"),
    ("evaluation.sign_flip_test([1.0, 2.0], 0)", "rng must be"),
    (
        "evaluation.sign_flip_test([1.0, 2.0], np.random.default_rng(0), draws=0)",
        "draws must be a whole number ≥ 1",
    ),
    ("evaluation.mcnemar(-1, 3)", "only_first must be a whole number ≥ 0, got -1"),
    ("evaluation.mcnemar(1, 2.5)", "only_second must be a whole number, got 2.5"),
    ("evaluation.mcnemar(1, 2, 'corrected')", "method must be one of 'exact', 'mid-p'"),
    ("evaluation.questions_needed(0.0, 0.2)", "difference must be one of two shares, not 0"),
    ("evaluation.questions_needed(3, 0.2)", "not 0 and between -1 and 1, got 3"),
    ("evaluation.questions_needed(0.03, 0.0)", "variance must be a finite number above 0"),
    ("evaluation.questions_needed(0.03, 0.2, power=80)", "power must lie strictly between 0 and 1"),
    ("evaluation.questions_needed(0.03, 0.2, level=5)", "level must lie strictly between 0 and 1"),
    ("evaluation.wald(11, 10)", "right must be at most n, got 11 right answers of 10"),
    ("evaluation.wilson(0, 0)", "n must be a whole number ≥ 1, got 0"),
    ("evaluation.clopper_pearson(9, 10, 95)", "level must lie strictly between 0 and 1"),
    ("evaluation.wilson(-1, 10)", "right must be a whole number ≥ 0, got -1"),
    ("evaluation.coverage(evaluation.wald, 30, [1.2])", "p must hold shares, from 0 to 1"),
    ("evaluation.coverage(evaluation.wald, 0, [0.5])", "n must be a whole number ≥ 1, got 0"),
    ("evaluation.brier_parts([0.5, 1.5], [0, 1])", "forecasts must lie between 0 and 1, got 0.5"),
    ("evaluation.brier_parts([0.5, 0.5], [0, 2])", "came_true must hold 0 for no and 1 for yes"),
    ("evaluation.brier_parts([0.5, 0.5], [0])", "came_true must have length 2"),
    ("evaluation.calibration_noise([1.2])", "confidence must lie between 0 and 1"),
    ("evaluation.calibration_noise([0.5], 0)", "bins must be a whole number ≥ 1, got 0"),
    ("evaluation.best_temperature([[1.0, 0.0]], [0])", "the colder the better, without end"),
    ("evaluation.best_temperature([[1.0, 0.0]], [1])", "the warmer the better, without end"),
    ("evaluation.best_temperature([[1.0, 0.0]], [2])", "targets must be whole numbers from 0 to 1"),
    ("evaluation.best_temperature([[1.0, nan]], [0])", "logits must be finite"),
    ("evaluation.conformal_quantile([], 0.9)", "scores is empty"),
    ("evaluation.conformal_quantile([1.0, nan], 0.9)", "scores must be finite, got nan at [1]"),
    ("evaluation.conformal_quantile([1.0], 90)", "level must lie strictly between 0 and 1"),
    ("evaluation.next_level(0.9, True, promised=0.9, step=0.0)", "with 0 nothing is corrected"),
    ("evaluation.next_level(0.9, True, promised=9, step=0.1)", "promised must lie strictly"),
    ("evaluation.credits([[1.0], [2.0]])", "a column for each of two options or more, got 1"),
    ("evaluation.credits([[1.0, 2.0]], 2)", "right must be a column from 0 to 1, got 2"),
    ("evaluation.credits([[1.0, nan]])", "costs must be finite"),
    ("evaluation.credits([[1.0, 2.0], [1.0]])", "costs must"),
    ("evaluation.credits([[1.0, 2.0]], ties='last')", "ties must be one of 'shared', 'first'"),
    ("evaluation.expected_best(0)", "k must be a whole number ≥ 1, got 0"),
    ("evaluation.expected_best(10**7)", "k must be at most 1,000,000"),
    ("evaluation.pass_at_k([1], answers=5, k=6)", "at most the number of answers, 5, got 6"),
    ("evaluation.pass_at_k([6], answers=5, k=2)", "right must hold whole numbers from 0 to 5"),
    ("evaluation.pass_at_k([1.5], answers=5, k=2)", "right must hold whole numbers from 0 to 5"),
    ("evaluation.duels([[1.0, 2.0]])", "a duel needs two models, got 1"),
    ("evaluation.duels([[1.0, nan], [1.0, 2.0]])", "costs must be finite"),
    ("evaluation.agreement([1, 0], [1])", "both judges must judge the same cases"),
    ("evaluation.agreement([], [])", "both judges must judge the same cases, one or more"),
]

REPLIES = "alignment.Replies(tensor([{}]), tensor([[50, 10, 54]]), ones(1, 3) > 0)"
CALCULATOR = "reasoning.Calculator()"
GROUPS = "ones(4), {}"
TRUE = "ones(1, 2) > 0"

REASONING = [
    ("reasoning.Calculator(10**9)", "size must be at most 1,000"),
    ("reasoning.Cups(10**6)", "places must be at most 100"),
    ("reasoning.Cups(5, 10**12)", "slots must be at most 1,000,000"),
    (
        "reasoning.worked_examples(reasoning.Calculator(), 3, np.array([[-1, 3]]))",
        "held_out must hold numbers from 0 to 49",
    ),
    ("reasoning.majority([[tensor([1]), tensor([1])]])", "group 0 holds NaN or a tensor"),
    (f"{CALCULATOR}.press(7, 'x2')", "key must be one of '+3', '−5', '×2', '÷2', got 'x2'"),
    (f"{CALCULATOR}.press(50, '+3')", "display must show a number from 0 to 49, got 50"),
    ("reasoning.Calculator(8)", "size must be a whole number ≥ 9, got 8"),
    (f"{CALCULATOR}.prompts(np.array([[7, 7]]))", "the question 7 → 7 needs no press"),
    (f"{CALCULATOR}.prompts(np.array([[7, 50]]))", "numbers from 0 to 49"),
    (f"{CALCULATOR}.prompts(np.array([7, 8]))", "pairs"),
    (
        f"reasoning.worked_examples({CALCULATOR}, 1, {CALCULATOR}.pairs)",
        "every question is held out",
    ),
    (f"reasoning.worked_examples({CALCULATOR}, 0, {CALCULATOR}.pairs[:1])", "n must be a whole"),
    (
        f"reasoning.worked_examples({CALCULATOR}, 1, {CALCULATOR}.pairs[:1], longest=0)",
        "longest must be a whole number ≥ 1, got 0",
    ),
    (f"reasoning.split_pairs({CALCULATOR}, 2450)", "2450 questions, got a test of 2450"),
    (
        f"reasoning.check({CALCULATOR}, {REPLIES.format('[7, 7, 55]')})",
        "the question 7 → 7 needs no press: an empty reply is right",
    ),
    (f"reasoning.check({CALCULATOR}, {REPLIES.format('[7, 20]')})", "start, target, arrow"),
    (f"reasoning.check({CALCULATOR}, {REPLIES.format('[7, 53, 55]')})", "numbers from 0 to 49"),
    (f"reasoning.check_loosely({CALCULATOR}, {REPLIES.format('[7, 7, 55]')})", "needs no press"),
    (
        f"reasoning.check({CALCULATOR}, alignment.Replies(tensor([[7, 20, 55]]), "
        "tensor([[56, 54]]), ones(1, 2) > 0))",
        "replies.tokens",
    ),
    (f"reasoning.group_advantages({GROUPS.format(1)})", "group_size must be a whole number ≥ 2"),
    (f"reasoning.group_advantages({GROUPS.format(3)})", "4 rewards are no whole number of groups"),
    (f"reasoning.group_advantages({GROUPS.format(2)}, 'mad')", "kind must be one of"),
    ("reasoning.group_advantages(tensor([1.0, nan]), 2)", "reward"),
    ("reasoning.group_weight(1.5, 8)", "p must hold chances from 0 to 1, got 1.5"),
    ("reasoning.group_weight(0.5, 1)", "n must be a whole number ≥ 2, got 1"),
    ("reasoning.group_goal(nan, 4)", "p must"),
    ("reasoning.dead_share(-0.1, 4)", "p must hold chances from 0 to 1"),
    ("reasoning.token_weights(tensor([[True], [False]]))", "every reply needs a token that counts"),
    ("reasoning.token_weights(tensor([[True]]), 'row')", "by must be one of"),
    ("reasoning.token_weights(tensor([[True]]), length=0.0)", "length must be"),
    (
        "reasoning.policy_loss(ones(2, 3), ones(2, 3), ones(3), ones(2, 3))",
        "advantages must have a number for each of 2 replies",
    ),
    (
        "reasoning.policy_loss(ones(2, 3), ones(2, 3), tensor([nan, 1.0]), ones(2, 3))",
        "advantages must be finite",
    ),
    (
        "reasoning.policy_loss(ones(2, 3), ones(2, 3), ones(2), ones(2, 3), clip=(0.0, 0.2))",
        "low must be",
    ),
    (
        "reasoning.policy_loss(full((1, 1), 900.0), full((1, 1), 0.0), -ones(1), ones(1, 1))",
        "the loss is infinite",
    ),
    (
        f"reasoning.generalized_advantage(ones(1, 2), ones(1, 2), {TRUE}, 1.5)",
        "decay must lie between 0 and 1, got 1.5",
    ),
    (
        "reasoning.generalized_advantage(ones(1, 3), ones(1, 3), "
        "tensor([[True, False, True]]), 1.0)",
        "the mask of reply 0 has a hole",
    ),
    (
        f"reasoning.generalized_advantage(full((1, 2), nan), ones(1, 2), {TRUE}, 1.0)",
        "rewards must be finite",
    ),
    ("reasoning.TwoPresses([0.0, 1.0])", "logits must be three numbers, got 2"),
    ("reasoning.TwoPresses([0.0, 1.0, 0.0]).estimate([0.5, 0.5], 1.0)", "values must be three"),
    ("reasoning.right_when_tilted(1.2, 0.5)", "p must be a chance from 0 to 1, got 1.2"),
    ("reasoning.right_when_tilted(0.2, 0.0)", "kl_weight must be"),
    ("reasoning.weight_of_best(0.0, 4)", "p must lie strictly between 0 and 1"),
    ("reasoning.weight_of_best(0.5, 0)", "tries must be a whole number ≥ 1, got 0"),
    ("reasoning.least_divergence(0.5, nan)", "p must be one finite number"),
    ("reasoning.entropy_change(tensor([0.5, 0.4]), ones(2))", "probabilities must"),
    ("reasoning.leaky_precision(0.5, 0.0, 0.0)", "nothing is ever accepted"),
    ("reasoning.leaky_precision(0.5, 1.0, 5)", "false_accepted must be a chance from 0 to 1"),
    ("reasoning.majority([[1], []])", "group 1 has no answer to vote on"),
    ("reasoning.pass_curve([], 4, [1], np.random.default_rng(0))", "there is no question"),
    ("reasoning.pass_curve([1], 4, [5], np.random.default_rng(0))", "k must be at most the number"),
    ("reasoning.pass_curve([5], 4, [1], np.random.default_rng(0))", "whole numbers from 0 to 4"),
    ("reasoning.Cups(1)", "places must be a whole number ≥ 2, got 1"),
    ("reasoning.Cups().questions(tensor([11]))", "there is room for 0 to 10 swaps"),
    ("reasoning.Cups().swap((3, 1))", "a swap is two cups below 5, in order, got (3, 1)"),
    ("reasoning.Cups().track(tensor([[0, 16]]))", "a place, 10 slots and the equals sign"),
    (
        "reasoning.teacher_loss(ones(1, 1, 2), ones(1, 1, 2), ones(1, 1) < 0)",
        "the mask is False everywhere",
    ),
]

INSIDE: list[tuple[str, str]] = [
    ("inside.shared_loss([1.0], [0.0], 0.3)", "two weights and two biases, got 1 and 1"),
    ("inside.shared_loss([1.0], [0.0, 0.0], 0.3)", "biases must have length 1, got length 2"),
    ("inside.shared_loss([1.0, 1.0], [0.0, 0.0], 1.3)", "p must be a chance from 0 to 1, got 1.3"),
    ("inside.sharing_border(0.0)", "ratio must be"),
    ("inside.cosines([[1.0, 0.0]])", "a pair needs two vectors, got 1"),
    ("inside.cosines([[1.0, 0.0], [0.0, 0.0]])", "vector 1 has length 0 and no direction"),
    ("inside.welch_bound(0, 3)", "n must be a whole number ≥ 1, got 0"),
    ("inside.directions_within(1.0, 8)", "epsilon must lie between 0 and 1, got 1.0"),
    ("inside.train_toy(2, 0.1, -ones(3), torch.Generator())", "importance must not be negative"),
    ("inside.fit_probe([[1.0], [2.0]], [3.0, 3.0])", "all targets are 3: a probe needs two values"),
    ("inside.fit_probe([[1.0], [2.0]], [3.0])", "targets"),
    ("inside.shortest_push([0.0, 0.0])", "weights are all 0"),
    ("inside.pattern([1.0, 0.0], [[0.0, 0.0], [0.0, 1.0]])", "do not vary along the weights"),
    ("inside.difference_of_means(ones(2, 3), ones(1, 3))", "the direction has length 0"),
    ("inside.steered('norm', 0 * ones(3), 1.0)", "a vector of length 0 steers nowhere"),
    ("inside.random_directions(2, 0 * ones(3), torch.Generator())", "no other of its length"),
    ("inside.train_dictionary(ones(9, 2), 4, 5, torch.Generator())", "at most the number of"),
    ("inside.train_dictionary(ones(3, 2), 4, 1, torch.Generator())", "cannot be learned from 3"),
    ("inside.train_dictionary(ones(9, 2), 4, 1, torch.Generator())", "all states are equal"),
    ("inside.unexplained(ones(3, 2), ones(3, 2))", "there is no variance to explain"),
    ("inside.recovered(3.0, 3.0, 2.0)", "is no worse than the model"),
    (
        "inside.token_share(ones(2, 1), tensor([0, 5]), 3)",
        "tokens must hold token ids, 0 to 2, got 5",
    ),
    (
        "inside.logit_difference(ones(1, 3), tensor([3]), tensor([0]))",
        "right must hold token ids, 0 to 2, got 3",
    ),
    ("inside.share(ones(1), ones(1), ones(1))", "needs two prompts, got 1"),
    ("inside.share(ones(2), ones(2), ones(2))", "the corruption changes nothing"),
    ("inside.swap(ones(3))", "a recorded activation with the axes batch, seq, width"),
    ("inside.swap(ones(1, 3, 2), place=3)", "place must be 0 … 2, got 3"),
    ("inside.swap(ones(1, 3, 2), heads=0)", "only where an activation has heads"),
    ("inside.swap(ones(1, 2, 3, 4), heads=2)", "heads must be 0 … 1, got [2]"),
    ("inside.swap(ones(1, 3, 2))(ones(1, 4, 2))", "replace tokens, do not insert any"),
    ("inside.modular_pairs(9)", "must be an odd prime, such as 59, got 9"),
    ("inside.modular_pairs(2)", "must be an odd prime"),
    ("list(inside.train_addition(5, 4, torch.Generator(), seen=0.0))", "seen must leave pairs"),
    ("list(inside.train_addition(5, 4, torch.Generator(), bend='gelu'))", "bend must be one of"),
    ("inside.neurons(ones(4, 2))", "an odd number of rows"),
    ("inside.neurons(ones(5, 2))", "column 0 is constant"),
    ("inside.explained_by(ones(4, 3))", "3 answers need 9 pairs, got 4"),
    ("inside.explained_by(ones(9, 3))", "all answers have the same logit"),
]


# What a layer or a rule is given by hand, one step at a time: no door has asked before.
X, NOT_X = "ones(1, 4)", "ones(1, 4) * nan"
LAYERS_4_TO_3 = [
    "fine_tuning.LoRALinear(torch.nn.Linear(4, 3), 2)({})",
    "fine_tuning.AdapterLinear(torch.nn.Linear(4, 3), 2)({})",
    "fine_tuning.ScaledLinear(torch.nn.Linear(4, 3), 'outputs')({})",
    "fine_tuning.ScaledLinear(torch.nn.Linear(4, 3), 'inputs')({})",
    "fine_tuning.QuantizedLinear(torch.nn.Linear(4, 3))({})",
    "recurrent.ElmanCell(4, 3)({})",
    "recurrent.LSTMCell(4, 3)({})",
    "recurrent.GRUCell(4, 3).project({})",
]
"""Layers that read four numbers."""
ROWS = [
    ("None", "x must be a tensor of"),
    ("[[1.0, 2.0, 3.0, 4.0]]", "write torch.tensor(x)"),
    (NOT_X, "x must be finite, got nan at [0, 0]"),
    ("ones(1, 4) / 0", "x must be finite, got inf at [0, 0]"),
    ("ones(1, 4).long()", "x must hold floating-point numbers, got torch.int64; write x.float()"),
    ("ones(1, 4) * 1j", "x must hold floating-point numbers, got torch.complex64"),
]
RULES = [
    "optimization.GradientDescent(0.1)",
    "optimization.Momentum(0.1)",
    "optimization.Momentum(0.1, nesterov=True)",
    "optimization.Adam(0.1)",
    "optimization.SteepestDescent(0.1, 'linf')",
]
MOVES = [
    ("None, [1.0, 2.0], {}.start([0.0, 0.0])", "w must hold numbers"),
    ("[1.0, 2.0], None, {}.start([0.0, 0.0])", "gradient must hold numbers"),
    ("[1.0, 2.0], 'ab', {}.start([0.0, 0.0])", "gradient must hold numbers"),
    ("[1.0, 2.0], [1.0], {}.start([0.0, 0.0])", "beside w (*shape,) = (2,)"),
    ("[1.0, 2.0], 1.0, {}.start([0.0, 0.0])", "beside w (*shape,) = (2,)"),
    ("[1.0, 2.0], [nan, 1.0], {}.start([0.0, 0.0])", "gradient must be finite, got nan at [0]"),
    ("[inf, 2.0], [1.0, 1.0], {}.start([0.0, 0.0])", "w must be finite, got inf at [0]"),
    ("[1.0, 2.0], [1.0, 1.0], 'rest'", "memory must"),
]
ADAM = "optimization.Adam(0.1).move([1.0], {})"
BY_HAND = [
    *((layer.format(x), words) for layer in LAYERS_4_TO_3 for x, words in ROWS),
    *((f"{rule}.move({given.format(rule)})", words) for rule in RULES for given, words in MOVES),
    *((f"{rule}.start(None)", "w must hold numbers") for rule in RULES),
    *(
        (layer.format("ones(1, 4).double()"), "all tensors need one precision")
        for layer in LAYERS_4_TO_3
        if "Quantized" not in layer  # which computes in the precision of what it is given
    ),
    (LAYERS_4_TO_3[4].format("ones(1, 5)"), "x must have 4 numbers along its last axis"),
    (LAYERS_4_TO_3[4].format("ones(1, 0)"), "x must have 4 numbers along its last axis"),
    (ADAM.format("[1e200], optimization.Adam(0.1).start([1.0])"), "too large"),
    (
        ADAM.format("[1.0], optimization.Adam(0.1).start([1.0, 2.0])"),
        "memory is of shape (2,), the weights (1,)",
    ),
    (
        "optimization.Momentum(0.1).move([1.0], [1.0], [1.0, 2.0])",
        "memory must have shape (*shape,), got (2,)",
    ),
    (
        "optimization.Adam(0.1).move([1.0, 1.0], [1.0, 2.0], optimization.rules.AdamMemory("
        "[0.0, 0.0], [1.0, -1.0], 0))",
        "memory.square is a mean of squares, got -1 in it",
    ),
    (
        ADAM.format("[1.0], optimization.rules.AdamMemory([0.0], [1.0], -1)"),
        "memory.time must be a whole number ≥ 0, got -1",
    ),
    ("positions.rope_frequencies(2**24 + 2)", "takes at most 16,777,216 coordinates"),
    ("positions.LearnedPositions(2**20, 2**10 + 1)", "take at most 1,047,552"),
    ("positions.alibi_slopes(2**24 + 1)", "n_heads must be at most 16,777,216, got 16777217"),
    ("positions.alibi_bias(2**20 + 1, 2**5, 2**5)", "than the 1,073,741,824 that a bias holds"),
    ("attention.causal_mask(2**15 + 1, 2**15 + 1)", "than the 1,073,741,824 that a mask holds"),
    ("attention.padding_mask(tensor([1, 1]), 2**29 + 1)", "n_keys must be at most 536,870,912"),
    *(
        (
            f"positions.shaw_attention(*[ones(4, 2)] * 3, {', '.join(tables)})",
            f"{name} contains NaN",
        )
        for name, tables in {
            "key_offsets": ("torch.full((3, 2), nan)", "ones(3, 2)"),
            "value_offsets": ("ones(3, 2)", "torch.full((3, 2), nan)"),
        }.items()
    ),
    ("recurrent.ElmanCell(2, 3).step(ones(3), (ones(3).double(),))", "need one precision"),
    ("recurrent.LSTMCell(2, 3)(ones(2), (ones(3).half(),) * 2)", "need one precision"),
    ("recurrent.ElmanCell(2, 3).step(None, (ones(3),))", "projected must be a tensor"),
    ("recurrent.ElmanCell(2, 3).step(ones(2), (ones(3),))", "projected must have 3 numbers"),
    ("recurrent.LSTMCell(2, 3).step(ones(12), (ones(3),))", "has 2 part(s) of length 3"),
    ("recurrent.GRUCell(2, 3).step(ones(9), None)", "a state is a tuple of tensors"),
    ("recurrent.GRUCell(2, 3).step(ones(9), (ones(3) * nan,))", "must be finite, got nan"),
    ("recurrent.GRUCell(2, 3).step(ones(9), ())", "has 1 part(s) of length 3"),
    ("recurrent.GRUCell(2**63, 1)", "input_size must be at most 16,777,216"),
    ("recurrent.GRUCell(2, 3).zero_state(2**63)", "batch_size must be at most 16,777,216"),
    (
        "recurrent.EncoderDecoder(5, 8).step(tensor([6]), ones(1, 8), ones(1, 3, 8), ones(1, 8))",
        "token must hold token ids, 0 to 5, got 6",
    ),
    ("networks.Variable([1.0, 2.0]).sum(axis=1.0)", "axis must be a whole number, got 1.0"),
    ("networks.Variable([1.0, 2.0]).sum(axis='0')", "axis must be a whole number, got '0'"),
    ("networks.Variable([1.0, 2.0]).sum(axis=1)", "axis 1 is none of 1: the shape is (2,)"),
    ("networks.Variable([1.0, 2.0]).sum(axis=-2)", "axis -2 is none of 1"),
    ("pretraining.LinearAttentionLayer(1)(ones(1, 3, 2) * nan, ones(1, 2))", "must be finite"),
    ("pretraining.LinearAttentionLayer(1)(ones(1, 3, 2).double(), ones(1, 2))", "one precision"),
    ("pretraining.SpanBoundary(4, 9)(ones(9, 3), 3, 4)", "shapes that do not go together"),
    ("pretraining.SpanBoundary(4, 9)(ones(9, 4).double(), 3, 4)", "one precision"),
    ("pretraining.LinearChainCRF(2).decode(None)", "scores must be a tensor"),
    ("reasoning.split_pairs(reasoning.Calculator(), seed=-1)", "seed must be a whole number ≥ 0"),
    ("reasoning.split_pairs(reasoning.Calculator(), seed=1.5)", "seed must be a whole number ≥ 0"),
    ("optimization.feature_changes(8, 'mup', 0.1, 1, seed=-1)", "seed must be a whole number ≥ 0"),
    ("language_models.merge_pair(None, (1, 2), 3)", "ids must be a sequence"),
    ("language_models.merge_pair([1.5, 2], (1, 2), 3)", "entry 0 of ids must be a whole number"),
    ("language_models.merge_pair([1, 2], (1, 2), nan)", "new_id must be a whole number"),
    ("language_models.add_counts(None)", "entry 0 of counts must be a Counts, got None"),
    ("language_models.count_ngrams(None, 5, 2)", "texts must be a list of encoded texts, got None"),
    ("language_models.WindowModel(5, 2, 3, 4)(None)", "contexts must be a tensor"),
    ("language_models.WindowModel(5, 2, 3, 4)(tensor([1, 2]))", "contexts must have shape"),
    ("train.learning_rate(0, peak='1', final=0.0, warmup_steps=0, total_steps=2)", "peak must be"),
    ("train.learning_rate(0, peak=1.0, final=None, warmup_steps=0, total_steps=2)", "final must"),
    ("train.DataSettings('plays', nan)", "vocab_size must be a whole number"),
    ("train.Configuration(None, config, None)", "data must be a DataSettings, got None"),
    ("transformers.Transformer(config)(tensor([[1j]]))", "tokens must be whole numbers"),
    ("attention.padding_mask([1j], 2)", "lengths must be"),
    (
        "train.Batches(tensor([1, 2, 3]).to(torch.uint8), 1, 1, 0)",
        "tokens must hold whole numbers that may be negative, got torch.uint8; write tokens.long()",
    ),
    (
        "fine_tuning.pack(tensor([1, 2]), 4)",
        "codes must hold whole numbers of 8 bits, 0 to 255, got torch.int64",
    ),
]  # fmt: skip

# What is done one after the other, and so often that nobody waits for it; numbers of 64 bits; what
# functions of the caller's return; what optimizers and fits cannot take.
WITHOUT_END = [
    (f"{call.replace('…', many)}", "must be at most 1,000,000, got ")
    for many in ("10**9", "1_000_001", "2**62")
    for call in (
        "optimization.newton_schulz(eye, steps=…)",
        "optimization.descend(optimization.GradientDescent(1.0), lambda w: w, [1.0], steps=…)",
        "optimization.feature_changes(8, 'mup', 0.01, steps=…, seed=0)",
        "networks.descend_from([[1.0]], [1.0], [0.0], step=0.1, steps=…)",
        "pretraining.gradient_steps([[1.0]], [1.0], [1.0], 0.1, steps=…)",
        "pretraining.attention_layers([[1.0]], [1.0], [1.0], 0.1, layers=…)",
        "pretraining.next_sentence_pairs([[[1], [2]], [[3], [4]]], …, np.random.default_rng(0))",
        "recurrent.power_norms([[0.5]], …)",
        "recurrent.EncoderDecoder(5, 8).write(tensor([[1, 2]]), …)",
        "fine_tuning.lloyd_codebook(torch.arange(99.0), steps=…)",
        "beyond_attention.power_block([[1.0]], …)",
        "scaling.bootstrap(np.mean, [1.0, 2.0], resamples=…)",
        "language_models.window_rows([1, 2], 3, …)",
    )
] + [
    ("beyond_attention.remember([1.0, 2.0], 10**9)", "size must be at most 10,000, got 1000000000"),
    ("beyond_attention.best_state([1.0, 2.0], 20_000)", "size must be at most 10,000, got 20000"),
    ("fourier.fourier_transform(np.exp, [1.0], (0, 1), panels=10**9)", "at most 1,000,000, got"),
    ("statistics.t_quantile(1e-320, 1)", "for df = 1 is no floating-point number"),
    ("statistics.t_quantile(5e-324, 0.5)", "for df = 0.5 is no floating-point number"),
    ("language_models.perplexity([1e-320, 1e-320])", "overflow encountered in exp"),
    ("pretraining.spread_tags(['O', 'O'], [1, 10**9])", "each ≥ 1 and together at most 1,000,000"),
    ("networks.convolve(ones(1, 1, 3, 3), ones(1, 1, 2, 2), padding=2**63)", "padding must be"),
    ("networks.convolve(ones(1, 1, 3, 3), ones(1, 1, 2, 2), stride=2**64)", "stride must be"),
    ("fourier.stft([1.0, 2.0, 3.0], [1.0, 1.0], hop=2**63)", "hop must be at most 16,777,216"),
    ("fine_tuning.quantize(ones(3), fine_tuning.NF4, 2**63)", "block_size must be below 2⁶³"),
    ("language_models.learn_merges_by_rescan({b'ab': 1}, 2**63)", "n_merges must be below 2⁶³"),
    ("language_models.learn_merges({b'ab': 1}, 2**200)", "n_merges must be below 2⁶³"),
    ("optimization.Muon([])", "params must be the weight matrices of a model, such as"),
    ("optimization.Muon([linear.weight * 2])", "at least one, and none that was computed"),
    ("transformers.MixtureOfExperts(lambda: 3.0, 4, 2)", "must return a torch.nn.Module"),
    ("transformers.MixtureOfExperts(lambda: eye, 4, 2)", "got a tensor of shape (3, 3)"),
    ("transformers.MixtureOfExperts(lambda: torch.nn.Linear, 4, 2)", "make_expert must return a"),
    (
        "language_models.next_characters(lambda ids: 'ab', tokenizer, 'a')",
        "predictions after 0 tokens must be numbers of shape (1, 258), got shape () of <U2",
    ),
    (
        "language_models.next_characters(lambda ids: np.full((1, 258), 1j), tokenizer, '')",
        "must be numbers of shape (1, 258), got shape (1, 258) of complex128",
    ),
    ("scaling.bootstrap(lambda: 1.0, [1.0, 2.0])", "fit must take as many columns as there are, 1"),
    ("scaling.bootstrap(lambda x: x, [1.0, 2.0], [1.0, 2.0])", "as many columns as there are, 2"),
    ("scaling.bootstrap(np.mean, ['a', 'b'])", "column 0 must hold numbers, got an array of type"),
    ("scaling.bootstrap(np.mean, [1.0, None])", "column 0 must hold numbers, got an array of type"),
    ("scaling.bootstrap(np.mean, [1.0, nan])", "columns must be finite, got nan in entry 1"),
    (
        "list(networks.double_descent(networks.few_digits(50, np.random.default_rng(0)), [9], "
        "np.random.default_rng(1), [1.7e308]))",
        "penalty must be smaller, got 1.7e+308: no number holds λ/σ",
    ),
    ("language_models.add_counts(np.ones(2))", "entry 0 of counts must be a Counts, got an array"),
    ("statistics.HypothesisTest(sum, lambda c: 0.5).p_value(None)", "x must be a NumPy array"),
    ("statistics.HypothesisTest(sum, lambda c: 0.5).rejects([1.0, 'a'])", "entry 1 of x must be"),
    ("statistics.HypothesisTest(sum, lambda c: 0.5).rejects([1.0, nan])", "x must be finite"),
    ("statistics.Poisson().log_density(tensor([nan, 1.0]), tensor(2.0))", "x contains NaN at [0]"),
    ("alignment.PreferenceFit(np.array([nan]), np.eye(1), 0.5)", "weights must be finite"),
    ("beyond_attention.legs_matrices(2.5)", "size must be a whole number ≥ 1, got 2.5"),
    (
        "optimization.descend(optimization.GradientDescent(1.0), lambda w: np.eye(2) @ w, 1.0, 3)",
        "descend got shapes that do not go together",
    ),
]  # fmt: skip

# Sizes that would fill the memory: each is refused before anything is made, by the name of the
# argument that is to blame.
HUGE = "1_000_000_000"
AXES = {
    "transformers.RMSNorm(…)": "dim",
    "transformers.FeedForward(4, …)": "d_ff",
    "transformers.FeedForward(…, 4)": "d_model",
    "transformers.SwiGLU(4, …)": "d_ff",
    "transformers.MixtureOfExperts(lambda: linear, 3, n_experts=…)": "n_experts",
    "transformers.PatchEmbedding(…, 1, 3, 4)": "image_size",
    "transformers.PatchEmbedding(4, 1, …, 4)": "channels",
    "transformers.TransformerConfig(**small | {'n_layers': …})": "n_layers",
    "transformers.TransformerConfig(**small | {'vocab_size': …})": "vocab_size",
    "transformers.TransformerConfig(**small | {'context_length': …})": "context_length",
    "transformers.TransformerConfig(**small | {'n_experts': …})": "n_experts",
    "attention.MultiHeadAttention(…, 2)": "d_model",
    "positions.ShawRelativeAttention(…, 2, 3)": "d_model",
    "positions.ShawRelativeAttention(4, 2, …)": "max_distance",
    "positions.LearnedPositions(2, …)": "dim",
    "positions.alibi_slopes(…)": "n_heads",
    "positions.rope_matrix(1, …)": "dim",
    "recurrent.LSTMCell(2, …)": "hidden_size",
    "recurrent.GRUCell(…, 2)": "input_size",
    "recurrent.Recurrent('rnn', 2, 3, …)": "n_layers",
    "recurrent.RecurrentLanguageModel('abc', 'rnn', 2, …)": "embedding_size",
    "recurrent.EncoderDecoder(…, 8)": "n_letters",
    "recurrent.GRUCell(2, 3).zero_state(…)": "batch_size",
    "recurrent.parity(…, 2, torch.Generator())": "batch_size",
    "recurrent.reversal(2, …, 3, torch.Generator())": "length",
    "recurrent.text_windows(torch.arange(9), 3, …)": "number",
    "fine_tuning.completion_mask(tensor([1]), tensor([2]), …)": "width",
    "beyond_attention.LinearAttention(…, 2)": "d_model",
    "beyond_attention.SelectiveLayer(8, expand=…)": "expand",
    "beyond_attention.SelectiveLayer(8, d_state=…)": "d_state",
    "beyond_attention.AdditiveMemory(…, 2)": "d_key",
    "beyond_attention.DeltaMemory(2, …)": "d_value",
    "beyond_attention.RidgeMemory(…, 2)": "d_key",
    "beyond_attention.diagonal_kernel([0.5], [1.0], [1.0], …)": "length",
    "beyond_attention.kernel([[0.5]], [1.0], [1.0], …)": "length",
    "beyond_attention.reconstruct([1.0, 2.0], …)": "length",
    "pretraining.LinearAttentionLayer(…)": "d",
    "pretraining.LinearChainCRF(…)": "n_tags",
    "pretraining.SpanBoundary(4, …)": "vocab_size",
    "pretraining.SpanBoundary(4, 9, …)": "longest",
    "pretraining.linear_tasks(2, …, 3, torch.Generator())": "n",
    "pretraining.family_mask('decoder', …)": "n_tokens",
    "pretraining.encode_bio([], …)": "n_words",
    "pretraining.span_length_probabilities(0.2, …)": "longest",
    "language_models.WindowModel(5, 2, …, 4)": "d_embed",
    "language_models.positive_pmi(np.array([[0, 1]]), …)": "vocab_size",
    "networks.zigzag_network(2, …)": "width",
    "networks.legendre_features([0.5], …)": "degree",
    "networks.relu_features([[1.0]], …, np.random.default_rng(0))": "width",
    "networks.reliability([0.5], np.array([True]), …)": "bins",
    "fourier.dft_matrix(…)": "length",
    "fourier.hann(…)": "length",
    "fourier.stft([1.0, 2.0], [1.0, 1.0], …)": "hop",
    "regression.k_folds(…, 2, np.random.default_rng(0))": "n",
    "inside.random_directions(…, ones(2), torch.Generator())": "n",
    "inside.sparse_examples(2, …, 0.5, torch.Generator())": "features",
}
SIZES = [
    (call.replace("…", HUGE), f"{name} must be at most ") for call, name in AXES.items()
] + [
    ("transformers.FeedForward(2**15, 2**16)", "d_ff = 65,536 beside d_model = 32,768"),
    ("transformers.SwiGLU(2**15, 2**16)", "2,147,483,648 numbers; take at most 32,768"),
    ("transformers.PatchEmbedding(2**20, 1, 3, 4)", "(image_size / patch)² = 1,099,511,627,776"),
    ("transformers.PatchEmbedding(2**14, 2**14, 3, 4)", "patch² = 268,435,456 beside channels = 3"),
    ("beyond_attention.SelectiveLayer(2**15, expand=2)", "makes a table of 4,294,967,296 numbers"),
    ("beyond_attention.AdditiveMemory(2**16, 2**16)", "makes a table of 4,294,967,296 numbers"),
    ("recurrent.LSTMCell(2**20, 2**12)", "input_size = 1,048,576 beside hidden_size = 4,096"),
    ("pretraining.linear_tasks(2**12, 2**12, 2**12, torch.Generator())", "take at most 64"),
    ("pretraining.linear_tasks(2**20, 2**20, 2**20, torch.Generator())", "may hold 1,073,741,824"),
    ("language_models.WindowModel(2**20, 2, 2**20, 4)", "beside d_embed = 1,048,576 makes a table"),
    ("networks.max_pool(ones(1, 1, 4, 4).numpy(), 10**9)", "the kernel, 1000000000, is larger"),
    ("networks.average_pool(ones(1, 1, 4, 4).numpy(), 5)", "kernel, 5, is larger than the image"),
    (
        "networks.convolve(ones(1, 1, 3, 3), ones(1, 1, 2, 2), padding=10**6)",
        "convolve needs more memory than there is for padding = 1,000,000",
    ),
]  # fmt: skip

# A class in the place of one of its objects, of a number, an array or a function.
CLASSES = [
    ("inference.generate(inference.MarkovModel, [0], 2)", "LanguageModel, got <class"),
    ("fine_tuning.freeze(torch.nn.Linear)", "write Linear(…), an object of that class"),
    ("fine_tuning.loss_on(transformers.Transformer, tensor([[1, 2]]))", "write Transformer(…), an"),
    ("optimization.descend(optimization.Adam, lambda w: w, [1.0], 3)", "write Adam(…), an object"),
    ("transformers.Transformer(transformers.TransformerConfig)", "write TransformerConfig(…)"),
    ("transformers.RMSNorm(transformers.RMSNorm)", "dim must be a whole number ≥ 1, got <class"),
    (
        "beyond_attention.recall(beyond_attention.DeltaMemory, [[1.0]], [[1.0]], [0])",
        "write DeltaMemory(…), an object of that class",
    ),
    (
        "transformers.Transformer(config)(tensor([[1]]), cache=transformers.KeyValueCache)",
        "cache must be a KeyValueCache(model.config), got <class",
    ),
    (
        "attention.MultiHeadAttention(8, 2)(ones(1, 3, 8), cache=transformers.KeyValueCache)",
        "cache must be one layer's, such as KeyValueCache(config)[0], got <class",
    ),
    ("attention.MultiHeadAttention(8, 2)(ones(1, 3, 8), cache=[])", "cache must be one layer's"),
    ("attention.MultiHeadAttention(8, 2)(ones(1, 3, 8), rotate=torch.Tensor)", "rotate must be a"),
    ("attention.MultiHeadAttention(8, 2)(ones(1, 3, 8), rotate=3)", "rotate must be a function of"),
    (
        "beyond_attention.LinearAttention(8, 2)(ones(1, 3, 8), rotate=np.ndarray)",
        "rotate must be a function of a tensor and its start, got <class",
    ),
    *(
        (f"{call}, observe={observe})", "observe must be a function of a name and a tensor, got")
        for call in (
            "transformers.Transformer(config)(tensor([[1, 2]])",
            "attention.scaled_dot_product_attention(eye, eye, eye",
        )
        for observe in ("torch.Tensor", "np.ndarray", "torch.nn.Linear", "lambda: None")
    ),
    *(
        (call.replace("…", given), "must be a function")
        for given in ("torch.Tensor", "np.ndarray", "torch.nn.Linear", "type(lambda: 0)")
        for call in (
            "statistics.marginal_likelihood(…, lambda m: 1.0, 0.0, 1.0)",
            "statistics.kolmogorov_distance([0.5, 1.0], …)",
            "regression.cross_validated_errors(…, [[1.0], [2.0]], [1.0, 2.0], [np.arange(1)] * 2)",
            "regression.choose_penalty(…, [[1.0], [2.0]], [1.0, 2.0], [np.arange(1)] * 2)",
            "alignment.gaussian_gradients(…, lambda x: x, np.zeros(1), np.zeros((1, 1)))",
            "evaluation.coverage(…, 30, [0.5])",
            "inference.generate(chain, [0], 2, choose=…)",
            "scaling.bootstrap(…, [1.0, 2.0])",
        )
    ),
    *(
        (call.replace("…", given), words)
        for given in ("torch.Tensor", "np.ndarray", "[torch.Tensor]", "torch.nn.Linear")
        for call, words in {
            "statistics.sample_mean(…)": "x must ",
            "language_models.softmax(…)": "logits must ",
            "transformers.blockwise_attention(…, eye, eye, block_size=2)": "query must be a tensor",
            "attention.causal_mask(…)": "n_queries must be a whole number",
            "regression.ols(…, [1.0, 2.0])": "X must ",
            "fourier.stft(…, [1.0, 1.0], 1)": "must ",
            "pretraining.run_lengths(…)": "right must hold True or False",
            "train.Batches(…, 3, 1, 0)": "tokens must be a tensor",
            "recurrent.load_models(…)": "path must be ",
        }.items()
    ),
    ("alignment.Rater(torch.Tensor)", "wish must be a function of a reply, got <class"),
    ("alignment.Rater(lambda: 1.0)", "wish must be a function of a reply, got <lambda>()"),
    ("positions.rope_complex(ones(2).bfloat16(), 1)", "x is in torch.bfloat16, which no complex"),
    ("statistics.t_power(0.5, 10, alternative=torch.Tensor)", "alternative must be one of"),
    ("pretraining.load_bert({}, dict)", "BertConfig or a mapping, got <class 'dict'>"),
    ("transformers.load_llama({'a': linear.weight * nan}, {})", "state_dict must be finite"),
]  # fmt: skip

# Token ids that no model has, wherever in the text they stand.
TUNED = "fine_tuning.fine_tune(transformers.Transformer(config), {}, 0.01, length=4)"
STRANGE = [
    (TUNED.format(f"tensor([1, 2, 3, 4, 0] * 4 + [{token}])"), f"0 to 4, got {token} at [20]")
    for token in (-1, 5, -100)
]

# What a function of the caller's returns, what another layer kept, and numbers that end there.
LAYER = "beyond_attention.LinearAttention(8, 2)"
KEPT = "(lambda kept: ({}(ones(1, 2, {}), cache=kept), {}(ones(1, 2, {}), cache=kept)))"
STATE = "(beyond_attention.LayerState())"
SCAN = "beyond_attention.selective_scan({}, {}, -ones(1, 1), {}, {}, ones(1), {})"
MODEL = (  # of three tokens, which says anything
    "type('Model', (), {{'config': type('C', (), {{'vocab_size': 3, 'context_length': 9}}), "
    "'__call__': lambda self, x: {}}})()"
)
HANDED_OVER = [
    *(
        (f"{layer}(ones(1, 3, 8), rotate={rotate})", words)
        for layer in ("attention.MultiHeadAttention(8, 2)", LAYER)
        for rotate, words in {
            "lambda x, start: x[..., :1]": "rotate must return a tensor like its own",
            "lambda x, start: None": "of shape (1, 2, 3, 4), got None",
            "lambda x, start: x.double()": "got torch.float64 of shape (1, 2, 3, 4)",
            "lambda x: x": "rotate must be a function of 2 arguments, got <lambda>(x)",
        }.items()
    ),
    (
        "attention.MultiHeadAttention(8, 2)(ones(1, 3, 8), rotate=lambda x, start: nan * x)",
        "query contains NaN at [0, 0, 0, 0]",
    ),
    (
        "transformers.Transformer(config)(tensor([[1, 2]]), observe=lambda name, x: x.double())",
        "the observer returned torch.float64 for embedding, which is torch.float32",
    ),
    *(
        (KEPT.format(*layers) + STATE, "the state is another layer's: it holds")
        for layers in (
            (LAYER, 8, "beyond_attention.LinearAttention(16, 2)", 16),
            (LAYER, 8, "beyond_attention.LinearAttention(8, 4)", 8),
            (LAYER, 8, "beyond_attention.SelectiveLayer(8)", 8),
            ("beyond_attention.SelectiveLayer(8)", 8, LAYER, 8),
            ("beyond_attention.SelectiveLayer(8)", 8, "beyond_attention.SelectiveLayer(8, 4)", 8),
        )
    ),
    *(
        (SCAN.format(*[f"ones({rows}, 3, 1)"] * 4, before), "before is overwritten, so it must be")
        for rows, before in {
            1: "ones(1, 1, 1).requires_grad_()",
            2: "ones(1, 1, 1).expand(2, 1, 1)",
        }.items()
    ),
    (
        "(lambda layer: (layer.append(ones(1, 2, 1, 4), ones(1, 2, 1, 4)), layer.append("
        "ones(1, 2, 1, 4).double(), ones(1, 2, 1, 4).double())))"
        "(transformers.KeyValueCache(config)[0])",
        "the cache holds torch.float32, got torch.float64",
    ),
    (
        "(lambda layer: (layer.append(ones(1, 2, 1, 4), ones(1, 2, 1, 4)), layer.append("
        "ones(1, 2, 1, 4), ones(1, 2, 1, 3))))(transformers.KeyValueCache(config)[0])",
        "the cache holds values of 4 numbers, got 3",
    ),
    (
        "transformers.EncoderDecoder(transformers.TransformerConfig(**small, positions='none'))"
        ".decode(tensor([[1]]), None)",
        "memory must be a tensor of floating-point numbers, got None",
    ),
    ("transformers.EncoderDecoder(3)", "config must be a TransformerConfig, got 3"),
    (
        "transformers.MixtureOfExperts(torch.nn.Identity(), 8, 2)",
        "make_expert must make a new module at each call, got a module",
    ),
    (
        "transformers.MixtureOfExperts(lambda: torch.nn.Linear(7, 8), 8, 2)(ones(1, 8))",
        "cannot read torch.float32 of shape",
    ),
    (
        "transformers.MixtureOfExperts(lambda: torch.nn.Linear(8, 8), 8, 2)(nan * ones(1, 8))",
        "x contains NaN at [0, 0]",
    ),
    (
        "transformers.PatchEmbedding(4, 2, 1, 8)(ones(1, 1, 4, 4).double())",
        "images need the layer's precision, torch.float32, got torch.float64",
    ),
    (
        "beyond_attention.ridge_attention([[1.0, 0]], [[1.0, 1], [1, 1]], [[1.0], [2.0]], 1e-40)",
        "penalty = 1e-40 is so small that rounding decides",
    ),
    (
        "beyond_attention.RidgeMemory(1, 1, penalty=1e-12).write([1.0], [1.0])",
        "key is too long beside penalty = 1e-12 and keep = 1",
    ),
    ("beyond_attention.matrix_exponential([[0, 1e12], [-1e12, 0]])", "A turns by 1e+12 rad"),
    *(
        (f"positions.apply_rope(ones(3, 4), {places})", words)
        for places, words in {
            "np.ma.masked_array([0, 1, 2], [0, 1, 0])": "positions is a masked array",
            "[0, True, 2]": "positions must be whole numbers, got [0, True, 2]",
            "[10**18, 0, 1]": "an angle of 1e+18 rad, of which no digits are left below a turn",
            "np.array([2**64 - 1, 0, 1], dtype=np.uint64)": "positions must be below 2⁶³",
        }.items()
    ),
    ("positions.rope_matrix(1e17, 4)", "offset must be below 1,000,000,000 in size, got 1e+17"),
    (
        "positions.rotate_pairs(full((1, 4), 3e38), ones(1, 2))",
        "too near the largest torch.float32",
    ),
    ("positions.rope_complex(full((1, 4), 3e38), [1])", "too near the largest torch.float32"),
    *(
        (call.format(MODEL.format(f"torch.zeros({shape})")), "a logit for each of its 3 tokens")
        for shape in ("*x.shape, 4", "*x.shape, 2", "len(x), 3", "3, 1, 3")
        for call in (
            "inference.generate({}, [0], 2)",
            "inference.beam_search({}, [0], 2, 2)",
            "inference.log_likelihoods({}, tensor([[0, 1, 2]]))",
        )
    ),
    (
        "inference.beam_search(" + MODEL.format("nan * torch.zeros(*x.shape, 3)") + ", [0], 2, 2)",
        "logits must be finite or −∞ and leave at least one token possible",
    ),
    ("recurrent.ElmanCell(3, 2).load_torch(torch.nn.RNNCell(3, 2, nonlinearity='relu'))", "'relu'"),
    ("recurrent.load_models('/')", "there are no models at /: Is a directory"),
    (
        "recurrent.EncoderDecoder(5, 8, None).scores(ones(1, 8), ones(1, 2, 8))",
        "it has no attention to score",
    ),
    ("(networks.Variable([0.0]) ** 0.5).sum().backward()", "a gradient has no finite value"),
    ("networks.Variable([2.0]) ** '2'", "exponent must hold numbers"),
    ("networks.Variable([2.0]).apply(np.tanh)", "activation must be an Activation, got <ufunc"),
    *(
        (
            f"networks.Activation('half', lambda z: {result}, lambda z: z)([1.0, 2.0])",
            "value must return a number for each entry, shape (2,), got",
        )
        for result in ("z[:1]", "None", "'a'", "1.0")
    ),
    ("networks.count_walks([[2**53 + 1]], 1)", "adjacency must hold counts below 2⁵³"),
    ("networks.count_pieces([0, 1, 2], [0, 1, 2], tolerance=-1)", "tolerance must be a finite"),
    ("networks.count_pieces([0, 1, 2], [0, 1e308, -1e308])", "the slope must be finite, got -inf"),
    (
        "networks.initialize((2, 10**9), np.random.default_rng(0))",
        "sizes[1] = 1,000,000,000 beside",
    ),
    *(
        (
            "list(networks.double_descent(networks.few_digits(50, np.random.default_rng(0)), [9], "
            f"np.random.default_rng(0), labelings=[np.full(50, {label})]))",
            f"a class must be 0 to 9, got {label} to {label}",
        )
        for label in (-1, 10)
    ),
    ("beyond_attention.power_block(np.eye(300), 10**6)", "length = 1,000,000 beside n² = 90,000"),
    (
        "networks.train_autoencoder([[1e-9, 1e-9], [0, 1e-9]], networks.Autoencoder("
        "np.ones((2, 1)), np.ones((1, 2))), 0.1, 2)",
        "second_moments must be a symmetric matrix",
    ),
]

ALL = (
    WRONG_ANSWERS
    + FOREIGN
    + NEW_TOPICS
    + EDGES_LAYERS
    + EDGES_MODELS
    + EDGES_FOUNDATIONS
    + EVALUATION
    + REASONING
    + INSIDE
    + BY_HAND
    + WITHOUT_END
    + SIZES
    + CLASSES
    + STRANGE
    + HANDED_OVER
)
