"""Redaction: both sides of the line for each kind. Made-up values are put together at run time."""

from __future__ import annotations

import time

import pytest

from mem.parsing.redact import redact

LETTERS = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"
HEX = "0123456789abcdef" * 4
SECRET_WORD = "hunter" + "2"


def made(*parts: str) -> str:
    return "".join(parts)


TOKENS = [
    ("github-token", made("ghp", "_", LETTERS, "abcd")),
    ("github-token", made("ghs", "_", LETTERS, "abcd")),
    ("github-token", made("github", "_pat_", LETTERS)),
    ("gitlab-token", made("gl", "pat-", LETTERS[:20])),
    ("mem-token", made("mem", "tok_", LETTERS, "abcd")),
    ("slack-token", made("xo", "xb-", "1234567890-", LETTERS)),
    ("npm-token", made("np", "m_", LETTERS, "abcd")),
    ("pypi-token", made("py", "pi-", "AgEIcHlwaS5vcmc", LETTERS)),
    ("openai-key", made("s", "k-", "proj-", LETTERS)),
    ("openai-key", made("s", "k-", LETTERS)),
    ("anthropic-key", made("s", "k-", "ant-", "api03-", LETTERS)),
    ("stripe-key", made("s", "k_live_", LETTERS)),
    ("stripe-key", made("whs", "ec_", LETTERS)),
    ("aws-access-key", made("AK", "IA", "ABCDEFGH23456789")),
    ("gcp-key", made("AI", "za", LETTERS, "abc")),
    ("gcp-key", made("ya", "29.", LETTERS)),
    ("azure-key", made("abc", "8", "Q~", LETTERS)),
    ("service-token", made("h", "f_", LETTERS)),
    ("jwt", made("ey", "JhbGciOiJI", ".", "ey", "JzdWIiOiIx", ".", LETTERS)),
]

REPLACED = [
    ("aws-secret-key", made("aws_secret", "_access_key = ", LETTERS, "/+abcdef"), 1),
    ("azure-key", made("DefaultEndpointsProtocol=https;Account", "Key=", LETTERS, "=="), 1),
    ("slack-webhook", made("https://hooks.slack", ".com/services/", "T0001/B0001/", LETTERS), 1),
    ("bearer-token", made("Author", "ization: Bearer ", "abc"), 1),
    ("bearer-token", made("sent Bearer ", LETTERS), 1),
    ("basic-auth", made("author", "ization: Basic ", "dXNlcjpwYXNz"), 1),
    ("basic-auth", made("Proxy says Basic ", "dXNlcjpwYXNzMQ=="), 1),
    ("auth-header", made("X-Api", "-Key: ", LETTERS), 1),
    ("auth-header", made("Set-Coo", "kie: session=", "abc123; Path=/"), 1),
    ("url-password", made("postgres://app:", SECRET_WORD, "@db.internal:5432/shop"), 1),
    ("url-password", made("redis://:", SECRET_WORD, "@cache/0"), 1),
    ("url-token", made("https://", LETTERS, "@git.example/x.git"), 1),
    ("secret", made("PASSWORD", "=", SECRET_WORD), 1),
    ("secret", made("KEY", "=", SECRET_WORD), 1),
    ("secret", made("SECRET", "=", SECRET_WORD), 1),
    ("secret", made("export DB_PASS", "='correct horse'"), 1),
    ("secret", made("  API_TOKEN", ": ", "swordfish"), 1),
    ("secret", made("MYSQL_PWD", "=", SECRET_WORD), 1),
    ("secret", made("SECRET_KEY", ' = "', "django-insecure-1", '"'), 1),
    ("secret", made("ENV DB_PASSWORD", " ", SECRET_WORD), 1),
    ("secret", made("password", ": ", "swordfish"), 1),
    ("password", made("the password for the lab is ", SECRET_WORD, "."), 1),
    ("password", made("ada: the pw of the old nas is now ", SECRET_WORD, ", ask me"), 1),
    ("password", made("pw: ", SECRET_WORD), 1),
    ("password", made("Das Passwort f\u00fcr das WLAN lautet ", SECRET_WORD, "."), 1),
    ("password", made("Kennwort vom Drucker: \u201e", SECRET_WORD, "\u201c"), 1),
    ("password", made("Le mot de passe du serveur est \u00ab ", SECRET_WORD, " \u00bb."), 1),
    ("password", made("La contrase\u00f1a de la base es ", SECRET_WORD), 1),
    ("password", made("\u041f\u0430\u0440\u043e\u043b\u044c \u043e\u0442 \u0431\u0430\u0437\u044b: ", SECRET_WORD), 1),
    ("password", made("\u5bc6\u7801: ", SECRET_WORD), 1),
    ("secret", made("client_secret", "=", SECRET_WORD, "&grant=x"), 1),
    ("secret", made('{"password"', ': "', "correct horse", '"}'), 1),
    ("secret", made('{\\"api_key\\"', ':\\"', SECRET_WORD, '\\"}'), 1),
    ("secret", made("{'token'", ": '", SECRET_WORD, "'}"), 1),
    ("secret", made("tool --password", " ", SECRET_WORD, " push"), 1),
    ("secret", made("tool --api-key", "=", SECRET_WORD), 1),
    ("secret", made("['--token', ", "'", SECRET_WORD, "']"), 1),
    ("secret", made("  secret", ": ", HEX[:24]), 1),
    ("password", made("curl -s -u me:", SECRET_WORD, " https://x"), 1),
    ("password", made("CREATE USER shop IDENTIFIED ", "BY '", SECRET_WORD, "'"), 1),
    ("password", made("mysql -u root -p", SECRET_WORD, " shop"), 1),
    ("npm-token", made("//registry.example/:_auth", "Token=", SECRET_WORD), 1),
]

KEPT = [
    "KeyError: 'password'",
    "KeyError: 'SECRET_KEY'",
    'FATAL:  password authentication failed for user "x"',
    "The SECRET_KEY setting must not be empty.",
    "token expired",
    "Invalid token: expired",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    f"image@sha256:{HEX}",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "npm error code ERESOLVE",
    "npm_config_cache",
    "PASSWORD=$DB_PASSWORD",
    "PASSWORD=${DB_PASSWORD:-}",
    "PASSWORD: ${{ secrets.X }}",
    "PASSWORD=***",
    "export TOKEN=[secure]",
    "password=None",
    "connect(password=password)",
    "token = self.lexer.next_token()",
    "Unexpected token < in JSON at position 0",
    "unexpected token: T_STRING",
    "error: expected token: identifier",
    "error: --token requires a value",
    "the --password flag is deprecated",
    "the password is checked twice",
    "the password is wrong, try user2",
    "The password is base64-encoded in the manifest",
    "the password is 32-byte hex, not 12chars",
    "the password of db2 is stored in 1Password",
    "the password is sha256 of the seed",
    "the password is /run/secrets/db1",
    "the password was 2024-05-01 last changed",
    "Das Passwort ist falsch und wird nach 3mal gesperrt",
    "pw is db_password2 in the chart",
    "the pwd is build42-output",
    "the password of the account is rotated weekly",
    "the password of the weathervane account on the build host is rotated every 30days",
    "the password is wrong",
    "The password for the weathervane account on the build host is not set.",
    "the password of the weathervane account on the build host is in the vault",
    "the password of the weathervane account is stored as a sha256-hash",
    "the password of the account was reset and the ticket is OPS-4711",
    "the password of the weathervane account is wrong since the new host is build42x",
    'the password of the account is "wrong"',
    'the password is "not set" on the build host',
    'the password of the account is "required"',
    "the password for the lab is set to expire after 30days",
    "build42x is the host with the password of the account",
    "argon2id is the password hash",
    "1Password is the password manager of the team",
    "server42 is the only one without a password.",
    "the token for the registry is in vault-2031",
    "the token we use for the registry is ci-token-2",
    "the secret of the web app is web-credentials-v2 in the namespace",
    "the token of the deploy bot is expired since 2031-05-01",
    "the next token is identifier2",
    "The token is v2-signed since June",
    "web-credentials-v2 is the secret of the web app",
    "the API key is 32-byte hex",
    "docker login --password-stdin",
    "FAILED: Can't locate revision identified by '8f1c2d3e4a5b'",
    "{'password': 'This field is required.'}",
    '"password": ["This field may not be blank."]',
    "DETAIL:  Key (email)=(a@b.example) already exists.",
    'secret "db-credentials" not found',
    'WWW-Authenticate: Bearer realm="x",service="y"',
    "Basic authentication failed",
    "Bearer token missing",
    "http://localhost:4873/@scope/pkg",
    "git@host.example:org/repo.git",
    "ssh://git@host.example:22/x",
    "max_tokens=4096",
    "TOKENIZERS_PARALLELISM=false",
    "CACHE_KEY=linux-abc123",
    "PublicKeyToken=b77a5c561934e089",
    "PWD=/home/ci/shop",
    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set",
    "error[E0425]: cannot find value `token` in this scope",
    "pypi-attestations==0.0.27",
    "sk-learn-estimator-checks failed",
    "-----BEGIN PUBLIC KEY-----",
]


TOLD = [
    "The password of the weathervane account on the build host is {}.",
    "password for the nightly backup account of the old build host in Lyon was {} until May",
    "The password for the weathervane account on db.build.example.org is {}.",
    "Password of the account that the mirror job uses on the build host: {}",
    "the password we use for the registry on the build host is {}",
    "The admin password, which nobody has rotated since, is still {}.",
    "The password for the lab is set to {} now",
    "We changed the password of the weathervane account on the build host to {}.",
    "The password of the weathervane account has been reset to {}.",
    "The passwords for ada and bob are {}",
    "the password of the host was wrong, the password of the weathervane account on the build host is {}",
    "{} is the password of the weathervane account on the build host.",
    '"{}" is our admin password, keep it',
    "it turned out that {} is still the weathervane password.",
    "log in as ada with {} as the password",
    "use '{}' as root password on the build host",
    'The password of the weathervane account on the build host is "{}".',
    "the passphrase of the backup key that we keep on the build host is `{}`",
]
"""A password told in a sentence, in whichever order and with however long a name."""

TOLD_TOKENS = [
    "the token we use for the registry on the build host is {}",
    "The token that the deploy bot sends to the registry is {}.",
    "our API key for the weather service of the build host is {}",
    "the secret for the webhook of the old build host: {}",
    "The access key of the mirror job is now {}",
    "{} is the token of the deploy bot",
    "{} is our API key for the weather service.",
    "call it with {} as the token",
    "the token is {}",
]
"""The same for names that messages use in other senses."""

QUOTED = [
    'the password of the weathervane account on the build host is "{}"',
    "The password for the lab is '{}'.",
    "the password is \u201c{}\u201d",
]


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("value", [SECRET_WORD, made("k7Tq-", "4mzz"), made("Winter", "2031!x")])
def test_a_password_told_in_a_sentence_goes(told: str, value: str) -> None:
    """However long the name of what it opens is; the sentence around it stays."""
    result = redact(told.format(value))
    assert result == (told.format("[redacted:password]"), ("password",))
    assert redact(result.text) == (result.text, ())


@pytest.mark.parametrize("told", TOLD_TOKENS)
@pytest.mark.parametrize("value", [made("k7Tq", "4mzzP01x"), made("c0ffee", "-12ab-9f3e")])
def test_a_token_told_in_a_sentence_goes(told: str, value: str) -> None:
    """Where the value looks generated."""
    result = redact(told.format(value))
    assert result == (told.format("[redacted:secret]"), ("secret",))
    assert redact(result.text) == (result.text, ())


@pytest.mark.parametrize("told", QUOTED)
def test_a_quoted_password_of_words_goes(told: str) -> None:
    """Between quotes also what looks like words is the value."""
    assert redact(told.format("correct horse")) == (told.format("[redacted:password]"), ("password",))


@pytest.mark.parametrize(("kind", "token"), TOKENS)
@pytest.mark.parametrize("frame", ["{}", "x: {} y", "\x1b[31m{}\x1b[0m", '"{}"', "a {} b {}"])
def test_a_token_is_replaced_wherever_it_stands(kind: str, token: str, frame: str) -> None:
    """A token with a shape of its own is found bare, framed, coloured and twice in a line."""
    text = frame.replace("{}", token)
    assert redact(text) == (frame.replace("{}", f"[redacted:{kind}]"), (kind,))


@pytest.mark.parametrize(("kind", "token"), TOKENS)
def test_a_shorter_string_of_that_shape_is_no_token(kind: str, token: str) -> None:
    """Half a prefix is not enough."""
    assert redact(f"see {token[:6]} here").kinds == ()


@pytest.mark.parametrize(("kind", "text", "count"), REPLACED)
@pytest.mark.parametrize("prefix", ["", "2026-07-02T10:00:00.1234567Z "])
def test_a_value_is_replaced_for_its_name(kind: str, text: str, count: int, prefix: str) -> None:
    """What stands around the value stays; the value goes; doing it again changes nothing."""
    result = redact(prefix + text)
    assert result.kinds == (kind,)
    assert result.text.count(f"[redacted:{kind}]") == count
    assert result.text.startswith(prefix + text[:4])
    assert redact(result.text) == (result.text, ())


@pytest.mark.parametrize("text", KEPT)
def test_what_identifies_a_failure_stays(text: str) -> None:
    """References, messages about secrets, digests and ids are not secrets."""
    assert redact(text) == (text, ())


def test_the_user_in_a_url_stays() -> None:
    """Only the password is replaced."""
    url = made("amqp://worker:", SECRET_WORD, "@mq:5672")
    assert redact(url).text == "amqp://worker:[redacted:url-password]@mq:5672"


def pem(body: list[str]) -> list[str]:
    kind = "PRIVATE" + " KEY"
    return [f"-----BEGIN RSA {kind}-----", *body, f"-----END RSA {kind}-----"]


def test_a_private_key_is_replaced_line_by_line() -> None:
    """The number of lines stays, so that line numbers still point at the failure."""
    body = ["Proc-Type: 4,ENCRYPTED", "", LETTERS * 2, LETTERS[:9]]
    lines = ["before", *pem(body), "after"]
    result = redact("\n".join(lines))
    hidden = "[redacted:private-key]"
    inside = [hidden, "", hidden, hidden]
    assert result.text.split("\n") == [lines[0], lines[1], *inside, lines[-2], lines[-1]]


def test_a_cut_private_key_ends_where_it_stops_looking_like_one() -> None:
    """A log that was cut has no END line; what follows the body is kept."""
    lines = [*pem([LETTERS * 2])[:2], "error: exit code 1"]
    assert redact("\n".join(lines)).text.split("\n")[1:] == [
        "[redacted:private-key]",
        "error: exit code 1",
    ]


def test_an_escaped_private_key_in_json_is_replaced() -> None:
    """A service account file has its key in one line."""
    begin, body, end = pem([LETTERS * 2])
    text = f'{{"key": "{begin}\\n{body}\\n{end}\\n"}}'
    assert LETTERS not in redact(text).text


def test_an_announced_value_is_replaced_everywhere() -> None:
    """What the log declares secret is secret on each line, the earlier ones too."""
    text = f"a {SECRET_WORD}\n::add-mask::{SECRET_WORD}\nb={SECRET_WORD}."
    assert redact(text) == (
        "a [redacted:masked-value]\n::add-mask::[redacted:masked-value]\nb=[redacted:masked-value].",
        ("masked-value",),
    )


def test_a_short_or_referenced_announcement_does_not_blank_the_log() -> None:
    """A value of two letters is hidden where it is announced only; a variable is none."""
    assert redact("::add-mask::ab\nabort").text == "::add-mask::[redacted:masked-value]\nabort"
    text = 'echo "::add-mask::$TOKEN"\nTOKEN'
    assert redact(text).text == text


def test_a_placeholder_is_never_masked_inside() -> None:
    """A log that announces the placeholder's own words changes nothing of earlier ones."""
    text = "::add-mask::redacted:jwt\n[redacted:jwt] redacted:jwt"
    once = redact(text).text
    assert once.endswith("[redacted:jwt] [redacted:masked-value]")
    assert redact(once).text == once


def test_text_beyond_utf8_survives() -> None:
    """Lone surrogates and wide characters come back as they were."""
    text = made("\ud800 日本 PASSWORD", "=", "päss wörd ", "\U0001f600")
    result = redact(text)
    assert result.text.startswith("\ud800 日本 PASSWORD=[redacted:secret] wörd")
    assert result.text.endswith("\U0001f600")


def test_clean_text_passes_fast() -> None:
    """At least 20 MB a second without secrets, measured generously below."""
    line = "src/app/models.py:120: in save  return super().save(*args, **kwargs) # key\n"
    text = (line * 4 + "Downloading https://files.example/pkgs/app-1.2-py3-none-any.whl\n") * 20_000
    redact("warm up")
    best = min(_seconds(text) for _ in range(3))
    assert len(text) / best > 15e6


@pytest.mark.parametrize(
    "unit",
    [
        "password=", "token: ", "://a:", "-----BEGIN " + "PRIVATE KEY-----\n", "mysql -p ",
        "eyJ", "::add-mask::abcd ", "::add-mask::abcd\n", "'password': '", "authorization: ", "a://b:c@",
        "password of a ", "password for is ", "token we use ", "hunter2x is the ", "use hunter2x as ", 'password is "',
    ],
)  # fmt: skip
def test_hostile_text_takes_linear_time(unit: str) -> None:
    """Ten times the text takes no more than some twenty times as long, whatever is repeated."""
    small, large = unit * 2_000, unit * 20_000
    redact(small)
    assert _seconds(large) < 20 * max(min(_seconds(small) for _ in range(3)), 0.002)


def _seconds(text: str) -> float:
    start = time.process_time()
    redact(text)
    return time.process_time() - start
