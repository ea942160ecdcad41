"""Texts that give orders to whoever reads them: kept out of the store, or out of a prompt."""

from __future__ import annotations

from mem.parsing.orders.given import about_orders, any_order, given, order_rules, plain_orders
from mem.parsing.orders.shown import Treatment, prepare_orders, treatment, without_tokens

__all__ = [
    "Treatment",
    "about_orders",
    "any_order",
    "given",
    "order_rules",
    "plain_orders",
    "prepare_orders",
    "treatment",
    "without_tokens",
]
