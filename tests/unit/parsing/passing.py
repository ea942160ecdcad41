# ruff: noqa: E501 - logs are as wide as they are
"""What tools write when all is well, with every word that sounds like a failure."""

from __future__ import annotations

BLOCKS = {
    "npm": """npm warn deprecated request-error@2.4.3: this package fails on new versions, use @acme/request instead
npm warn ERESOLVE overriding peer dependency
npm warn While resolving: error-page@1.2.0
added 412 packages, and audited 413 packages in 9s
61 packages are looking for funding
found 0 vulnerabilities
""",
    "jest": """PASS src/errors/parse-error.test.js
  parseError
    ✓ throws an Error on invalid input (3 ms)
    ✓ fails when the file is missing (1 ms)
  console.error
    Warning: Failed prop type: The prop `total` is marked as required in `Cart`, but its value is `undefined`.
        at Cart (src/cart.jsx:12:3)

Test Suites: 1 passed, 1 total
Tests:       2 passed, 2 total
Snapshots:   0 total
Time:        1.204 s
""",
    "mocha": """  errors
    ✔ should throw TypeError: Cannot read properties of undefined
    ✔ rejects with ECONNREFUSED when the server is down
    - is not supported on this platform

  2 passing (14ms)
  1 pending
""",
    "tsc": """> shop@1.0.0 typecheck
> tsc --noEmit

[4:05:06 AM] Starting compilation in watch mode...
[4:05:09 AM] Found 0 errors. Watching for file changes.
""",
    "eslint": """/home/ci/app/src/errors.js
  12:7  warning  'failed' is assigned a value but never used  no-unused-vars
  40:3  warning  Unexpected console statement                 no-console

✖ 2 problems (0 errors, 2 warnings)
""",
    "pytest": """============================= test session starts ==============================
platform linux -- Python 3.11.4, pytest-7.4.0, pluggy-1.2.0
collected 6 items

tests/test_errors.py::test_error_is_raised PASSED                        [ 16%]
tests/test_errors.py::test_timeout_error[ValueError] PASSED              [ 33%]
tests/test_errors.py::test_connection_refused XFAIL (known bug)          [ 50%]
tests/test_errors.py::test_fatal SKIPPED (could not import 'cuda')       [ 66%]

=============================== warnings summary ===============================
tests/test_errors.py::test_error_is_raised
  /opt/venv/lib/python3.11/site-packages/acme/errors.py:14: DeprecationWarning: invalid escape sequence '\\d'
    raise_error("\\d")

-- Docs: https://docs.example.org/en/stable/how-to/capture-warnings.html
============= 2 passed, 1 skipped, 1 xfailed, 1 warning in 0.42s ==============
""",
    "unittest": """test_bad_input_raises (tests.test_parse.ParseErrors) ... ok
test_missing_file (tests.test_parse.ParseErrors) ... ok
test_failure_is_logged (tests.test_parse.ParseErrors) ... ERROR:acme.parse:could not parse 'x': unexpected token
ok
test_expected_failure (tests.test_parse.ParseErrors) ... expected failure

----------------------------------------------------------------------
Ran 4 tests in 0.012s

OK (expected failures=1)
""",
    "pip": """Collecting exceptiongroup==1.2.0
  Downloading exceptiongroup-1.2.0-py3-none-any.whl (16 kB)
WARNING: Retrying (Retry(total=4, connect=None, read=None)) after connection broken by 'ReadTimeoutError("Read timed out.")': /simple/acme/
Collecting failure-tools
  Using cached failure_tools-0.3-py3-none-any.whl (5 kB)
Installing collected packages: exceptiongroup, failure-tools
Successfully installed exceptiongroup-1.2.0 failure-tools-0.3
""",
    "go": """=== RUN   TestErrorIsWrapped
--- PASS: TestErrorIsWrapped (0.00s)
=== RUN   TestPanicIsRecovered
2026/02/03 04:05:06 recovered: runtime error: index out of range [3] with length 2
--- PASS: TestPanicIsRecovered (0.01s)
=== RUN   TestFailFast
    fail_test.go:14: not supported on this platform
--- SKIP: TestFailFast (0.00s)
PASS
ok  	example.com/acme/errors	0.021s
?   	example.com/acme/fatal	[no test files]
""",
    "cargo": """   Compiling thiserror v1.0.50
   Compiling error-chain v0.12.4
warning: unused variable: `err`
 --> src/main.rs:3:9
  |
3 |     let err = 1;
  |         ^^^ help: if this is intentional, prefix it with an underscore: `_err`

warning: `shop` (bin "shop") generated 1 warning
    Finished dev [unoptimized + debuginfo] target(s) in 3.21s
running 2 tests
test errors::fails_on_overflow - should panic ... ok
test errors::invalid_input_is_an_error ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
""",
    "gcc": """gcc -Wall -c src/error.c -o build/error.o
src/error.c: In function 'fail_with':
src/error.c:31:12: warning: unused variable 'failed' [-Wunused-variable]
   31 |        int failed = 0;
      |            ^~~~~~
gcc -Wall -c src/panic.c -o build/panic.o
ar rcs build/liberror.a build/error.o build/panic.o
""",
    "cmake": """-- The C compiler identification is GNU 12.2.0
-- Looking for pthread_create - not found
-- Performing Test HAVE_STRERROR_R - Failed
-- Could NOT find OpenCL (missing: OpenCL_LIBRARY OpenCL_INCLUDE_DIR)
-- Check if compiler accepts -pthread - yes
-- Configuring done
-- Generating done
[ 50%] Building C object CMakeFiles/shop.dir/error.c.o
[100%] Built target shop
""",
    "configure": """checking for gcc... gcc
checking whether the C compiler works... yes
checking for error_at_line... no
checking whether strerror_r is declared... yes
checking for broken malloc... no
checking for library containing dlopen... none required
configure: WARNING: libfoo not found, support for foo is disabled
config.status: creating Makefile
""",
    "maven": """[INFO] Scanning for projects...
[WARNING] The POM for org.acme:errors:jar:1.0 is missing, no dependency information available
[INFO] Running org.acme.ErrorHandlerTest
2026-02-03 04:05:06,123 ERROR [main] org.acme.ErrorHandler - Handled failure while saving order
java.lang.IllegalStateException: expected by the test
	at org.acme.ErrorHandlerTest.failingSave(ErrorHandlerTest.java:41)
	at java.base/java.lang.reflect.Method.invoke(Method.java:568)
[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.31 s - in org.acme.ErrorHandlerTest
[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0
[INFO] BUILD SUCCESS
""",
    "gradle": """> Task :compileJava
Note: src/main/java/org/acme/Errors.java uses or overrides a deprecated API.
> Task :test

ErrorsTest > failsOnMissingFile() PASSED
ErrorsTest > throwsOnTimeout() PASSED

Deprecated Gradle features were used in this build, making it incompatible with Gradle 9.0.

BUILD SUCCESSFUL in 12s
4 actionable tasks: 4 executed
""",
    "dotnet": """  Determining projects to restore...
/src/Shop/Errors.cs(12,17): warning CS0168: The variable 'error' is declared but never used [/src/Shop/Shop.csproj]
Build succeeded.
    1 Warning(s)
    0 Error(s)
Passed!  - Failed:     0, Passed:    14, Skipped:     1, Total:    15, Duration: 210 ms - Shop.Tests.dll (net8.0)
""",
    "rspec": """Errors
  raises an error when the total is invalid
  fails with a timeout
  is retried (PENDING: Not yet implemented)

Pending: (Failures listed here are expected and do not affect your suite's status)

  1) Errors is retried
     # Not yet implemented
     # ./spec/errors_spec.rb:14

Finished in 0.02 seconds (files took 0.1 seconds to load)
3 examples, 0 failures, 1 pending
""",
    "phpunit": """PHPUnit 10.2.0 by Sebastian Bergmann and contributors.

Errors (Acme\\Tests\\Errors)
 ✔ Throws on invalid input
 ✔ Fails when missing

OK (2 tests, 5 assertions)
""",
    "docker": """#5 [2/4] RUN apt-get update && apt-get install -y liberror-perl
#5 1.812 Setting up liberror-perl (0.17029-1) ...
#5 1.904 debconf: unable to initialize frontend: Dialog
#5 1.904 debconf: (TERM is not set, so the dialog frontend is not usable.)
#5 1.904 debconf: falling back to frontend: Readline
#5 DONE 2.3s
#6 exporting to image
#6 naming to docker.io/acme/shop:1.2 done
#6 DONE 0.1s
""",
    "apt": """Get:1 http://mirror.example.com/debian bookworm InRelease [151 kB]
Ign:2 http://mirror.example.com/debian bookworm-updates InRelease
Err:3 http://old.example.com/debian bookworm InRelease
  Could not resolve 'old.example.com'
W: Some index files failed to download. They have been ignored, or old ones used instead.
Setting up libgpg-error0 (1.46-1) ...
Processing triggers for libc-bin (2.36-9) ...
""",
    "terraform": """module.errors.aws_sns_topic.failures: Refreshing state... [id=arn:aws:sns:eu-west-1:123456789012:failures]

No changes. Your infrastructure matches the configuration.

Apply complete! Resources: 0 added, 0 changed, 0 destroyed.
""",
    "ansible": """TASK [check if the service failed] *********************************************
fatal: [web1]: FAILED! => {"changed": false, "msg": "service not found"}
...ignoring

PLAY RECAP *********************************************************************
web1                       : ok=4    changed=1    unreachable=0    failed=0    skipped=0    rescued=0    ignored=1
""",
    "kubernetes": """deployment.apps/error-page configured
Waiting for deployment "error-page" rollout to finish: 1 old replicas are pending termination...
deployment "error-page" successfully rolled out
NAME                          READY   STATUS    RESTARTS      AGE
error-page-5d4f8c7b9d-k2x8p   1/1     Running   1 (2m ago)    3m
""",
    "retry": """Uploading report.tgz
curl: (28) Operation timed out after 30001 milliseconds with 0 bytes received
upload failed, retrying in 5 s (attempt 1 of 3)
Uploading report.tgz
upload succeeded
Done in 41 s
""",
    "health": """waiting for database: connection refused (attempt 1)
waiting for database: connection refused (attempt 2)
database is ready
GET /health 200 OK
all checks passed, no errors
""",
    "service": """INFO  server started on port 8080
WARN  cache miss for key error:total, falling back to the database
INFO  GET /errors 200 3ms
INFO  GET /failed-orders 200 2ms
INFO  order 4711 not paid: card declined, the customer was told
INFO  shutdown complete
""",
    "handled": """worker started
Traceback (most recent call last):
  File "/app/worker.py", line 31, in poll
    job = queue.get(timeout=5)
ConnectionResetError: [Errno 104] Connection reset by peer
reconnected after 1 attempt
processed 214 jobs, 0 failed
""",
    "set -e": """+ set -e
+ fail() { echo "error: $1" >&2; exit 1; }
+ trap 'echo failed' ERR
+ command -v error-tool
+ test -f missing.txt
+ echo 'no errors found'
no errors found
""",
    "git": """Cloning into 'error-handling'...
warning: redirecting to https://git.example.com/acme/error-handling.git/
hint: Using 'master' as the name for the initial branch. This name is subject to change.
From https://git.example.com/acme/error-handling
 * [new branch]      fix/fatal-timeout -> origin/fix/fatal-timeout
HEAD is now at 1a2b3c4 Fix crash: fatal error when the total is missing
""",
    "lint": """All checks passed!
Success: no issues found in 14 source files
31 files would be left unchanged.
Your code has been rated at 10.00/10 (previous run: 9.81/10, +0.19)
""",
    "make": """make[1]: Entering directory '/src/errors'
cp error.h /usr/include/error.h
rm build/failed.o
rm: cannot remove 'build/failed.o': No such file or directory
make[1]: [Makefile:12: clean] Error 1 (ignored)
make[1]: Leaving directory '/src/errors'
""",
    "coverage": """Name                     Stmts   Miss  Cover   Missing
------------------------------------------------------
shop/errors.py              41      3    93%   14, 31-32
shop/exceptions.py          12      0   100%
------------------------------------------------------
TOTAL                       53      3    94%
""",
    "names-of-examples-that-pass": """ErrorPage
  shows an error
  raises ArgumentError
Finished in 0.041 seconds (files took 0.9 seconds to load)
2 examples, 0 failures
""",
    "an-app-called-errors-is-migrated": """Operations to perform:
  Apply all migrations: admin, errors
Running migrations:
  No migrations to apply.
""",
}

PROSE = {
    "budget": """Please keep the error budget page in the wiki up to date. We looked at failure modes of the
payment service last week and agreed that a missing retry is not a problem for now.
""",
    "question": """Can somebody tell me how we deploy the errors service? I would like to add a page about exception
handling, with the timeouts that we use and why a request is denied or refused.
""",
    "notes": """Meeting notes
- Bob will write the fatal error guide
- the build should not fail when coverage is too low
- next week: what is unknown about the crash reporter
""",
    "readme": """# Error pages
This folder holds the pages for failed requests. To add one, run `make error-page`.
If it is missing, the default page is shown.
""",
    "chat": """[10:12] anna: is the failing test on main known?
[10:14] ben: yes, it was broken by the timeout change, fixed now
[10:15] anna: great, thanks, no problem then
""",
    "commit": """Fix a crash when the configuration is missing

The parser raised an exception for unknown keys. It now ignores them, and a test covers the
case where the file cannot be read.
""",
}
