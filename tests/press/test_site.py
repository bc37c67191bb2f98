"""The built site in a real browser: every page, over http and from disk, with the network cut off.

These tests look at ``_build/html``; ``make test`` builds it first.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import nbformat
import pytest
from axe import SHORTEN, WIDTHS, violations_on
from by_keyboard import answer_the_exercises, answer_the_questions, make_the_guesses
from looks import OF_EACH_TEMPLATE, PAGES, READ, looks
from playwright.sync_api import Browser, BrowserContext, Page, expect
from selectolax.lexbor import LexborHTMLParser
from thorough import WIDGETS_OF_ALL_KINDS, a_few
from widget_alone import answer_to_a_key, assert_fits, opened_alone
from widget_page import PATIENCE
from written import BESIDE, BOOK
from written import CHAPTERS as NAMES

from press.audit.form import AUDIT
from press.downloads.download import CELL as NEEDS_THE_BOOK
from press.registry import read_book
from press.site import SITE
from primer import widgets
from sphinx_widget_host.embed import file_stem

pytestmark = pytest.mark.browser

CHAPTERS = [f"chapters/{name}.html" for name in NAMES]
GUESSED = [*(f"chapters/{name}.html" for name in BESIDE), *CHAPTERS]
"""The pages on which a reader guesses."""
CLOSING = [f"chapters/{name}.html" for name in read_book(BOOK).closing]
"""The pages behind the chapters: a formula each, and the lines that run it."""
NOTEBOOKS = [name for name in PAGES if (BOOK / name).with_suffix(".ipynb").exists()]
FIRST_VISIT = 325_000
"""Bytes a first visit may take, compressed, besides figures and fonts."""

every_page = pytest.mark.parametrize("name", PAGES)


@pytest.fixture(scope="module")
def site() -> Path:
    """Give the folder of the built site."""
    if not (SITE / "index.html").exists():
        pytest.fail("the site is not built: run `make book`, then these tests")
    return SITE


@dataclass
class Visit:
    """What a page did while it was open."""

    page: Page
    outside: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    loaded: set[str] = field(default_factory=set)


def visit(context: BrowserContext, url: str, home: str) -> Visit:
    """Open a page; whatever it asks for outside ``home`` is written down, and no machine found."""
    seen = Visit(context.new_page())
    page = seen.page

    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((home, "data:", "blob:"))
            else seen.outside.append(request.url)
        ),
    )
    page.on(
        "console",
        lambda message: (
            seen.errors.append(message.text) if message.type in {"error", "warning"} else None
        ),
    )
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on(  # what the page's own navigation cuts short did not fail
        "requestfailed",
        lambda request: (
            None if request.failure == "net::ERR_ABORTED" else seen.missing.append(request.url)
        ),
    )
    page.on(
        "response",
        lambda reply: (
            seen.missing.append(reply.url) if reply.status >= 400 else seen.loaded.add(reply.url)
        ),
    )
    page.goto(url, wait_until="load")
    if page.locator('script[type="application/vnd.jupyter.widget-view+json"]').count():
        page.wait_for_selector("html[data-widgets=ready]", timeout=PATIENCE)
    return seen


def assert_quiet(seen: Visit) -> None:
    assert seen.outside == [], "the page asked another origin"
    assert seen.missing == []
    assert seen.errors == []
    assert seen.page.locator(".widget-unavailable").count() == 0


def compressed(site: Path, paths: set[str]) -> int:
    """Sum the compressed sizes of files that are neither figures nor fonts."""
    heavy = (".woff2", ".ttf", ".svg", ".png", ".jpg", ".gif", ".webp")
    files = [site / path for path in paths if not path.endswith(heavy)]
    return sum(len(gzip.compress(file.read_bytes(), 6)) for file in files)


CUT_RINGS = """() => {
  const stops = ":is(a, input, button, select, textarea, summary, [tabindex='0'])";
  const cut = [];
  const rings = new Map(); // what has the focus is drawn anew: one of a kind is asked
  const widthOf = (one) => {
    const kind = [one.tagName, one.type, one.getAttribute("class")].join(" ");
    if (rings.has(kind)) return rings.get(kind);
    one.focus({ preventScroll: true, focusVisible: true });
    if (document.activeElement !== one) return 0;
    const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(one);
    const wide = Number.parseFloat(outlineWidth) + Number.parseFloat(outlineOffset) - 0.5;
    rings.set(kind, outlineStyle === "none" ? 0 : wide);
    return rings.get(kind);
  };
  for (const one of document.querySelectorAll(`.primer-widget ${stops}`)) {
    const wide = one.checkVisibility() && widthOf(one);
    if (!wide) continue;
    const ring = one.getBoundingClientRect();
    for (let box = one.parentElement; !box.matches("article, body"); box = box.parentElement) {
      const { overflow } = getComputedStyle(box);
      const moves = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
      if (overflow === "visible" || moves) continue; // what scrolls comes to what has the focus
      const { left, top } = box.getBoundingClientRect();
      const [x, y] = [ring.left - left - box.clientLeft, ring.top - top - box.clientTop];
      const room = [x, y, box.clientWidth - x - ring.width, box.clientHeight - y - ring.height];
      if (Math.min(...room) < wide)
        cut.push(`${one.outerHTML.slice(0, 90)} in ${box.className}: ${room}`);
    }
  }
  document.activeElement.blur();
  return cut;
}"""

SEEN_AT_A_DESK = [name for name in PAGES if looks(name, "desk")]


@pytest.mark.parametrize("name", SEEN_AT_A_DESK)
def test_page_at_a_desk(chromium: Browser, site: Path, address: str, name: str) -> None:
    """One visit over http for all that is seen at a desk, axe-core's changes of look at its end."""
    context = chromium.new_context(viewport=WIDTHS["desk"], reduced_motion="reduce")
    seen = visit(context, f"{address}/{name}", address)
    assert_quiet(seen)
    assert_light(seen, site, address, name)
    if name in NOTEBOOKS:
        assert_notebook_can_be_downloaded(seen.page, name)
    if reading := looks(name, "desk"):
        answer_all(seen.page, name)
        assert violations_on(seen.page, reading) == []
    context.close()


def answer_all(page: Page, name: str) -> None:
    """Make the guesses of a page and answer its exercises; axe-core then reads the replies, too."""
    if name in GUESSED:
        page.evaluate(SHORTEN)  # after each key all that is on the page may be drawn anew
        make_the_guesses(page)
        answer_the_questions(page)
    if name in CHAPTERS:
        answer_the_exercises(page, Path(name).stem)


def assert_light(seen: Visit, site: Path, home: str, name: str) -> None:
    paths = {
        unquote(urlsplit(url.removeprefix(home)).path).lstrip("/")
        for url in seen.loaded
        if url.startswith(home)
    }
    weight = compressed(site, {path or "index.html" for path in paths})
    print(f"{name}: first visit {weight / 1000:.0f} kB compressed, {len(paths)} files")
    assert name in paths
    assert weight <= FIRST_VISIT


WIDE_FORMULAS = """async () => {
  await document.fonts.ready;
  return [...document.querySelectorAll(".formula")].filter((e) => e.scrollWidth > e.clientWidth + 1)
    .map((e) => e.querySelector("annotation").textContent);
}"""

CUT_CAPTIONS = """() => [...document.querySelectorAll("caption .caption-text")]
  .filter((text) => text.getBoundingClientRect().right > innerWidth)
  .map((text) => text.textContent)"""


@pytest.mark.parametrize("name", a_few(PAGES, READ))
def test_page_from_disk_on_a_telephone(chromium: Browser, site: Path, name: str) -> None:
    context = chromium.new_context(viewport=WIDTHS["telephone"], color_scheme="dark")
    seen = visit(context, (site / name).as_uri(), site.as_uri())
    assert_quiet(seen)
    assert seen.page.locator("main h1:not(.onlyprint h1)").count() == 1
    assert seen.page.title().strip()
    assert seen.page.evaluate("document.documentElement.dataset.theme") == "dark"
    wide = seen.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"the page is {wide} px wider than the telephone"
    assert seen.page.evaluate(CUT_CAPTIONS) == [], "the name of a table is cut"
    if "appendix/library" not in name:  # a docstring keeps its formula in one line, which scrolls
        assert not seen.page.evaluate(WIDE_FORMULAS)
    assert seen.page.evaluate(CUT_RINGS) == [], "the ring of what has the focus is cut"
    if name not in SEEN_AT_A_DESK:
        assert_light(seen, site, site.as_uri(), name)
    if name in GUESSED:
        assert_learner_first(seen.page, name)
    if reading := looks(name, "telephone"):
        assert violations_on(seen.page, reading) == []
    context.close()


STRANGERS = """() => {
  const inside = [...document.querySelectorAll(".primer-widget, .primer-widget *")];
  const own = inside.filter((e) => e.matches(".primer-widget")).flatMap((e) => [...e.classList]);
  const names = new Set(inside.flatMap((e) => [...e.classList]));
  const rules = (list) =>
    [...list].flatMap((rule) => (rule.cssRules?.length ? rules(rule.cssRules) : [rule]));
  const found = new Set();
  for (const sheet of document.styleSheets)
    for (const { selectorText } of rules(sheet.cssRules)) {
      const asked = selectorText?.match(/\\.[\\w-]+/g)?.map((name) => name.slice(1)) ?? [];
      if (asked.some((name) => own.includes(name))) continue;
      if (!asked.some((name) => names.has(name))) continue;
      for (const one of inside)
        if (one.matches(selectorText) && asked.some((name) => one.classList.contains(name)))
          found.add(`${selectorText}: ${one.tagName} ${one.getAttribute("class")}`);
    }
  return [...found];
}"""
"""Rules of the page, not of a widget, that ask for a class which a widget gave to a part of it."""


WITH_WIDGETS = ["index.html", *CHAPTERS]


@pytest.mark.parametrize("name", a_few(WITH_WIDGETS, {"index.html", CHAPTERS[4], CHAPTERS[5]}))
def test_the_page_has_no_styles_for_parts_of_a_widget(
    chromium: Browser, address: str, name: str
) -> None:
    """A class of a widget's own that the theme has, too, makes it look otherwise there."""
    context = chromium.new_context(viewport=WIDTHS["desk"])
    assert visit(context, f"{address}/{name}", address).page.evaluate(STRANGERS) == []
    context.close()


READABLE = [
    name
    for name in PAGES
    if (name in OF_EACH_TEMPLATE or Path(name).parent.name == "appendix") and name != "search.html"
]
"""Of each template one, and the appendix; searching needs a script, and the page says so."""


@pytest.mark.parametrize("name", a_few(READABLE, OF_EACH_TEMPLATE))
def test_page_without_javascript(chromium: Browser, address: str, name: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/{name}")
    assert page.locator("main h1:not(.onlyprint h1)").first.is_visible()
    assert page.locator("nav.bd-links a").first.is_visible()
    for picture in page.locator("noscript img").all():
        assert picture.is_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    beside = page.locator("nav.bd-links a").first.bounding_box()
    assert beside is not None
    assert 0 <= beside["x"] < 390, "on a telephone the list of chapters cannot be reached"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


@pytest.fixture(scope="module")
def documents(site: Path) -> dict[str, LexborHTMLParser]:
    """Parse every page once."""
    return {name: LexborHTMLParser((site / name).read_text("utf-8")) for name in PAGES}


def test_a_widget_has_a_picture_where_there_is_no_script(
    documents: dict[str, LexborHTMLParser],
) -> None:
    for name, page in documents.items():
        views = page.css('script[type="application/vnd.jupyter.widget-view+json"]')
        pictures = [
            image
            for place in page.css("noscript")
            for image in LexborHTMLParser(place.inner_html or "").css("img")
        ]
        assert len(pictures) == len(views), name
        for picture in pictures:
            assert len(picture.attributes.get("alt") or "") > 40, name


def test_every_widget_is_offered_for_other_pages(
    site: Path, documents: dict[str, LexborHTMLParser]
) -> None:
    files = set()
    for name, page in documents.items():
        views = page.css('script[type="application/vnd.jupyter.widget-view+json"]')
        links = [tag.attributes["href"] or "" for tag in page.css("details.widget-embed a")]
        assert len(links) == len(views), name
        files |= {site / urljoin(name, link) for link in links}
    book = read_book(BOOK)
    shown = [*book.first_page, *(name for chapter in book.written for name in chapter.widgets)]
    once = {re.sub(r"-\d+$", "", file.stem) for file in files}  # one is shown twice in a chapter
    assert once == {stem_of(name) for name in shown}


def stem_of(widget: str) -> str:
    """Return the name of the file in which a widget stands alone, without its ending."""
    return file_stem({"state": {"_anywidget_id": widget}})


@pytest.mark.parametrize("widget", a_few(widgets.__all__, WIDGETS_OF_ALL_KINDS))
def test_a_widget_is_alive_on_other_pages(chromium: Browser, site: Path, widget: str) -> None:
    for file in (site / "embed").rglob(f"{stem_of(widget)}.html"):  # of each page that shows it
        with opened_alone(chromium) as open_file:
            page = open_file(file, width=300)
            assert page.locator("[data-widget=ready]").count() == 1
            assert_fits(page)
            answer_to_a_key(page)
            assert_fits(page)


def test_links_lead_somewhere(site: Path, documents: dict[str, LexborHTMLParser]) -> None:
    anchors = {
        name: {tag.attributes["id"] for tag in page.css("[id]")} for name, page in documents.items()
    }
    dead = []
    for name, page in documents.items():
        for tag in page.css("a, link, script, img, source"):
            names = ("href", "src", "srcset")
            reference = next(
                (tag.attributes[one] for one in names if tag.attributes.get(one)), None
            )
            if not reference or urlsplit(reference).scheme or reference == "#":
                continue
            path, anchor = urldefrag(unquote(urljoin(name, reference)))
            path = path.split("?")[0]
            lost = anchor and path.endswith(".html") and anchor not in anchors.get(path, set())
            if not (site / path).exists() or lost:
                dead.append(f"{name}: {reference}")
    assert dead == []


def test_what_is_folded_is_folded_in_one_way(documents: dict[str, LexborHTMLParser]) -> None:
    """Both the builder and the theme bring folds of their own, which look otherwise."""
    for name, page in documents.items():
        assert page.css("details.hide, .toggle-hidden") == [], name


def test_every_image_is_described(documents: dict[str, LexborHTMLParser]) -> None:
    bare = [
        f"{name}: {image.attributes['src']}"
        for name, page in documents.items()
        for image in page.css("article img")
        if not (image.attributes.get("alt") or "").strip()
    ]
    assert bare == []


def test_no_page_names_another_origin_for_what_it_loads(
    documents: dict[str, LexborHTMLParser],
) -> None:
    for name, page in documents.items():
        tags = [tag.attributes for tag in page.css("script, img, link:not([rel=canonical])")]
        sources = [tag.get("src") or tag.get("href") for tag in tags]
        assert not [one for one in sources if one and urlsplit(one).netloc], name


TAUGHT = {
    "p-value": "Tests: deciding",
    "variance": "Expectation, variance",
    "why divide by sqrt d": "Why the scores are scaled",
    "positional encoding": "A vector for each position",
    "rope": "RoPE: rotate",
    "kv cache": "The key-value cache",
    "temperature": "Temperature: reshape",
    "cramer rao": "How good can an estimator be?",
    "confidence interval": "Credible and confidence",
    "perplexity": "Perplexity",
}
"""What readers type, and the section that teaches it."""
TAUGHT_TOO = {
    "test-time compute": "Choosing without learning",
    "test time scaling": "Choosing without learning",
    "diffusion language models": "The twin learns to write",
    "text diffusion": "The twin learns to write",
    "µP": "Maximal update",
    "μP": "Maximal update",
    "dedup": "From a crawl to a corpus",
    "data mixing": "What to mix",
    "fp8": "Unit scale",
    "paged attention": "Pages, prefixes",
    "prompt caching": "Pages, prefixes",
    "continuous batching": "Pages, prefixes",
    "softmax": "A network instead of a table",
    "attention mask": "Masks done right",
    "layer norm": "Norms",
    "residual connection": "The residual stream",
    "beam search": "Beam search",
    "top-p": "Cutting the tail",
    "speculative decoding": "Guessing ahead",
    "alibi": "ALiBi: a price",
    "context length": "Longer than trained",
    "extrapolation": "Six encodings",
    "aliasing": "Sampling: what the samples",
    "nyquist": "Sampling: what the samples",
    "fft": "The fast Fourier transform",
    "hann window": "Leakage, and windows",
    "spectrogram": "The spectrogram",
    "uncertainty principle": "The uncertainty principle",
    "sampling": "Sampling: what the samples",
    "central limit theorem": "What means do",
    "maximum likelihood": "Maximum likelihood",
    "t-test": "Student’s t",
    "adam": "Adam: a step size",
    "learning rate": "One weight: the step limit",
    "gradient descent": "One weight: the step limit",
    "overfitting": "A number that cannot fall",
    "ridge": "Ridge: a penalty",
    "bpe": "Byte-pair encoding",
    "backpropagation": "The chain rule, backward",
    "lora": "LoRA: only r directions",
    "rlhf": "The three stages",
    "l2 regularisation": "Ridge: a penalty",
    "regularization": "Ridge: a penalty",
    "gqa": "Fewer keys than queries",
    "mle": "Maximum likelihood",
    "rotary embeddings": "RoPE: rotate",
    "compute optimal": "The bottom of the valley",
    "transformer": "9 Transformers",
    "kl divergence": "How low can the score go",
    "heteroscedasticity": "Equal variances",
    "word2vec": "Vectors for words",
    "exploding gradients": "A product of many matrices",
    "latency": "What a cache costs",
    "p-value": "Tests: deciding",
    "bootstrap": "Transformers of our own",
    "bayes factor": "Comparing hypotheses",
    "multicollinearity": "Collinearity",
    "cross validation": "An honest comparison",
    "adam optimizer": "Adam: a step size",
    "sgd": "Noise that dies by itself",
    "weight decay": "Ridge: a penalty",
    "batch normalisation": "Normalize and drop",
    "vanishing gradients": "Why deep chains die",
    "double descent": "The second descent",
    "cross entropy": "How low can the score go",
    "kneser ney": "Never say never",
    "lstm": "Gates",
    "multi-head attention": "Several heads",
    "induction heads": "Two heads that learn",
    "feed forward": "The feed-forward network",
    "mixture of experts": "Mixture of experts",
    "quantisation": "Numbers with few bits",
    "peft": "Other small changes",
    "dpo": "Without a reward model",
    "ppo": "The three stages",
    "reward hacking": "A wish, granted",
    "mamba": "Choosing what to keep",
    "emergence": "Does it jump",
    "chinchilla": "Twenty tokens",
    "heteroskedastic": "Equal variances",
    "homoskedasticity": "Equal variances",
    "tokeniser": "Byte-pair",
    "tokenisation": "Byte-pair",
    "normalisation": "Norms",
    "softmx": "A network instead of a table",
    "atention": "Scaled dot-product",
    "backprop": "The chain rule, backward",
    "back propagation": "The chain rule, backward",
    "autograd": "The chain rule, backward",
    "warmup": "How the rate should end",
    "weight tying": "The whole model in equations",
    "beamsearch": "Beam search",
    "layernorm": "Norms",
    "batchnorm": "Normalize and drop",
    "int8": "Numbers with few bits",
    "elo": "Asking by comparing",
    "std error": "Expectation, variance",
    "pca": "Learning without labels",
    "mup": "Maximal update",
    "seq2seq": "One network reads",
    "bptt": "Learning through time",
    "mcmc": "Bayesian inference",
    "power analysis": "Power, and how many",
    "ntk scaling": "Longer than trained",
    "few-shot learning": "Learning without a step",
    "zero shot": "Learning without a step",
    "sft": "A model that continues does not answer",
    "reward over-optimisation": "How long a leash",
    "probing": "What did it learn",
    "window function": "Leakage, and windows",
    "kneser-nay": "Never say never",
    "soft max": "A network instead of a table",
    "mini batch": "Noise that dies",
    "auto encoder": "Learning without labels",
    "top k": "Cutting the tail",
    "nucleus sampling": "Cutting the tail",
    "flash attention": "a softmax in pieces",
    "cosine schedule": "How the rate should end",
    "positional encodings": "Sinusoidal positions",
    "multi head attention": "Several heads",
    "confidence intervals": "Credible and confidence",
    "learning rate decay": "How the rate should end",
    "memorisation": "What it knows by heart",
    "word embeddings": "Vectors for words",
    "R²": "How much is explained",
    "R2": "How much is explained",
    "r squared": "How much is explained",
    "CLT": "What means do",
    "batch size": "How the rate should end",
    "multiple choice": "How an option is scored",
    "CNN": "Sharing weights over space",
    "GNNs": "Sharing weights over a graph",
    "MSE": "Estimators, and what",
    "iid": "Independence: errors",
    "LLN": "What means do",
    "NLL": "Likelihood",
    "IRT": "How hard is a question",
    "CoT": "Why write steps",
    "CV": "An honest comparison",
    "epochs": "What if the text is read again",
    "backoff": "Never say never",
    "kaiming": "The right scale",
    "xavier initialisation": "The right scale",
    "regulariser": "Ridge: a penalty",
    "skip connections": "The residual stream",
    "activation function": "The kink",
    "decoder-only": "Three families",
    "false positive rate": "The two errors",
    "length generalisation": "Longer than trained",
    "polysemanticity": "More meanings than numbers",
    "transformer from scratch": "The whole model",
    "value function": "PPO whole",
    "verifier": "A question with an answer",
}
"""More of the same, asked without typing."""
ABSENT = {
    "bf16": "What a cache costs",
    "multiple testing": "Tests: deciding",
    "bonferroni": "Tests: deciding",
    "unicode": "Byte-pair encoding",
    "jailbreak": "15 Alignment",
    "constitutional AI": "15 Alignment",
    "hallucination": "What each does to held-out text",
    "repetition penalty": "Round in circles",
    "tokens per second": "What a cache costs",
    "context window": "Longer than trained",
    "anova": "Equal variances",
    "goodhart": "A wish, granted",
    "grokking": "The second descent",
    "gradient accumulation": "how large a batch",
    "data parallelism": "how large a batch",
    "Lipschitz": "the step limit",
    "MMLU": "How an option is scored",
    "k-means": "Learning without labels",
    "sycophancy": "A wish, granted",
    "behaviour cloning": "A model that continues does not answer",
    "tree of thoughts": "Choosing without learning",
}
"""What the book does not teach, and where it comes closest."""

from_everywhere = pytest.mark.parametrize("searching", ["http", "file"], indirect=True)
from_disk = pytest.mark.parametrize("searching", ["file"], indirect=True)


@pytest.fixture
def searching(
    chromium: Browser, site: Path, address: str, request: pytest.FixtureRequest
) -> Iterator[Visit]:
    """Open the landing page, over http or from disk."""
    home = address if request.param == "http" else site.as_uri()
    context = chromium.new_context(viewport=WIDTHS["desk"])
    yield visit(context, f"{home}/index.html", home)
    context.close()


@from_everywhere
def test_search_answers_as_a_reader_types(searching: Visit) -> None:
    page = searching.page
    page.keyboard.press("Control+k")
    first = page.locator("#pst-search-dialog .found li:nth-child(-n+3)")
    for query, heading in TAUGHT.items():
        page.locator("#pst-search-dialog input").fill(query)
        first.filter(has_text=heading).first.wait_for(timeout=PATIENCE)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/05-language-models.html#perplexity")
    assert_quiet(searching)


@from_disk
def test_search_has_a_page(searching: Visit) -> None:
    page = searching.page
    page.keyboard.press("Control+k")
    page.keyboard.type("Cramér")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=*")
    page.locator("#search-results a", has_text="How good can an").first.click(timeout=PATIENCE)
    page.wait_for_url("**/01-statistics.html#*")
    assert_quiet(searching)


@from_everywhere
def test_search_finds_where_a_term_is_defined(searching: Visit) -> None:
    missed, asked = searching.page.evaluate("""async () => {
      await bookSearch.find("rope");
      const sections = searchDocuments.filter(({ kind }) => kind === "section");
      const defined = sections.flatMap((one) => one.terms.map((term) => [term, one]));
      const missed = [];
      for (const [term, { page, id, heading }] of defined) {
        const { found } = await bookSearch.find(term);
        if (!found.slice(0, 3).some((one) => one.page === page && one.id === id))
          missed.push(`${term}: ${heading}`);
      }
      return [missed, defined.length];
    }""")
    print("not found:", *missed, sep="\n")
    assert asked > 200
    assert len(missed) <= asked / 10


@from_everywhere
def test_search_finds_the_section_that_teaches_it(searching: Visit) -> None:
    found = searching.page.evaluate(
        """async (queries) => Promise.all(queries.map(async (query) => {
          const { found } = await bookSearch.find(query);
          return found.slice(0, 3).map(({ kind, heading }) => `${kind}: ${heading}`);
        }))""",
        [*TAUGHT_TOO],
    )
    missed = [
        f"{query}: {first}"
        for (query, heading), first in zip(TAUGHT_TOO.items(), found, strict=True)
        if not any(one.startswith("section: ") and heading in one for one in first)
    ]
    assert missed == []


@from_disk
def test_search_says_what_is_not_in_the_book_and_what_is_near(searching: Visit) -> None:
    for query, heading in ABSENT.items():
        said = searching.page.evaluate("(query) => bookSearch.find(query)", query)
        assert said["told"].startswith(f"“{query}” is not in this book; nearest: "), query
        assert any(heading in one["heading"] for one in said["found"][:3]), query
    near = searching.page.evaluate("Object.keys(searchWords.near)")
    taught = searching.page.evaluate(
        "searchDocuments.filter(({ kind }) => kind !== 'function')"
        ".flatMap(({ heading, terms }) => [heading, ...terms])"
    )
    for name in near:  # what a chapter teaches meanwhile is absent no longer
        assert not [one for one in taught if re.search(rf"\b{name}\b", one, re.IGNORECASE)], name


@from_disk
def test_search_shows_the_library_last(searching: Visit) -> None:
    kinds = """async (query) => (await bookSearch.find(query)).found.map(({ kind }) => kind)"""
    asked = searching.page.evaluate(kinds, "rope")
    assert "function" in asked
    assert asked == sorted(asked, key=lambda kind: kind == "function")
    assert searching.page.evaluate(kinds, "rope_angles")[0] == "function"
    assert searching.page.evaluate(kinds, "perplexity")[0] == "section"  # a function's name, too
    titles = """async (query) => (await bookSearch.find(query)).found.map(({ page }) => page)"""
    for query, page in {
        "errata": "errata",
        "flash cards": "cards",
        "source map": "source-map",
    }.items():
        assert f"chapters/appendix/{page}" in searching.page.evaluate(titles, query)[:3], query


def test_search_shows_words_and_no_markup(site: Path) -> None:
    script = (site / "_static/search-documents.js").read_text("utf-8")
    documents = json.loads(script[script.index("[") : script.index(";\nwindow.searchWords")])
    marked = [
        f"{one['page']}, {one['heading']}: {found[0]}"
        for one in documents
        for found in re.finditer(
            r"\{\w+\}|\\[a-z]+|… …|\b(?:eq|thm|def|ex|fig)-[a-z]|[\ue000\ue001]|target name",
            f"{one['heading']} {one['text']}",
        )
    ]
    assert marked == []


def test_search_has_every_word_of_the_glossary(site: Path) -> None:
    script = (site / "_static/search-documents.js").read_text("utf-8")
    documents = json.loads(script[script.index("[") : script.index(";\nwindow.searchWords")])
    indexed = {one["id"]: one["text"] for one in documents if one["kind"] == "term"}
    page = LexborHTMLParser((site / "chapters/appendix/glossary.html").read_text("utf-8"))
    lost, compared = {}, 0
    for term in page.css("dl.glossary dt"):
        said = term.next
        while said is not None and said.tag != "dd":
            said = said.next
        if said is None or said.css_first(".math, .katex"):
            continue  # a formula is written otherwise
        shown, found = (
            " ".join(re.findall(r"\w+", text))
            for text in (re.split(r"\s→", said.text())[0], indexed[term.attributes["id"]])
        )
        compared += 1
        if shown != found:
            lost[term.attributes["id"]] = (shown, found)
    assert compared > 200
    assert lost == {}


@from_disk
def test_search_says_what_it_cannot_answer(searching: Visit) -> None:
    told = {
        query: searching.page.evaluate("(query) => bookSearch.find(query)", query)["told"]
        for query in ("", "the of", r"\frac{a}{b}", "xyzzy", "SVM", "MAML", "rope " * 1000)
    }
    assert told[""] == ""
    assert "on every page" in told["the of"]
    assert "Formulas are not searched" in told[r"\frac{a}{b}"]
    assert "Nothing found" in told["xyzzy"]
    assert "Nothing found" in told["SVM"]  # two letters of three are in many another word
    assert "Nothing found" in told["MAML"]
    assert "first 200 characters" in told["rope " * 1000]


@from_disk
def test_search_says_when_its_files_are_missing(searching: Visit) -> None:
    page = searching.page
    page.route("**/minisearch.js", lambda route: route.abort())
    page.reload()  # files of a page that is open already would come all the same
    page.keyboard.press("Control+k")
    page.keyboard.type("rope")
    page.get_by_text("The index could not be loaded").wait_for(timeout=PATIENCE)
    page.unroute("**/minisearch.js")
    page.keyboard.type("s")
    page.locator("#pst-search-dialog .found a").first.wait_for(timeout=PATIENCE)


FOCUSED = """() => {
  const look = (element) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    return [outlineStyle === "none" ? "0px" : outlineWidth, boxShadow];
  };
  const element = document.activeElement;
  const ring = element.querySelector(".toctree-toggle") ?? element; // an arrow of the sidebar
  const [outline, shadow] = look(ring);
  const name = `${element.tagName} ${element.className} ${element.textContent.trim().slice(0, 20)}`;
  const inside = element.closest("form.bd-search"); // which has the ring of its field
  element.blur();
  const seen = parseFloat(outline) >= 1 || shadow !== look(ring)[1] || inside !== null;
  element.focus({ focusVisible: true });
  return seen ? "" : name;
}"""


def test_what_has_the_focus_can_be_seen(chromium: Browser, address: str) -> None:
    context = chromium.new_context(viewport=WIDTHS["desk"], reduced_motion="reduce")
    page = visit(context, f"{address}/{GUESSED[0]}", address).page
    unseen = []
    for _ in range(90):  # all of the sidebar, the buttons above the text and its first links
        page.keyboard.press("Tab")
        unseen.append(page.evaluate(FOCUSED))
    assert [name for name in unseen if name] == []
    context.close()


STOP = """() => {
  const here = document.activeElement;
  const needless =
    here.matches(".popup a") || // where its own link leads, these links stand, too
    here.matches(".cell_output > .output > .highlight *") || // what code printed
    (here.matches("pre, div") &&
      here.scrollWidth <= here.clientWidth &&
      here.scrollHeight <= here.clientHeight);
  return [here.closest("article") !== null, needless, here.outerHTML.slice(0, 120)];
}"""


MOST_STOPS = 300


def test_the_tab_key_stops_only_where_something_can_be_done(
    chromium: Browser, address: str
) -> None:
    context = chromium.new_context(viewport=WIDTHS["desk"], reduced_motion="reduce")
    page = visit(context, f"{address}/chapters/13-scaling.html", address).page
    page.wait_for_function("() => document.documentElement.dataset.markedAt")
    page.evaluate("""() => {
      const title = document.querySelector("article h1");
      title.tabIndex = -1;
      title.focus();
    }""")
    stops = []
    for _ in range(MOST_STOPS + 1):
        page.keyboard.press("Tab")
        inside, needless, what = page.evaluate(STOP)
        if not inside:
            break
        assert not needless, what
        stops.append(what)
    print(f"chapter 13: {len(stops)} tab stops in the text")
    assert 100 < len(stops) <= MOST_STOPS, f"the text does not let go: {stops[-3:]}"
    context.close()


def test_theme_can_be_chosen_and_is_kept(chromium: Browser, address: str) -> None:
    context = chromium.new_context(viewport=WIDTHS["desk"], color_scheme="light")
    page = visit(context, f"{address}/index.html", address).page
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    button = page.locator(".theme-switch-button").first
    for _ in range(3):  # light, dark and as the system is take turns
        if page.evaluate("document.documentElement.dataset.mode") != "dark":
            button.click()
    expect(page.locator("html")).to_have_attribute("data-mode", "dark")
    dark = page.evaluate(paper)
    assert light != dark
    page.goto(f"{address}/chapters/appendix/notation.html")
    assert page.evaluate(paper) == dark
    context.close()


FORM = """() => {
  const article = document.querySelector(".bd-article");
  const height = (e) => e.getBoundingClientRect().height;
  // What a closed fold holds has a height, too, but is not to be seen.
  const seen = (boxes) => [...boxes].filter((e) => e.checkVisibility());
  const share = (boxes) => seen(boxes).map(height).reduce((a, b) => a + b, 0) / height(article);
  const outputs = [...article.querySelectorAll(".cell_output")];
  const shares = {
    code: share(article.querySelectorAll(".cell_input")),
    output: share(outputs.filter((e) => !e.querySelector("img, .widget-view"))),
  };
  const text = article.innerText;
  const closed = [...article.querySelectorAll("details:not([open])")];
  for (const fold of closed) fold.open = true;
  const wide = seen(article.querySelectorAll("pre, .highlight"))
    .filter((e) => height(e) > 0 && e.scrollWidth > e.clientWidth + 1)
    .map((e) => e.textContent.slice(0, 80));
  for (const fold of closed) fold.open = false;
  return { ...shares, text, wide };
}"""


def assert_learner_first(page: Page, name: str) -> None:
    page.set_viewport_size(WIDTHS["desk"])
    page.wait_for_function("() => document.documentElement.dataset.markedAt === '1400'")
    form = page.evaluate(FORM)
    print(f"{name}: code {form['code']:.1%}, output {form['output']:.1%} of the height")
    assert form["wide"] == [], "code boxes that scroll sideways"
    assert AUDIT.findall(form["text"]) == [], "names of rows or errata in sight"
    # a door of the closing page is a formula and the few lines that its check is asked of
    assert form["code"] < (0.27 if name in CLOSING else 0.2)
    assert form["output"] < 0.1


def test_the_choices_of_an_exercise_are_written_once(
    documents: dict[str, LexborHTMLParser],
) -> None:
    asked = 0
    for name in CHAPTERS:
        for form in documents[name].css("form.page-answer:has(fieldset)"):
            exercise = form.prev
            while exercise is not None and "exercise" not in (exercise.attributes or {}).get(
                "class", ""
            ):
                exercise = exercise.prev
            assert exercise is not None, name
            letters = [label.text() for label in form.css("label")]
            assert letters == [f"({letter})" for letter in "abcdef"[: len(letters)]], name
            assert all(letter in exercise.text() for letter in letters), name
            asked += 1
    assert asked >= len(CHAPTERS)


def test_a_row_of_the_source_map_opens_its_check(
    chromium: Browser, address: str, documents: dict[str, LexborHTMLParser]
) -> None:
    rows = documents["chapters/appendix/source-map.html"].css(".source-map .map-proved a")
    context = chromium.new_context(viewport=WIDTHS["desk"], reduced_motion="reduce")
    for row in random.Random(0).sample(rows, 2):
        link = row.attributes["href"] or ""
        page = visit(context, urljoin(f"{address}/chapters/appendix/", link), address).page
        check = page.locator(f"#{urldefrag(link)[1]}")
        check.locator("pre").first.wait_for(state="visible")
        assert "✓" in check.inner_text()
    context.close()


def assert_notebook_can_be_downloaded(page: Page, name: str) -> None:
    page.locator(
        "button[aria-label='Download this page'], .dropdown-download-buttons > button"
    ).first.click()
    with page.expect_download() as waiting:
        page.locator("a.btn-download-source-button").click()
    assert_is_the_notebook(waiting.value.path(), name)
    page.keyboard.press("Escape")


def assert_is_the_notebook(path: Path, name: str) -> None:
    """Compare what readers download with ours: it says what it needs, and else is the same."""
    notebook = nbformat.read(path, 4)
    ours = nbformat.read((BOOK / name).with_suffix(".ipynb"), 4)
    cells = [cell for cell in notebook.cells if cell["id"] != NEEDS_THE_BOOK]
    assert [cell["source"] for cell in cells] == [cell["source"] for cell in ours.cells]
    first = next(cell for cell in notebook.cells if cell["cell_type"] == "code")
    assert first["id"] == NEEDS_THE_BOOK


def test_every_notebook_is_offered_for_download(
    site: Path, documents: dict[str, LexborHTMLParser]
) -> None:
    for name in NOTEBOOKS:
        (link,) = documents[name].css("a.btn-download-source-button")
        assert_is_the_notebook(site / urljoin(name, link.attributes["href"] or ""), name)


def test_the_first_screen_holds_the_widget(chromium: Browser, address: str) -> None:
    context = chromium.new_context(viewport=WIDTHS["desk"], reduced_motion="reduce")
    page = visit(context, f"{address}/index.html", address).page
    box = page.locator(".widget-view").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= WIDTHS["desk"]["height"]
    context.close()


@pytest.mark.parametrize("look", WIDTHS)
def test_the_book_begins_with_something_to_press(
    chromium: Browser, address: str, look: str
) -> None:
    """The first button of chapter 1's first widget stands in the first screen."""
    context = chromium.new_context(viewport=WIDTHS[look], reduced_motion="reduce")
    page = visit(context, f"{address}/{CHAPTERS[0]}", address).page
    box = page.locator(".widget-view button").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= WIDTHS[look]["height"]
    context.close()


def test_map_links_what_is_written_and_only_that(documents: dict[str, LexborHTMLParser]) -> None:
    page = documents["index.html"]
    for drawing in page.css("svg.chapter-map"):
        linked = {a.attributes["href"] for a in drawing.css("a")}
        assert linked == set(CHAPTERS)
        assert len(drawing.css(".chapter")) == len(read_book(BOOK).chapters)
        assert len(drawing.css(".to-come")) == len(read_book(BOOK).chapters) - len(linked)
        times = {text.text() for text in drawing.css(".written .state")}
        assert times == {"1 h", "1¼ h", "1½ h", "2 h"}


def test_every_notebook_says_how_to_run_it(documents: dict[str, LexborHTMLParser]) -> None:
    kinds = dict.fromkeys(BESIDE, "page") | dict.fromkeys(NAMES, "chapter")
    for name, kind in kinds.items():
        box = documents[f"chapters/{name}.html"].css_first("details.run-it")
        assert box is not None, name
        assert f"Run this {kind}" in box.css_first("summary").text()
        assert f"chapters/{name}.ipynb" in box.text()


def test_a_page_holds_the_state_of_the_widgets_that_it_shows(
    documents: dict[str, LexborHTMLParser],
) -> None:
    kind, held = 'script[type="application/vnd.jupyter.widget-{}+json"]', 0
    for name, document in documents.items():
        shown = {json.loads(tag.text())["model_id"] for tag in document.css(kind.format("view"))}
        if shown:
            state = json.loads(document.css_first(kind.format("state")).text())["state"]
            assert set(state) == shown, name
            held += len(shown)
    assert held > 30


def test_what_scrolls_in_a_fold_is_reached_when_the_fold_opens(
    chromium: Browser, address: str
) -> None:
    context = chromium.new_context(viewport=WIDTHS["telephone"], reduced_motion="reduce")
    # letters that arrive would have all boxes measured again
    context.add_init_script("document.fonts.addEventListener = () => {}")
    page = visit(context, f"{address}/chapters/09-transformers.html", address).page
    page.wait_for_function("() => document.documentElement.dataset.markedAt")
    boxes = page.locator("details .highlight pre")
    reached = "(all) => all.map((box) => [box.scrollWidth > box.clientWidth, box.tabIndex === 0])"
    closed = boxes.evaluate_all(reached)
    assert not any(tab for _, tab in closed)
    page.evaluate(
        "() => document.querySelectorAll('details').forEach((fold) => (fold.open = true))"
    )
    page.wait_for_function("() => document.querySelector('details .highlight pre[tabindex]')")
    opened = boxes.evaluate_all(reached)
    assert sum(wide for wide, _ in opened) > 5
    assert all(wide == tab for wide, tab in opened)
    context.close()


LAID_OUT = """
window.requestIdleCallback = (call) => setTimeout(call); // the browser always has time
let now = 0;
performance.now = () => (now += STEP); // patience ends after so many questions, or never
new MutationObserver(() => {
  if (!("markedAt" in document.documentElement.dataset)) return;
  const inSight = (view) => view.getBoundingClientRect().top < innerHeight &&
    view.getBoundingClientRect().bottom > 0;
  window.atLayout ??= [...document.querySelectorAll(".widget-view")].filter(inSight)
    .map((view) => view.dataset.widget);
}).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-marked-at"] });
"""


@pytest.mark.parametrize(
    ("section", "step", "state"),
    [
        ("04-networks.html#a-network-to-watch", 0, "ready"),
        # its data are large and come when the reader gives a sign: not for ever is that waited for
        ("11-inference.html#the-whole-idea-in-one-picture", 300, "waiting"),
    ],
)
def test_a_widget_in_sight_goes_before_the_layout_of_the_whole_page(
    chromium: Browser, address: str, section: str, step: int, state: str
) -> None:
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    context.add_init_script(LAID_OUT.replace("STEP", str(step)))
    context.add_init_script("addEventListener('scroll', (e) => e.stopImmediatePropagation(), true)")
    page = visit(context, f"{address}/chapters/{section}", address).page
    page.wait_for_function("() => 'atLayout' in window")
    assert page.evaluate("atLayout") == [state]
    context.close()


def test_a_link_to_a_section_of_a_long_chapter_leads_there(chromium: Browser, address: str) -> None:
    context = chromium.new_context(viewport=WIDTHS["desk"], reduced_motion="reduce")
    page = visit(context, f"{address}/chapters/16-fourier.html#exercises", address).page
    page.wait_for_function("() => document.documentElement.dataset.markedAt")
    where = "document.querySelector('#exercises').getBoundingClientRect().top"
    assert 0 <= page.evaluate(where) < 200
    context.close()


AT_REST = """async () => {
  const top = () => document.querySelector("#summary").getBoundingClientRect().top;
  const frame = () => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
  for (let last = NaN; last !== top(); ) {
    last = top();
    await frame();
  }
}"""


def test_the_page_does_not_jump_when_it_is_complete(chromium: Browser, address: str) -> None:
    context = chromium.new_context(viewport=WIDTHS["desk"], reduced_motion="reduce")
    context.add_init_script(
        "window.waiting = []; window.requestIdleCallback = (call) => waiting.push(call);"
    )
    page = context.new_page()
    page.goto(f"{address}/chapters/16-fourier.html", wait_until="load")
    page.locator("#summary").scroll_into_view_if_needed()
    page.wait_for_function(
        "() => document.documentElement.matches('.arriving') && waiting.length > 0"
    )
    # What comes near the view is laid out in the frames after the scrolling, and on a slow machine
    # late; the browser holds the view meanwhile. What is asked here happens within one task.
    page.evaluate(AT_REST)
    before, after = page.evaluate(
        """() => {
          const top = () => document.querySelector("#summary").getBoundingClientRect().top;
          const before = top();
          while (waiting.length > 0) waiting.shift()();
          return [before, top()];
        }"""
    )
    assert page.evaluate("document.documentElement.dataset.markedAt") == "1400"
    assert after == pytest.approx(before, abs=2)
    context.close()
