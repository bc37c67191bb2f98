"""Good calls of what no docstring calls directly: the probe makes one argument of each bad.

Each is run with the names of its topic, NumPy, torch and a small model; the files it names lie in
an empty folder.
"""

NAMES = """
import copy
import numpy as np
import torch
from torch import nn, tensor
from primer.language_models import BytePairEncoding
from primer.transformers import Transformer, TransformerConfig

def small(**settings):
    torch.manual_seed(0)
    sizes = {"vocab_size": 60, "n_layers": 1, "d_model": 8, "n_heads": 2, "context_length": 16}
    return TransformerConfig(**(sizes | settings))

def model(**settings):
    return Transformer(small(**settings))

def chance():
    return torch.Generator().manual_seed(0)

def replies():
    from primer.alignment import Replies
    tokens = tensor([[4, 54, 54], [5, 6, 54]])
    return Replies(tensor([[1, 2], [2, 3]]), tokens, tensor([[True, True, False], [True] * 3]))
"""

GOOD_CALLS = {
    "statistics": """
rng = np.random.default_rng(0)
Bernoulli().draw(0.5, 3, rng)
Bernoulli().density(tensor([0.0, 1.0]), 0.5)
Family.draw(Poisson(), 2.0, (2, 3), rng)
for family, x in (
    (Bernoulli(), 1.0), (Cauchy(), 0.5), (Exponential(), 0.5), (Laplace(), 0.5),
    (NormalMean(), 0.5), (Poisson(), 2.0), (Uniform(), 0.5),
):
    family.draw(0.75, (3,), rng)
    family.parameter(0.75)
    family.observations(np.array([x]))
    family.log_density(tensor([x]), tensor(0.75))
    if not isinstance(family, Uniform):
        family.information(0.75)
    family.estimate(np.array([x, x, 1.0]))
beta = Beta(2.0, 3.0)
beta.log_density([0.2, 0.5])
beta.mean()
grid = np.linspace(0, 1, 101)
posterior = grid_posterior(grid, np.zeros(101), -3 * grid)
posterior.central_interval(0.9)
posterior.quantile(0.5)
posterior.highest_density_set(0.9)
""",
    "networks": """
X = np.array([[1.0, 2.0], [0.0, 1.0], [2.0, -1.0]])
logistic_regression(X, [0, 1, 1], penalty=0.1).scores(X)
v = Variable(np.array([[1.0, -2.0]]))
v.apply(tanh)
v.mean(), v.relu(), v.sigmoid(), v.tanh()
""",
    "language_models": """
tokenizer = BytePairEncoding([(97, 98)])
tokenizer.decode([97, 256, 98])
tokenizer.save("pairs.json")
BytePairEncoding.load("pairs.json")
rng = np.random.default_rng(0)
for made in (AddK, KneserNey):
    ngrams = made.fit([[1, 2, 1, 2, 1, 1, 2]], vocab_size=3, order=2)
    ngrams.log2_probabilities([1, 2, 2])
    ngrams.probabilities(np.array([1, 4]))
    ngrams.sample(4, rng, [1])
window = WindowModel(5, 2, 3, 4)
text = [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]
rows = window_rows(text, 5, 2)
train_window_model(window, rows, 2, batch_size=4)
window_log_probabilities(window, text)
window(rows[:, :-1])
from scipy import sparse
spectral_vectors(sparse.csr_array(np.diag([3.0, 2.0, 1.0, 0.5])), 2)
""",
    "scaling": """
law = ChinchillaLaw(E=1.7, A=400.0, B=410.0, alpha=0.34, beta=0.28)
law.isoflop(1e20, [1e8, 1e9])
law.tokens_to_reach(2.5, 1e9)
law.optimum(1e20)
joint = JointLaw(8.8e13, 5.4e13, 0.076, 0.095)
joint.isoflop(1e20, [1e8, 1e9])
joint.optimum(1e20)
joint.tokens_to_reach(2.5, 1e9)
next_byte_model(2)
train_next_byte(2, 5000.0, 0.01)
""",
    "attention": """
layer = MultiHeadAttention(4, 2)
head_outputs(layer, torch.full((1, 2, 3, 3), 1 / 3), torch.ones(1, 3, 4))
layer(torch.ones(1, 3, 4), torch.ones(1, 2, 4), mask=torch.ones(3, 2, dtype=torch.bool))
""",
    "transformers": """
x = torch.randn(1, 3, 8, generator=chance())
Block(small())(x)
Block(small()).forward(x)
FeedForward(8, 16).forward(x)
SwiGLU(8, 16).forward(x)
PatchEmbedding(4, 2, 3, 8).forward(torch.ones(1, 3, 4, 4))
both = EncoderDecoder(small(positions="sinusoidal"))
source, target = tensor([[1, 2, 3]]), tensor([[4, 5]])
both.forward(source, target, tensor([3]))
both.decode(target, torch.ones(1, 3, 8), tensor([3]))
decoder = model()
cache = KeyValueCache(decoder.config)
decoder.forward(tensor([[1, 2, 3]]), cache=cache)
cache.truncate(2)
cache.reorder(tensor([0]))
""",
    "recurrent": """
for cell in (ElmanCell(3, 2), LSTMCell(3, 2), GRUCell(3, 2)):
    x = torch.ones(4, 3)
    state = cell.zero_state(4)
    cell.step(cell.project(x), state)
    cell.forward(x, state)
letters = RecurrentLanguageModel("abc\\n", "lstm", 4)
letters.bits_per_character("abcabcabcabc", 2, 3)
both = EncoderDecoder(5, 4)
both.loss(tensor([[1, 2, 3]]), tensor([[2, 1]]))
both(tensor([[1, 2, 3]]), tensor([[2, 1]]))
""",
    "beyond_attention": """
for memory in (AdditiveMemory(2, 2), DeltaMemory(2, 2), RidgeMemory(2, 2), SoftmaxMemory(1.0)):
    memory.write([1.0, 0.0], [0.5, 0.5])
    memory.read([1.0, 0.0])
LayerState().keep(2, state=torch.ones(2, 2))
""",
    "fine_tuning": """
tuned = add_lora(model(), 2)
layer = next(m for m in tuned.modules() if isinstance(m, LoRALinear))
layer.swap(torch.ones_like(layer.A), torch.ones_like(layer.B))
layer.merge()
layer.unmerge()
layer.forward(torch.ones(1, 3, 8))
load_lora_state(tuned, lora_state(tuned))
merge_lora(tuned)
MovementScores(model()).masks(0.5)
prune(model(), magnitude_masks(model(), 0.5))
quantized = quantize_layers(model(), block_size=8)
next(m for m in quantized.modules() if isinstance(m, QuantizedLinear)).dequantized()
dequantize_layers(quantized)
scaled = add_ia3(model(feed_forward="swiglu"))
next(m for m in scaled.modules() if isinstance(m, ScaledLinear)).fold()
fold_ia3(scaled)
tokens = torch.arange(200) % 60
fine_tune(model(), tokens, 0.01, 0, 2, batch_size=2, length=8)
loss_on(model(), tokens[:36].reshape(4, 9))
before, after = model(), model()
nn.init.normal_(after.blocks[0].attention.query.weight)
truncated_update(before, after, 1)
update_spectrum(before, after)
""",
    "pretraining": """
crf = LinearChainCRF(3)
crf.decode(torch.ones(4, 3))
""",
    "reasoning": """
calculator = Calculator()
prompts = calculator.prompts(np.array([[1, 4], [2, 7]]))
Cups().questions(tensor([2, 3]), chance())
Step(0, 0.5, 0.1, 2.0, 3.0, 4.0)
made = attempts(model(vocab_size=56, context_length=32), calculator, prompts, 2, chance())
entropies(torch.randn(2, 3, 60, generator=chance()), replies())
judged = check(calculator, made)
judged.shares()
list(train_on_verdicts(
    model(vocab_size=56, context_length=32), calculator, prompts,
    lambda made: torch.arange(float(len(made))), steps=1, questions=2, tries=2, generator=chance(),
))
""",
    "alignment": """
PolicyReport(0, 0.5, 0.1, 2.0, 3.0)
fit_scores([[0, 2, 1], [1, 0, 2], [1, 1, 0]]).intervals(1.96)
kl_divergence([0.5, 0.5], [0.25, 0.75], 2.0)
kl_divergence(tensor([0.5, 0.5]), tensor([0.25, 0.75]))
kl_loss(tensor([0.1, -0.2]), "k2")
reply_log_probs(model(), replies())
reply_loss(model(), replies())
list(train_on_pairs(
    model(), model(), replies(), replies(), steps=1, beta=0.1, learning_rate=0.01, batch_size=2,
    generator=chance(),
))
list(train_policy(
    model(), model(), lambda made: torch.arange(float(len(made))), tensor([[1, 2], [3, 4]]),
    end_token=54, steps=1, kl_weight=0.1, learning_rate=0.01, batch_size=2, length=3,
    generator=chance(),
))
tune(model(), replies(), steps=1, learning_rate=0.01, batch_size=2, generator=chance())
write_replies(model(), tensor([[1, 2], [3, 4]]), 3, 54, chance())
""",
    "train": """
from dataclasses import replace
passages = tensor([[1, 2, 3, 1, 2, 3, 1, 2], [4, 5, 4, 5, 6, 4, 5, 6]])
copy_scores(model(), passages)
repetition_gain(model(), passages)
named_scores(torch.full((1, 1, 2, 4, 4), 0.25), tensor([[1, 2, 1, 2]]))
settings = read_configuration(PLAYS_1)
settings.to_dict()
Process(0, 1, torch.device("cpu")).mean(tensor(2.0))
trained = model()
optimizer = make_optimizer(trained, weight_decay=0.1)
save_state("state.pt", trained, optimizer, Progress(0, []), settings, "hash")
load_state("state.pt", trained, optimizer, settings, "hash")
""",
}
