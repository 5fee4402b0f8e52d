#!/usr/bin/env python3
"""Fetches the texts on which docs/budget.md measures the token estimate. None of them was used to fit it.

    python3 tools/estimate_texts.py FOLDER
    cargo run --release -p host-harness --example calibrate_estimate -- check FOLDER

Needs Debian 12 (`apt-get download`, `dpkg-deb`), cargo and pip. FOLDER gets one folder for each kind of text with UTF-8
files of at most 600 KB: markup is stripped, and paragraphs of a translation that were left in English are left out.
"""

import html.parser
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 600_000

# What a paragraph of a translation has at least one of.
SCRIPT = {
    "chinese": "[\u4e00-\u9fff]",
    "japanese": "[\u3040-\u30ff]",
    "korean": "[\uac00-\ud7af]",
    "russian": "[\u0400-\u04ff]",
}

# Kind, Debian package, the files in it.
PACKAGES = [
    ("english", "debian-policy", "usr/share/doc/debian-policy/policy.html/*.html"),
    ("english", "developers-reference", "usr/share/developers-reference/*.html"),
    ("english", "harden-doc", "usr/share/doc/harden-doc/html/en-US/*.html"),
    ("english", "postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html/*.html"),
    ("english", "aptitude-doc-en", "usr/share/doc/aptitude/html/en/*.html"),
    ("code", "golang-1.19-src", "usr/share/go-1.19/src/net/http/*.go"),
    ("code", "python3-networkx", "usr/lib/python3/dist-packages/networkx/algorithms/*.py"),
    ("code", "rust-src", "usr/src/rustc-*/library/alloc/src/**/*.rs"),
    ("code", "eslint", "usr/share/nodejs/eslint/lib/rules/*.js"),
    ("code", "libboost1.74-dev", "usr/include/boost/asio/**/*.hpp"),
    ("code", "php-symfony-console", "usr/share/php/Symfony/Component/Console/**/*.php"),
    ("code", "perl-modules-5.36", "usr/share/perl/5.36*/CPAN/**/*.pm"),
    ("json", "iso-codes", "usr/share/iso-codes/json/iso_3166-2.json"),
    ("chinese", "debian-handbook", "usr/share/doc/debian-handbook/html/zh-CN/*.html"),
    ("chinese", "installation-guide-amd64", "usr/share/doc/installation-guide-amd64/zh_CN/*.html"),
    ("chinese", "debian-faq-zh-cn", "usr/share/doc/debian/FAQ/zh-cn/*.html"),
    ("chinese", "maint-guide-zh-cn", "usr/share/doc/maint-guide-zh-cn/html/*.html"),
    ("chinese", "kicad-doc-zh", "usr/share/doc/kicad/help/zh/*.html"),
    ("japanese", "debian-handbook", "usr/share/doc/debian-handbook/html/ja-JP/*.html"),
    ("japanese", "installation-guide-amd64", "usr/share/doc/installation-guide-amd64/ja/*.html"),
    ("japanese", "debian-faq-ja", "usr/share/doc/debian/FAQ/ja/*.html"),
    ("japanese", "developers-reference-ja", "usr/share/developers-reference/ja/*.html"),
    ("japanese", "maint-guide-ja", "usr/share/doc/maint-guide-ja/html/*.html"),
    ("japanese", "gimp-help-ja", "usr/share/gimp/2.0/help/ja/*.html"),
    ("korean", "debian-handbook", "usr/share/doc/debian-handbook/html/ko-KR/*.html"),
    ("korean", "installation-guide-amd64", "usr/share/doc/installation-guide-amd64/ko/*.html"),
    ("korean", "debian-faq-ko", "usr/share/doc/debian/FAQ/ko/*.html"),
    ("russian", "debian-handbook", "usr/share/doc/debian-handbook/html/ru-RU/*.html"),
    ("russian", "installation-guide-amd64", "usr/share/doc/installation-guide-amd64/ru/*.html"),
    ("russian", "debian-faq-ru", "usr/share/doc/debian/FAQ/ru/*.html"),
    ("russian", "developers-reference-ru", "usr/share/developers-reference/ru/*.html"),
    ("russian", "maint-guide-ru", "usr/share/doc/maint-guide-ru/html/*.html"),
    ("russian", "aptitude-doc-ru", "usr/share/doc/aptitude/html/ru/*.html"),
    ("russian", "gimp-help-ru", "usr/share/gimp/2.0/help/ru/*.html"),
]

# What tools print here: kind, name, command.
COMMANDS = [
    ("json", "cargo-metadata", ["cargo", "metadata", "--format-version", "1", "--locked"]),
    ("json", "pip-inspect", ["pip", "inspect"]),
]


class Text(html.parser.HTMLParser):
    """The text of a page, one line for each block."""

    BLOCKS = set("p div li dt dd h1 h2 h3 h4 h5 h6 tr td th pre br title section table ul ol dl".split())
    HIDDEN = {"script", "style", "head", "nav"}

    def __init__(self):
        super().__init__()
        self.parts, self.hidden = [], 0

    def handle_starttag(self, tag, _attributes):
        self.hidden += tag in self.HIDDEN
        if tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag):
        self.hidden -= tag in self.HIDDEN and self.hidden > 0
        if tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


def strip(page):
    parser = Text()
    parser.feed(page)
    lines = (re.sub(r"\s+", " ", line).strip() for line in "".join(parser.parts).split("\n"))
    return "\n".join(line for line in lines if line) + "\n"


def collect(root, pattern, kind):
    text = ""
    for path in sorted(root.glob(pattern)):
        if not path.is_file() or len(text.encode()) > LIMIT:
            continue
        part = path.read_text(encoding="utf-8", errors="ignore")
        if path.suffix == ".html":
            part = strip(part)
        if kind in SCRIPT:
            part = "\n".join(line for line in part.split("\n") if re.search(SCRIPT[kind], line)) + "\n"
        text += part
    return text


def write(folder, kind, name, text):
    data = text.encode()[:LIMIT].decode(errors="ignore")
    (folder / kind).mkdir(parents=True, exist_ok=True)
    (folder / kind / f"{name}.txt").write_text(data, encoding="utf-8")
    print(f"{kind:10} {name:28} {len(data.encode()):>8} bytes")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as temporary:
        roots = {}
        for kind, package, pattern in PACKAGES:
            if package not in roots:
                roots[package] = Path(temporary) / package
                roots[package].mkdir()
                subprocess.run(["apt-get", "download", "-q", package], cwd=temporary, check=True, capture_output=True)
                deb = next(Path(temporary).glob(f"{package}_*.deb"))
                subprocess.run(["dpkg-deb", "-x", deb, roots[package]], check=True)
            write(folder, kind, package, collect(roots[package], pattern, kind))
        for kind, name, command in COMMANDS:
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            write(folder, kind, name, output)


if __name__ == "__main__":
    main()
