"""HTML pages as sections: main content alone, with the anchors that the page has."""

from __future__ import annotations

import pytest

from mem.parsing.documents import UnreadableError, document_sections

PAGE = """\
<!doctype html><html><head><title>Site</title><style>p { color: red }</style></head><body>
<header>banner</header><nav><a href="/">home</a></nav>
<div role="main">
<section id="install"><h1>Install<a class="headerlink" href="#install">¶</a></h1>
<p>Text &amp; <code>code</code> of <a href="x">a
link</a>.<br>Next line&nbsp;here.</p>
<ul><li>one<ul><li>nested</li></ul></li><li><p>two</p><div class="highlight-sh"><pre><span>$</span> make
  test &lt;x&gt;
</pre></div></li></ul>
</section>
<a name="old"></a><h2>Old anchor</h2>
<table><caption>Codes</caption><tr><th>code</th><th>means</th></tr><tr><td>1</td><td><p>no</p><p>never</p></td></tr></table>
<dl><dt id="f">f(x)</dt><dd><p>Does.</p><p>More.</p></dd><dt>g</dt><dt>h</dt><dd>Both.</dd></dl>
<ol><li>first</li><li>second</li></ol>
<h3 id="sharp"><a class="anchor" aria-hidden="true" href="#sharp">#</a>C#</h3>
<p>Sharp.</p><script>alert("no")</script><p hidden>hidden</p><noscript>turn it on</noscript>
<div><h2><span class="mw-headline" id="Wiki">Wiki</span></h2>wiki text</div>
<h2>No anchor</h2><p>plain</p>
<table><tr><td class="linenos"><pre>1
2</pre></td><td class="code"><pre><code class="language-rust">fn main() {}
```
</code></pre></td></tr></table>
</div><aside>see also</aside><footer>imprint</footer></body></html>"""


def outline(text: str) -> list[tuple[str, str, list[str]]]:
    """Each section as path, anchor and blocks."""
    found = document_sections(text, "html")
    return [(" > ".join(one.headings), one.anchor, [block.whole() for block in one.blocks]) for one in found]


def test_a_page_is_taken_apart_by_its_headings():
    """No navigation, script or hidden text; code to the letter; the id of a heading or of its section as anchor."""
    assert outline(PAGE) == [
        (
            "Install",
            "install",
            ["Text & `code` of a link.\nNext line here.", "- one\n  - nested\n- two", "```sh\n$ make\n  test <x>\n```"],
        ),
        (
            "Install > Old anchor",
            "old",
            [
                "Codes\ncode | means\n1 | no never",
                "f(x)\nDoes.\nMore.",
                "g\nh\nBoth.",
                "1. first\n2. second",
            ],
        ),
        ("Install > Old anchor > C#", "sharp", ["Sharp."]),
        ("Install > Wiki", "Wiki", ["wiki text"]),
        ("Install > No anchor", "", ["plain", "````rust\nfn main() {}\n```\n````"]),
    ]


def test_a_page_without_headings_is_named_by_its_title():
    """The title stands above all, where no first heading does."""
    assert outline("<title>A &lt;page&gt;</title><p>text<h2 id=x>Sub</h2>more") == [
        ("A <page>", "", ["text"]),
        ("A <page> > Sub", "x", ["more"]),
    ]


@pytest.mark.parametrize(
    ("page", "kept"),
    [
        ("<body><nav>no</nav><main><article>yes</article><aside>note</aside></main>no", ["yes"]),
        ("<body>no<main><p>yes</p><aside>note</aside></main>no", ["yes", "note"]),
        ("<body><article><header><p>yes</p></header></article><p>no</p>", ["yes"]),
        ("<body><header>no</header><article>a</article><article>b</article>", ["a", "b"]),
        ("<body><main></main><p>yes</p>", ["yes"]),
        ("<table><tr><td><h1>T</h1><p>laid out<td>by table</table>", ["laid out", "by table"]),
        ("<p>unclosed <b>tags<p>two</div></span>", ["unclosed tags", "two"]),
        ("plain", ["plain"]),
        ("", []),
    ],
)
def test_the_main_content_is_found(page, kept):
    """Where a page marks it, and otherwise all that is none of the frame around it."""
    assert [block for *_, blocks in outline(page) for block in blocks] == kept


def test_depth_costs_no_stack():
    """A page may nest far deeper than Python calls."""
    assert outline("<div>" * 2000 + "deep" + "</div>" * 2000) == [("", "", ["deep"])]


def test_a_page_nested_without_end_is_refused():
    """The parser's time grows with the square of the depth; elements that end by themselves do not count."""
    with pytest.raises(UnreadableError, match="nests too deep"):
        outline("<div>" * 6000 + "deep" + "</div>" * 6000)
    assert outline("<p>one<br>" * 10_000)


def test_an_anchor_inside_of_text_is_not_of_the_next_heading():
    """An empty element names what follows it, and no more."""
    (_, first), (_, second) = [(path, anchor) for path, anchor, _ in outline('<h1>A</h1><a id="x"></a><p>t<h2>B</h2>t')]
    assert (first, second) == ("", "")
