"""Training a language model: ``python -m primer.train lib/primer/train/plays-2.toml``.

One idea in each file: what a run is (``configuration``) and its ``phases``, the first weights
(``initialization``), batches of tokens (``data``) and of ``repetition``, the learning rate
(``schedule``), AdamW (``optimizer``), several processes (``processes``), the loss on unseen text
(``evaluation``), what ``heads`` do, the log (``log``), states to continue from (``checkpointing``),
and the loop that uses them all
(``loop``).  ``readable`` is that loop without its safety, in forty lines.
"""

from primer.train.checkpointing import Progress, load_state, save_state
from primer.train.configuration import (
    PLAYS_1,
    PLAYS_2,
    Configuration,
    DataSettings,
    TrainingSettings,
    read_configuration,
)
from primer.train.data import Batches, Corpus, read_corpus, token_stream
from primer.train.evaluation import HeldOutLoss, characters_of, held_out_loss, rounded
from primer.train.heads import (
    attention_of,
    copy_scores,
    cut_passages,
    named_scores,
    relative_entropies,
    repetition_gain,
)
from primer.train.initialization import initialize
from primer.train.log import LogLine, read_log, write_log
from primer.train.loop import train
from primer.train.optimizer import make_optimizer
from primer.train.phases import Phase
from primer.train.processes import Process, join_processes
from primer.train.readable import train_plainly
from primer.train.repetition import RepeatingBatches
from primer.train.schedule import learning_rate

__all__ = [
    "PLAYS_1",
    "PLAYS_2",
    "Batches",
    "Configuration",
    "Corpus",
    "DataSettings",
    "HeldOutLoss",
    "LogLine",
    "Phase",
    "Process",
    "Progress",
    "RepeatingBatches",
    "TrainingSettings",
    "attention_of",
    "characters_of",
    "copy_scores",
    "cut_passages",
    "held_out_loss",
    "initialize",
    "join_processes",
    "learning_rate",
    "load_state",
    "make_optimizer",
    "named_scores",
    "read_configuration",
    "read_corpus",
    "read_log",
    "relative_entropies",
    "repetition_gain",
    "rounded",
    "save_state",
    "token_stream",
    "train",
    "train_plainly",
    "write_log",
]
