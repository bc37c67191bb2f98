"""Widgets: figures the reader can take hold of, alive with or without Python running."""

from typing import TYPE_CHECKING

from primer.lazy import lazily

if TYPE_CHECKING:
    from primer.widgets.alias_by_ear import AliasByEar
    from primer.widgets.alignment import Alignment
    from primer.widgets.anatomy import Anatomy
    from primer.widgets.attention_by_hand import AttentionByHand
    from primer.widgets.attention_maps import AttentionMaps
    from primer.widgets.be_the_rater import BeTheRater
    from primer.widgets.bpe_stepper import BytePairStepper
    from primer.widgets.curve_memory import CurveMemory
    from primer.widgets.decoding import Decoding
    from primer.widgets.draw_again import DrawAgain
    from primer.widgets.drive_the_gates import DriveTheGates
    from primer.widgets.each_direction import EachDirection
    from primer.widgets.eigenvalues_in_hand import EigenvaluesInHand
    from primer.widgets.emergence import Emergence
    from primer.widgets.erase_a_tone import EraseATone
    from primer.widgets.fill_the_cache import FillTheCache
    from primer.widgets.fold import Fold
    from primer.widgets.four_memories import FourMemories
    from primer.widgets.group_weights import GroupWeights
    from primer.widgets.jacobians import JacobianProduct
    from primer.widgets.layer_by_layer import LayerByLayer
    from primer.widgets.learn_line import LearnLine
    from primer.widgets.least_squares import LeastSquaresByHand
    from primer.widgets.lora_dial import LoraDial
    from primer.widgets.masking_desk import MaskingDesk
    from primer.widgets.memory_matrix import MemoryMatrix
    from primer.widgets.moved_vector import MovedVector
    from primer.widgets.norm_ball import NormBall
    from primer.widgets.pair_table import PairTable
    from primer.widgets.power import PowerExplorer
    from primer.widgets.press_the_keys import PressTheKeys
    from primer.widgets.rate_schedule import RateSchedule
    from primer.widgets.remembering import Remembering
    from primer.widgets.rope import RopeRotation
    from primer.widgets.sampling import SamplingLaboratory
    from primer.widgets.score_options import ScoreOptions
    from primer.widgets.shannon_game import ShannonGame
    from primer.widgets.sixteen_numbers import SixteenNumbers
    from primer.widgets.sliding_kernel import SlidingKernel
    from primer.widgets.small_network import SmallNetwork
    from primer.widgets.spectrogram import SpectrogramExplorer
    from primer.widgets.spend_compute import SpendCompute
    from primer.widgets.step_size import StepSize
    from primer.widgets.swap_one import SwapOne
    from primer.widgets.tape import Tape
    from primer.widgets.tilt import Tilt
    from primer.widgets.too_many import TooManyParameters
    from primer.widgets.toss_by_toss import TossByToss
    from primer.widgets.touch_the_corner import TouchTheCorner
    from primer.widgets.two_in_one import TwoInOne
    from primer.widgets.what_comes_next import WhatComesNext
    from primer.widgets.whose_chance import WhoseChance
    from primer.widgets.winding_machine import WindingMachine

__all__ = [
    "AliasByEar",
    "Alignment",
    "Anatomy",
    "AttentionByHand",
    "AttentionMaps",
    "BeTheRater",
    "BytePairStepper",
    "CurveMemory",
    "Decoding",
    "DrawAgain",
    "DriveTheGates",
    "EachDirection",
    "EigenvaluesInHand",
    "Emergence",
    "EraseATone",
    "FillTheCache",
    "Fold",
    "FourMemories",
    "GroupWeights",
    "JacobianProduct",
    "LayerByLayer",
    "LearnLine",
    "LeastSquaresByHand",
    "LoraDial",
    "MaskingDesk",
    "MemoryMatrix",
    "MovedVector",
    "NormBall",
    "PairTable",
    "PowerExplorer",
    "PressTheKeys",
    "RateSchedule",
    "Remembering",
    "RopeRotation",
    "SamplingLaboratory",
    "ScoreOptions",
    "ShannonGame",
    "SixteenNumbers",
    "SlidingKernel",
    "SmallNetwork",
    "SpectrogramExplorer",
    "SpendCompute",
    "StepSize",
    "SwapOne",
    "Tape",
    "Tilt",
    "TooManyParameters",
    "TossByToss",
    "TouchTheCorner",
    "TwoInOne",
    "WhatComesNext",
    "WhoseChance",
    "WindingMachine",
]

__getattr__, __dir__ = lazily(__name__)
