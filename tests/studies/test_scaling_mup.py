"""The sweep with one rate for all widths: how its models begin, move and are read."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from studies.scaling import mup
from studies.scaling.mup import ByWidth, settings, study
from studies.scaling.sweep import FAMILY, TUNED_AT


@pytest.mark.parametrize("size", ["16x2", "64x2"])
def test_the_last_gain_divides_as_the_logits_were_divided(size: str) -> None:
    torch.manual_seed(0)
    model = ByWidth(size, "mup")
    tokens = torch.arange(12)[None]
    with torch.no_grad():
        divided = model(tokens)
        assert torch.allclose(model.for_use()(tokens), divided, atol=1e-5)


def test_matrices_begin_by_what_they_read_and_the_small_start_does_not() -> None:
    torch.manual_seed(0)
    for way, query, output in (("mup", 64**-0.5, 64**-0.5 / 2), ("small start", 0.02, 0.01)):
        attention = ByWidth("64x2", way).inside.blocks[0].attention
        assert float(attention.query.weight.detach().std()) == pytest.approx(query, rel=0.05)
        assert float(attention.output.weight.detach().std()) == pytest.approx(output, rel=0.05)


def test_every_parameter_has_one_rate() -> None:
    model = ByWidth("16x2", "mup")
    matrices, others = model.groups(0.08)
    assert (matrices["lr"], others["lr"]) == (0.16, 0.08)
    many = [weight for group in (matrices, others) for weight in group["params"]]
    assert {id(w) for w in many} == {id(w) for w in model.parameters()}
    assert len(many) == len({id(w) for w in many})
    linear = [m.weight for m in model.inside.blocks.modules() if isinstance(m, nn.Linear)]
    assert {id(w) for w in matrices["params"]} == {id(w) for w in linear}


def test_unknown_sizes_and_ways_are_refused() -> None:
    with pytest.raises(ValueError, match="size"):
        ByWidth("5x5", "mup")
    with pytest.raises(ValueError, match="way"):
        ByWidth("16x2", "large start")


def test_the_rate_of_all_is_the_best_at_the_width_that_chose_it() -> None:
    runs = study.read()
    found = {r.rate: r.nats for r in runs if r[:3] == ("mup", "16x2", TUNED_AT)}
    assert min(found, key=found.__getitem__) == mup.RATE
    assert len(runs) == len(settings(runs)) == 33
    assert all(len(mup.losses_of(runs, size)) == 3 for size in (*FAMILY, mup.FORETOLD))
