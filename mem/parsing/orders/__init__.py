"""Texts that give orders to whoever reads them."""

from __future__ import annotations

from mem.parsing.orders.given import about_orders, any_order, given, order_rules, plain_orders

__all__ = ["about_orders", "any_order", "given", "order_rules", "plain_orders"]
