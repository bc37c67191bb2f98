"""Lines and planes through data: least squares, its errors, its assumptions, and its penalties.

The chapter *Regression* teaches this module; each function stands there beside its formula.
Observations are rows: a table ``X`` has shape (n, p) and the model is y = Xβ + ε.
"""

from primer.regression.diagnostics import (
    breusch_pagan,
    cooks_distance,
    leave_one_out_residuals,
    leverage,
    standardized_residuals,
    studentized_residuals,
    variance_inflation,
)
from primer.regression.examples import anscombe_quartet
from primer.regression.gaussian import (
    Gaussian,
    condition,
    decorrelating_matrix,
    ridge_joint,
    ridge_log_posterior,
    ridge_posterior,
)
from primer.regression.inference import (
    Coefficients,
    FTest,
    Prediction,
    coefficient_tests,
    f_test,
    predict,
)
from primer.regression.least_squares_fit import Fit, ols, partial_out
from primer.regression.noise import (
    dropout_matrix,
    dropout_regression,
    expected_loss_with_dropout,
    expected_loss_with_noise,
)
from primer.regression.projection import (
    Line,
    add_intercept,
    hat_matrix,
    least_squares,
    mean_squared_error_gradient,
    normal_equations,
    project,
    simple_regression,
)
from primer.regression.qr import householder_qr
from primer.regression.robust import newey_west_covariance, robust_covariance, sandwich
from primer.regression.shrinkage import (
    filter_factors,
    ridge,
    ridge_dual,
    ridge_path,
    ridge_risk,
    tikhonov,
)
from primer.regression.sparsity import lasso, lasso_largest_penalty, lasso_path, soft_threshold
from primer.regression.validation import (
    Linear,
    choose_penalty,
    cross_validated_errors,
    fit_standardized,
    fit_with_chosen_penalty,
    k_folds,
)
from primer.regression.variation import (
    SumsOfSquares,
    adjusted_r_squared,
    r_squared,
    sums_of_squares,
)

__all__ = [
    "Coefficients",
    "FTest",
    "Fit",
    "Gaussian",
    "Line",
    "Linear",
    "Prediction",
    "SumsOfSquares",
    "add_intercept",
    "adjusted_r_squared",
    "anscombe_quartet",
    "breusch_pagan",
    "choose_penalty",
    "coefficient_tests",
    "condition",
    "cooks_distance",
    "cross_validated_errors",
    "decorrelating_matrix",
    "dropout_matrix",
    "dropout_regression",
    "expected_loss_with_dropout",
    "expected_loss_with_noise",
    "f_test",
    "filter_factors",
    "fit_standardized",
    "fit_with_chosen_penalty",
    "hat_matrix",
    "householder_qr",
    "k_folds",
    "lasso",
    "lasso_largest_penalty",
    "lasso_path",
    "least_squares",
    "leave_one_out_residuals",
    "leverage",
    "mean_squared_error_gradient",
    "newey_west_covariance",
    "normal_equations",
    "ols",
    "partial_out",
    "predict",
    "project",
    "r_squared",
    "ridge",
    "ridge_dual",
    "ridge_joint",
    "ridge_log_posterior",
    "ridge_path",
    "ridge_posterior",
    "ridge_risk",
    "robust_covariance",
    "sandwich",
    "simple_regression",
    "soft_threshold",
    "standardized_residuals",
    "studentized_residuals",
    "sums_of_squares",
    "tikhonov",
    "variance_inflation",
]
