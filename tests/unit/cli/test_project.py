"""Which project a command is about, as the folder says that it runs in; git itself is the judge of what it reads."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.cli.project import Inferred, infer_project, needed_project, project_or_default
from mem.cli.repository import name_in, origin_of
from mem.domain.errors import InvalidRequest

BARE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"], "LC_ALL": "C"}


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.test", "-c", "protocol.file.allow=always")
    done = subprocess.run(["git", *who, *arguments], check=False, cwd=folder, env=BARE, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def folder_of(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def repository(path: Path, url: str | None = None) -> Path:
    """A repository with one commit, and with an origin where one is given."""
    git(folder_of(path), "init", "-q")
    git(path, "commit", "-q", "--allow-empty", "-m", "first")
    if url is not None:
        git(path, "remote", "add", "origin", url)
    return path


def project_of(folder: Path, home: Path | None = None) -> str | None:
    return infer_project(folder, home).project


URLS = {
    "git@example.test:team/billing.git": "billing",
    "example.test:billing": "billing",
    "git@[2001:db8::1]:billing.git": "billing",
    "ssh://git@example.test:2222/team/billing.git": "billing",
    "ssh://git@example.test:2222/team/billing.git/": "billing",
    "https://example.test/team/billing": "billing",
    "https://user:a%2Fb@example.test/team/billing.git//": "billing",
    "https://user:p@ss@example.test/team/billing.git": "billing",
    "git://example.test/~me/billing.git": "billing",
    "file:///srv/git/billing.git": "billing",
    "/srv/git/billing.git": "billing",
    "/srv/billing/.git": "billing",
    "/srv/billing/.git/": "billing",
    "../billing.git/": "billing",
    "./billing": "billing",
    "billing": "billing",
    "~/code/billing.git ": "billing",
    "https://example.test/org/_git/billing.web": "billing.web",
    "https://example.test/team/billing.git.git": "billing.git",
    "/foo/bar:2222.git": "2222",
    "https://example.test:8443/": "example.test",
    "ssh://git@billing:2222/": "billing",
}


@pytest.mark.parametrize(("url", "name"), URLS.items())
def test_a_repository_is_called_by_its_url(url, name):
    """By whatever means git reaches it."""
    assert name_in(url) == name


@pytest.mark.parametrize("url", [url for url in URLS if ":" in url and url[0] != "/"])
def test_git_itself_calls_it_so(url, tmp_path):
    """The name is that of the folder which `git clone` announces."""
    command = ["git", "-c", "protocol.allow=never", "clone", "--", url]
    said = subprocess.run(command, check=False, cwd=tmp_path, env=BARE, capture_output=True, timeout=60)
    assert f"Cloning into '{name_in(url)}'" in said.stderr.decode()


@pytest.mark.parametrize("url", ["", "/", ".", "..", "../..", "https://", ".git", "///", "\n"])
def test_some_urls_call_a_repository_nothing(url):
    """What leads elsewhere without a name is no name."""
    assert name_in(url) is None


CONFIGS = {
    '[remote "origin"]\n\turl = a/b.git\n': "a/b.git",
    '[Remote "origin"]\nURL=a': "a",
    '[remote "Origin"]\n\turl = a\n[remote "other"]\n\turl = b\n': None,
    '[remote "origin"] url = a # of old\n': "a",
    '[remote "origin"]\n\turl = "a #b" ; c\n': "a #b",
    '[remote "origin"]\n\turl = a\\\n  b\n': "a  b",
    '[remote "origin"]\n\turl = "C:\\\\src\\\\a"\n': "C:\\src\\a",
    '[remote "origin"]\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\tpushurl = b\n\turl = a\n\turl = c\n': "a",
    "[remote.origin]\n\turl = a\n": "a",
    '[remote "or\\"igin"]\n\turl = a\n[core]\n\turl = b\n': None,
    '; [remote "origin"]\n# url = a\n[core]\n\tbare = false\n': None,
    '\ufeff[remote "origin"]\r\n\turl = a\r\n': "a",
    '[remote "origin"]\n\turl\n': None,
    "": None,
}


@pytest.mark.parametrize(("config", "url"), CONFIGS.items())
def test_the_origin_stands_in_the_configuration(config, url):
    """Quotes, escapes, comments and the case of names are read as git reads them."""
    assert origin_of(config.removeprefix("\ufeff").replace("\r\n", "\n")) == url


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["origin", "up stream", 'o"r', "a\\b"]),
            st.text(st.sampled_from('ab /:@.#;"\\\t\u00e9=[]'), min_size=1, max_size=12),
        ),
        max_size=4,
    )
)
def test_what_git_writes_is_read_as_git_reads_it(tmp_path_factory, remotes):
    """Whatever a remote is called and wherever it is, the file that git makes of it says the same to both."""
    file = tmp_path_factory.mktemp("config") / "config"
    file.touch()
    for name, url in remotes:
        git(file.parent, "config", "-f", str(file), "--add", f"remote.{name}.url", url)
    urls = [url for name, url in remotes if name == "origin"]
    assert origin_of(file.read_text(encoding="utf-8")) == (urls[0] if urls else None)


def test_the_remote_names_the_project_wherever_in_it_one_is(tmp_path):
    """From any folder of the work tree, from within its git folder, and whatever the folder is called."""
    repo = repository(tmp_path / "checkout-3", "git@example.test:team/billing.git")
    for inside in (repo, folder_of(repo / "src" / "deep"), repo / ".git" / "refs", repo / ".git"):
        assert infer_project(inside, None) == Inferred("billing", f"remote origin of {repo}")


def test_without_a_remote_the_folder_names_it(tmp_path):
    """The root of the work tree, and of a bare repository the folder without its suffix."""
    repo = repository(tmp_path / "billing")
    assert infer_project(folder_of(repo / "src"), None) == Inferred("billing", f"folder {repo}")
    git(tmp_path, "init", "-q", "--bare", "ledger.git")
    assert project_of(tmp_path / "ledger.git" / "refs") == "ledger"
    git(repo, "remote", "add", "origin", "..")
    assert project_of(repo) == "billing"


def test_a_linked_work_tree_is_of_its_repository(tmp_path):
    """Its remote, or else the folder of the main work tree: a branch's folder names no project."""
    repo = repository(tmp_path / "billing")
    git(repo, "worktree", "add", "-q", "../fix-rounding")
    assert project_of(folder_of(tmp_path / "fix-rounding" / "src")) == "billing"
    git(repo, "remote", "add", "origin", "https://example.test/team/invoices")
    assert project_of(tmp_path / "fix-rounding") == "invoices"
    git(tmp_path, "clone", "-q", "--bare", str(repo), "hub/.bare")
    git(tmp_path / "hub" / ".bare", "config", "--unset", "remote.origin.url")
    git(tmp_path / "hub" / ".bare", "worktree", "add", "-q", "../main")
    assert project_of(tmp_path / "hub" / "main") == "hub"


def test_a_submodule_is_a_project_of_its_own(tmp_path):
    """By its own remote, and where that was taken away by its folder."""
    part = repository(tmp_path / "rates")
    whole = repository(tmp_path / "billing", "https://example.test/team/invoices")
    git(whole, "submodule", "--quiet", "add", str(part), "vendor/tax-rates")
    assert project_of(whole / "vendor" / "tax-rates") == "rates"
    git(whole / "vendor" / "tax-rates", "remote", "remove", "origin")
    assert project_of(whole / "vendor" / "tax-rates") == "tax-rates"
    assert project_of(whole / "vendor") == "invoices"


def test_a_git_folder_may_be_elsewhere_or_nowhere(tmp_path):
    """A file that points to it is followed; where it leads nowhere the folder still has its name."""
    git(tmp_path, "init", "-q", "--separate-git-dir", "store", "billing")
    git(tmp_path / "billing", "remote", "add", "origin", "https://example.test/team/invoices")
    assert project_of(tmp_path / "billing") == "invoices"
    lost = folder_of(tmp_path / "lost")
    (lost / ".git").write_text("gitdir: /nowhere\n", encoding="utf-8")
    assert project_of(lost) == "lost"


def test_what_only_looks_like_a_repository_is_none(tmp_path):
    """An empty `.git` is passed over, as git does, and the one above is found."""
    repo = repository(tmp_path / "billing")
    folder_of(repo / "src" / ".git")
    assert project_of(repo / "src") == "billing"


def test_the_nearest_file_overrides_what_git_says(tmp_path):
    """Of two files the nearer one, and any before the repository, be it above its root."""
    repo = repository(tmp_path / "billing", "https://example.test/team/invoices")
    (tmp_path / ".mem.toml").write_text('project = "everything"\n', encoding="utf-8")
    assert infer_project(repo, None) == Inferred("everything", str(tmp_path / ".mem.toml"))
    deep = folder_of(repo / "tools" / "deploy")
    (repo / "tools" / ".mem.toml").write_text('\ufeff# for all tools\nproject = "tools"\r\n', encoding="utf-8")
    assert (project_of(deep), project_of(repo)) == ("tools", "everything")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'projekt = "a"', "is wrong: project: Field required; projekt: Extra inputs are not permitted."),
        (b'project = "a"\nlevels = "L1"', "levels: Extra inputs"),
        (b"", "project: Field required"),
        (b"project = 7", "project: Input should be a valid string"),
        (b'project = "my project"', "project: Use 1 to 64 letters, digits, "),
        (b'project = ""', "project: Use 1 to 64 letters, digits, "),
        (b"project = billing", "is no TOML: "),
        (b'project = "\xff"', "is no TOML: "),
    ],
)
def test_a_wrong_file_is_an_error_that_names_it(tmp_path, content, said):
    """A mistake never becomes another project, not even for a command that needs none."""
    folder = folder_of(repository(tmp_path / "billing") / "src")
    (tmp_path / ".mem.toml").write_bytes(content)
    with pytest.raises(InvalidRequest) as error:
        infer_project(folder, None)
    assert error.value.cause.startswith(str(tmp_path / ".mem.toml"))
    assert said in error.value.cause
    assert 'project = "NAME"' in error.value.remedy


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    """A folder or a link to nowhere under that name is no file without a project."""
    folder_of(tmp_path / "a" / ".mem.toml")
    folder_of(tmp_path / "b").joinpath(".mem.toml").symlink_to("nowhere")
    for name in "ab":
        with pytest.raises(InvalidRequest, match="cannot be read: "):
            infer_project(tmp_path / name, None)


def test_the_search_ends_at_the_home_folder(tmp_path):
    """Its file counts and what is above does not; its repository is that of nothing below it."""
    (tmp_path / ".mem.toml").write_text('project = "of-all-users"', encoding="utf-8")
    home = repository(tmp_path / "me", "https://example.test/me/dotfiles")
    below = folder_of(home / "downloads")
    found = infer_project(below, home)
    assert (found.project, str(below) in found.why) == (None, True)
    assert project_of(home, home) == "dotfiles"
    assert project_of(below) == "of-all-users"
    (home / ".mem.toml").write_text('project = "mine"', encoding="utf-8")
    assert project_of(below, home) == "mine"


@pytest.mark.parametrize("name", ["my project", "b\u00fccher", "x" * 65, "a\x1b[2Jb"])
def test_what_cannot_be_a_project_is_none(tmp_path, name):
    """Neither a remote nor a folder is bent into a name that nobody chose."""
    repo = repository(tmp_path / name)
    assert (project_of(repo), "no name of a project" in infer_project(repo, None).why) == (None, True)
    git(repo, "remote", "add", "origin", "https://example.test/a/fine")
    assert project_of(repo) == "fine"
    git(repo, "remote", "set-url", "origin", "https://example.test/a/not%20fine")
    assert "'not%20fine'" in infer_project(repo, None).why


def test_a_command_that_needs_a_project_says_how_to_name_one(tmp_path, monkeypatch):
    """And one that does not takes `default`; what was given is never looked up."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    with pytest.raises(InvalidRequest) as error:
        needed_project(None)
    assert "no git repository and no .mem.toml" in error.value.cause
    assert "--project" in error.value.remedy
    assert ".mem.toml" in error.value.remedy
    assert project_or_default(None).project == "default"
    (tmp_path / ".mem.toml").write_text("project = 1", encoding="utf-8")
    with pytest.raises(InvalidRequest):
        project_or_default(None)
    assert needed_project("given") == project_or_default("given") == ("given", "")


def test_what_was_inferred_is_told(tmp_path, monkeypatch, capsys):
    """In one line on stderr, whatever a folder is called; what was given is not told again."""
    folder = repository(tmp_path / "a\nb\x1b[2J", "https://example.test/team/billing")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    needed_project(None).tell()
    needed_project("given").tell()
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert told.err.startswith("project: billing (remote origin of ")
    assert "\x1b" not in told.err


def test_a_folder_that_is_gone_names_nothing(tmp_path, monkeypatch):
    """The command says so, and does not break."""
    monkeypatch.chdir(folder_of(tmp_path / "gone"))
    (tmp_path / "gone").rmdir()
    result = CliRunner().invoke(app_for(()), ["query", "why?"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the current folder is gone. Name one with --project" in result.stderr
