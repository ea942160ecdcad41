"""Tools that fail on their own files: each function sets a failure up, runs it, returns the output."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from pathlib import Path

from mem.cli.demo.running import Bench


def pip_conflict(bench: Bench) -> str:
    """Two requirements that no version of a third package satisfies."""
    wheels = bench.root / "wheels"
    wheel(wheels, "ledger_core", "1.8.0")
    wheel(wheels, "ledger_core", "2.1.0")
    wheel(wheels, "invoice_report", "3.0.2", "ledger-core<2")
    wheel(wheels, "tax_rules", "5.4.0", "ledger-core>=2.1")
    return _pip(bench, "invoice-report==3.0.2", "tax-rules==5.4.0")


def pytest_regression(bench: Bench) -> str:
    """A long log: an installation, then several hundred tests of which one fails."""
    wheels = bench.root / "wheels"
    names = [f"shop_plugin_{name}" for name in ("cart", "search", "stock", "mail", "rates", "audit", "pdf", "sso")]
    for number, name in enumerate(names):
        wheel(wheels, name, f"1.{number}.0")
    install = _pip(bench, *names)
    bench.write("shop/__init__.py", "")
    bench.write("shop/pricing.py", "\n" * (3 * bench.variant) + _PRICING)
    for number, area in enumerate(("cart", "catalog", "checkout", "invoice", "search", "shipping")):
        bench.write(f"tests/test_{area}.py", _many_tests(area, number, 78 + bench.variant))
    bench.write("tests/test_pricing.py", "\n" * bench.variant + _PRICING_TEST)
    flags = ["-v", "-p", "no:cacheprovider", "--rootdir", str(bench.root)]
    env = {"PYTHONPATH": str(bench.root), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return install + bench.run(bench.python, "-m", "pytest", *flags, "tests", env=env)


def python_import(bench: Bench) -> str:
    """A module that the image lacks, found missing three frames deep."""
    bench.write("ml/__init__.py", "")
    bench.write("ml/features.py", "\n" * bench.variant + "import feature_store_client\n")
    bench.write("ml/train.py", "\n" * bench.variant + "from ml import features\n\nprint(features)\n")
    bench.write("run.py", "import ml.train\n")
    return bench.run(bench.python, "run.py")


def node_module(bench: Bench) -> str:
    """A dependency that is not installed."""
    bench.write("src/server.js", "\n" * bench.variant + "const pay = require('payment-gateway');\npay();\n")
    return bench.run("node", "src/server.js")


def npm_eresolve(bench: Bench) -> str:
    """A peer dependency that conflicts with what the project asks for; all packages are local files."""
    bench.write("vendor/ui/package.json", json.dumps({"name": "shop-ui", "version": "4.0.0"}))
    grid = {"name": "shop-grid", "version": "2.3.1", "peerDependencies": {"shop-ui": "^3.0.0"}}
    bench.write("vendor/grid/package.json", json.dumps(grid))
    needs = {"shop-ui": "file:vendor/ui", "shop-grid": "file:vendor/grid"}
    bench.write("package.json", json.dumps({"name": "shop", "version": f"1.{bench.variant}.0", "dependencies": needs}))
    return bench.run("npm", "install", "--offline", "--no-audit", "--no-fund", "--install-links")


def gcc_link(bench: Bench) -> str:
    """A function that is declared and used but in no object."""
    source = "\n" * bench.variant + 'int crc32_block(const char *data);\nint main(void) { return crc32_block("x"); }\n'
    bench.write("src/main.c", source)
    bench.write("Makefile", "app: src/main.c\n\tgcc -Wall -o app src/main.c\n")
    return bench.run("make", "app")


def git_rejected(bench: Bench) -> str:
    """A push to a branch that has moved on."""
    remote = bench.root / "release.git"
    clones = [bench.root / name for name in ("deploy", "other")]
    bench.run("git", "init", "-q", "--bare", "-b", "main", str(remote))
    for number, clone in enumerate(clones):
        bench.run("git", "clone", "-q", str(remote), str(clone))
        who = ["-c", "user.name=ci", "-c", "user.email=ci@example.com"]
        message = f"build {bench.variant}.{number}"
        bench.run("git", *who, "commit", "-q", "--allow-empty", "-m", message, cwd=clone)
    bench.run("git", "push", "-q", "origin", "HEAD:main", cwd=clones[0])
    return bench.run("git", "push", "origin", "HEAD:main", cwd=clones[1])


def cargo_types(bench: Bench) -> str:
    """A type error in a crate without dependencies."""
    bench.write("Cargo.toml", '[package]\nname = "meter"\nversion = "0.1.0"\nedition = "2021"\n')
    bench.write("src/main.rs", "\n" * bench.variant + _RUST)
    return bench.run("cargo", "build", "--offline")


def java_null(bench: Bench) -> str:
    """An exception with a cause."""
    bench.write("Settle.java", "\n" * bench.variant + _JAVA)
    return bench.run("javac", "Settle.java") + bench.run("java", "-cp", ".", "Settle")


def _pip(bench: Bench, *requirements: str) -> str:
    links = ["--no-index", "--find-links", str(bench.root / "wheels")]
    target = ["--no-cache-dir", "--target", str(bench.root / "site")]
    return bench.run(bench.python, "-m", "pip", "install", *links, *target, *requirements)


def wheel(folder: Path, name: str, version: str, *requires: str) -> None:
    """The smallest wheel that pip installs."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n"
    files = {
        f"{name}.py": f'"""{name}."""\n',
        f"{info}/METADATA": metadata + "".join(f"Requires-Dist: {item}\n" for item in requires),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: demo\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},sha256={_digest(text)},{len(text)}\n" for path, text in files.items())
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def _many_tests(area: str, offset: int, count: int) -> str:
    names = [f"test_{area}_keeps_rule_{number + 100 * offset:03}" for number in range(count)]
    return "".join(f"def {name}() -> None:\n    assert True\n\n\n" for name in names)


_PRICING = '''\
def with_discount(cents: int, percent: int) -> int:
    """Banker's rounding loses a cent here."""
    return round(cents * (100 - percent) / 100)
'''
_PRICING_TEST = """\
from shop.pricing import with_discount


def test_discount_rounds_half_up() -> None:
    assert with_discount(250, 10) == 225
    assert with_discount(25, 10) == 23
"""
_RUST = """\
pub fn total(cents: &[u64]) -> u32 {
    cents.iter().sum::<u64>()
}

fn main() {
    println!("{}", total(&[1]));
}
"""
_JAVA = """\
import java.util.Map;

public class Settle {
    static String account(Map<String, String> accounts, String merchant) {
        return accounts.get(merchant).trim();
    }

    public static void main(String[] args) {
        try {
            account(Map.of("m-1", "a"), "m-2");
        } catch (NullPointerException cause) {
            throw new IllegalStateException("settlement aborted: merchant has no payout account", cause);
        }
    }
}
"""
