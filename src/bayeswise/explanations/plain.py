"""An account as data that needs no package: dictionaries and lists, for JSON and for dataframes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeswise.render.labels import shown
from bayeswise.render.plain import json_number, json_value

if TYPE_CHECKING:
    from bayeswise.explanations.account import Account
    from bayeswise.explanations.balance import Balance


def account_dict(account: Account) -> dict[str, Any]:
    """States, prior, contributions, posterior, and the weights of the answer against its strongest rival."""
    return {
        "title": account.title,
        "convention": account.convention,
        "states": [json_value(state) for state in account.states],
        "log_prior": _numbers(account.log_prior),
        "contributions": [
            {
                "column": c.column,
                "value": json_value(c.value),
                "log_likelihood": _numbers(c.log_likelihood),
                "note": c.note,
            }
            for c in account.contributions
        ],
        "log_joint": _numbers(account.log_joint),
        "posterior": _numbers(account.posterior),
        "most_probable": json_value(account.most_probable),
        "balance": balance_dict(account.weigh()) if len(account.states) > 1 else None,
    }


def balance_dict(balance: Balance) -> dict[str, Any]:
    """The weights of one comparison."""
    return {
        "state": json_value(balance.state),
        "against": json_value(balance.against),
        "log_prior_odds": json_number(balance.log_prior_odds),
        "weights": [
            {
                "column": weight.column,
                "value": json_value(weight.value),
                "log_ratio": json_number(weight.log_ratio),
            }
            for weight in balance.weights
        ],
        "log_odds": json_number(balance.log_odds),
    }


def account_columns(account: Account) -> dict[str, list[Any]]:
    """One line for the prior, one for each column, one for the joint; values are text, as kinds differ."""
    lines = [account.log_prior, *(c.log_likelihood for c in account.contributions), account.log_joint]
    return {
        "column": ["(prior)", *account.columns, "(joint)"],
        "value": ["", *(shown(c.value) for c in account.contributions), ""],
        **{name: [float(line[k]) for line in lines] for k, name in enumerate(_state_columns(account))},
        "note": ["", *(c.note for c in account.contributions), ""],
    }


def _state_columns(account: Account) -> list[str]:
    names = [f"log_{state}" for state in account.states]
    return names if len(set(names)) == len(names) else [f"log_{state!r}" for state in account.states]


def _numbers(array: Any) -> list[float | str]:
    return [json_number(float(number)) for number in array]
