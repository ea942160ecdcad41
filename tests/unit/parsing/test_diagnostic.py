"""What a tool printed about a fault is taken apart into its message, what is said besides, and code."""

from __future__ import annotations

import pytest

from mem.parsing.diagnostic import read_fault
from mem.ports import Fault

BORROWED = """\
error[E9999]: the basket `b` was given away before it was counted
  --> src/shop.rs:7:11
   |
LL |     give(b);
   |          - basket given away here
LL |     count(b);
   |           ^ counted here after it was given away
   |
   = note: a basket belongs to one owner at a time
help: count it first

error: aborting due to 1 previous error

For more information about this error, try `rustc --explain E9999`.
"""
JAVA = """\
Shop.java:3: error: cannot find symbol
        basket.count();
              ^
  symbol:   method count()
  location: class Basket
1 error
"""
PYTHON = """\
Traceback (most recent call last):
  File "shop.py", line 9, in <module>
    sell(basket)
  File "shop.py", line 3, in sell
    return prices[basket]
KeyError: 'basket'
"""
MARKED = """\
shop.js:1:9
  \u00d7 Baskets are not counted twice.

  > 1 \u2502 count(count(basket))
      \u2502       ^^^^^^^^^^^^^

  i Keep the first count in a variable.
"""
HASKELL = """\
Shop.hs:3:8: error: [GHC-00000]
    Variable not in scope: basket
  |
3 | main = basket
  |        ^^^^^^
"""


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            BORROWED,
            Fault(
                "the basket `b` was given away before it was counted",
                "E9999\na basket belongs to one owner at a time\ncount it first\nbasket given away here\n"
                "counted here after it was given away",
                "    give(b);\n    count(b);",
            ),
        ),
        (
            JAVA,
            Fault("cannot find symbol", "symbol:   method count()\nlocation: class Basket", "        basket.count();"),
        ),
        (PYTHON, Fault("KeyError: 'basket'", "", "    sell(basket)\n    return prices[basket]")),
        (
            MARKED,
            Fault("Baskets are not counted twice.", "Keep the first count in a variable.", "count(count(basket))"),
        ),
        (HASKELL, Fault("Variable not in scope: basket", "GHC-00000", "main = basket")),
    ],
)
def test_output_is_taken_apart(text, fault):
    """Headline, notes with the labels beside marks, and code are told apart, whichever tool printed them."""
    assert read_fault(text) == fault


@pytest.mark.parametrize(
    ("line", "headline"),
    [
        ("error: nothing to count", "nothing to count"),
        ("shop.c:3:5: warning: unused variable 'basket'", "unused variable 'basket'"),
        ("./shop.go:7:2: undefined: basket", "undefined: basket"),
        ("  3:5  error  'basket' is never used", "'basket' is never used"),
        ("ld: error: undefined symbol: basket", "undefined symbol: basket"),
        ("PHP Fatal error:  Uncaught Error: no basket", "Uncaught Error: no basket"),
    ],
)
def test_what_messages_begin_with_is_left_out(line, headline):
    """Places and severities stand before every message and say nothing about this one."""
    assert read_fault(line) == Fault(headline)


@pytest.mark.parametrize(
    ("line", "headline", "code"),
    [
        ("error[E9999]: nothing to count", "nothing to count", "E9999"),
        ("shopctl: error E1001: no basket 'x'", "no basket 'x'", "E1001"),
        ("Shop.cs(5,13): error CS0000: The name 'basket' is not known", "The name 'basket' is not known", "CS0000"),
        ("shop.py:3:80: E501 the line is too long", "the line is too long", "E501"),
        ("Shop.java:3: warning: [unchecked] unchecked call", "unchecked call", "unchecked"),
        ("Shop.hs:3:8: error: [GHC-00000]\n    no basket here", "no basket here", "GHC-00000"),
    ],
)
def test_the_code_of_a_message_is_said_besides(line, headline, code):
    """Documentation is kept by codes; they are no words of the message."""
    assert read_fault(line) == Fault(headline, code)


def test_the_codes_of_other_messages_are_left_out():
    """They lead to the pages of other faults."""
    fault = read_fault("warning[W0001]: a basket is empty\nerror[E9999]: a basket is missing")
    assert fault == Fault("a basket is missing", "E9999\na basket is empty")


def test_the_first_error_leads_warnings_before_it():
    """A warning that comes first is said besides."""
    fault = read_fault("warning: a basket is empty\nerror: a basket is missing")
    assert fault == Fault("a basket is missing", "a basket is empty")


@pytest.mark.parametrize(
    "text",
    ["How are baskets counted?", "The release notes say that error handling was changed:\ncount baskets first.", ""],
)
def test_prose_is_no_output(text):
    """What somebody asks in words has no message to take out."""
    assert read_fault(text) is None
