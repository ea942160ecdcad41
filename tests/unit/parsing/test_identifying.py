"""Which signatures may serve as exact keys."""

from __future__ import annotations

from mem.parsing import extract, identifying

RESOLVER = """\
ERROR: Cannot install gridlib==3.1.0 and chartkit==1.4.0 because these package versions have conflicting dependencies.

The conflict is caused by:
    gridlib 3.1.0 depends on corelib>=2
    chartkit 1.4.0 depends on corelib<2

To fix this you could try to:
1. loosen the range of package versions you've specified
2. remove package versions to allow pip to attempt to solve the dependency conflict

ERROR: ResolutionImpossible: for help visit https://pip.example.test/topics/dependency-resolution
"""
OTHER = RESOLVER.replace("gridlib", "axes").replace("chartkit", "maps").replace("corelib", "rootlib")


def test_two_conflicts_of_one_resolver_share_no_exact_key() -> None:
    """What the resolver says about every conflict makes no two of them the same failure."""
    one = {signature.sig_sha for signature in identifying(extract(RESOLVER))}
    other = {signature.sig_sha for signature in identifying(extract(OTHER))}
    assert one
    assert other
    assert one.isdisjoint(other)


def test_wording_without_a_tools_grammar_is_a_key_where_it_leads() -> None:
    """A failure that no rule knows still gets the one key that the log has."""
    found = extract("starting shuttle\nshuttle broke: the warp coil reported an unexpected phase error\n")
    assert [signature.tool for signature in found] == ["generic"]
    assert identifying(found) == found


def test_advice_and_the_runtimes_version_identify_nothing() -> None:
    """Lines that follow any failure of a tool are not taken for one."""
    assert extract("For more information about this error, try `rustc --explain E0308`.\n\nNode.js v20.20.2\n") == []
