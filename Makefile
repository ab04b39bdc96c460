PYTHON ?= python3
BIN := .venv/bin
PROTO_OUT ?= src
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
KERNEL_TESTS := tests/local_methods tests/docs/test_notebooks.py tests/research/study
REAL_TABLES := $(abspath $(wildcard ../shared/data))

.PHONY: demo test kernels ci lint fresh browser engines freezing monitor kubernetes bench release proto lock venv

demo: venv
	$(BIN)/mixbayes simulate

test: venv
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

# What an old, a newer and a new processor compute: the kernels of BLAS, and the instructions that numpy does without.
# A kernel that this processor cannot run is left out. What `make test` runs is the processor's own.
kernels: venv
	@set -eu; for kernel in Prescott Haswell SkylakeX; do \
		settings=$$($(BIN)/python -m tests.local_methods.test_every_processor $$kernel) || { \
			[ $$? = 3 ] || exit 1; echo "not on this processor: $$kernel"; continue; }; \
		echo "as a processor with $$kernel: $$settings"; \
		env $$settings $(BIN)/python -m pytest --numprocesses 2 --dist loadfile -q -m "not real_tables" $(KERNEL_TESTS); \
	done

ci: export CI = true
ifneq ($(REAL_TABLES),)
ci: export MIXBAYES_DATA ?= $(REAL_TABLES)
endif
ci: lint fresh browser engines freezing monitor kubernetes test kernels

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

# The committed generated code is what the locked generator makes, and nothing is left of a removed message.
fresh: venv
	@set -eu; made=$$(mktemp -d); trap 'rm -rf "$$made"' EXIT; \
	$(MAKE) --no-print-directory proto PROTO_OUT="$$made"; \
	diff -r -x __init__.py -x __pycache__ "$$made/mixbayes/wire" src/mixbayes/wire \
	|| { echo "src/mixbayes/wire is not what proto/ generates: run make proto" >&2; exit 1; }

# The tests of pages open them in one. Outside ci they are skipped.
browser:
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; \
	else echo "make ci needs chromium or google-chrome, and can only install it as root where there is apt-get" >&2; \
		exit 1; fi

# The tests of sources count in them. Outside ci they are skipped.
engines: .venv/engines
	@set -eu; \
	postgres() { command -v postgres || ls /usr/lib/postgresql/*/bin/postgres; } >/dev/null 2>&1; \
	missing=; \
	postgres || missing=postgresql; \
	command -v java >/dev/null || missing="$$missing default-jre-headless"; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; \
	else echo "make ci needs PostgreSQL and Java, and can only install them as root where there is apt-get" >&2; \
		exit 1; fi; \
	postgres && command -v java >/dev/null

# Only Spark itself is built here, with the setuptools of the lock.
.venv/engines: .venv/lock requirements-spark.lock
	$(PIP) install --require-hashes --no-build-isolation -r requirements-spark.lock
	@touch $@

# PyInstaller looks into libraries with objdump, and a release is signed with openssl. Outside ci no folder is frozen.
freezing:
	@set -eu; \
	missing=; \
	command -v objdump >/dev/null || missing=binutils; \
	command -v openssl >/dev/null || missing="$$missing openssl"; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; \
	else echo "a release needs objdump and openssl, and can only install them as root where there is apt-get" >&2; \
		exit 1; fi

# The tests of metrics and alerts have it scrape real nodes. Outside ci they are skipped.
monitor:
	@command -v prometheus >/dev/null && command -v promtool >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends prometheus; \
	else echo "make ci needs prometheus and promtool, and can only install them as root where there is apt-get" >&2; \
		exit 1; fi

# The tests of the manifests render them, and validate them against these schemas. Outside ci they are skipped.
kubernetes: .venv/kubernetes
	@command -v kubectl >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends kubernetes-client; \
	else echo "make ci needs kubectl, and can only install it as root where there is apt-get" >&2; \
		exit 1; fi

.venv/kubernetes: .venv/lock requirements-kubernetes.lock
	$(PIP) install --require-hashes --no-deps --only-binary :all: -r requirements-kubernetes.lock
	@touch $@

bench: venv
	$(BIN)/mixbayes bench

# What a site installs, of the present commit: make release KEY=FILE. docs/operations/releasing.md describes it.
release: venv freezing
	$(BIN)/python deploy/release/release.py --out "$(or $(OUT),dist)" --key "$(KEY)"

proto: venv
	$(BIN)/python -m grpc_tools.protoc -I proto --plugin=protoc-gen-mypy=$(BIN)/protoc-gen-mypy \
		--plugin=protoc-gen-mypy_grpc=$(BIN)/protoc-gen-mypy_grpc \
		--python_out=$(PROTO_OUT) --mypy_out=$(PROTO_OUT) $$(find proto -name '*.proto')
	$(BIN)/python -m grpc_tools.protoc -I proto --plugin=protoc-gen-mypy_grpc=$(BIN)/protoc-gen-mypy_grpc \
		--grpc_python_out=$(PROTO_OUT) --mypy_grpc_out=$(PROTO_OUT) $$(grep -l '^service' $$(find proto -name '*.proto'))

venv: .venv/package

# A changed lock starts from an empty environment, so that nothing stays which the lock no longer names.
.venv/lock: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo \
		"mixbayes needs Python 3.11 or newer, and '$(PYTHON)' is not: try make PYTHON=python3.11 (or newer)" >&2; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(PIP) install --require-hashes --only-binary :all: -r requirements.lock
	@touch $@

.venv/package: .venv/lock pyproject.toml
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

# What is pinned stays as it is while it fits; LOCK=--upgrade moves everything. The files name no index and no path.
# Spark has no wheel, and is larger than everything else together: it has a lock of its own, with the same pins.
lock:
	@set -eu; tools=$$(mktemp -d); trap 'rm -rf "$$tools"' EXIT; \
	$(PYTHON) -m venv "$$tools"; \
	"$$tools/bin/python" -m pip --disable-pip-version-check --quiet install pip-tools==7.6.2; \
	compile() { CUSTOM_COMPILE_COMMAND='make lock' "$$tools/bin/pip-compile" --quiet --generate-hashes \
		--no-allow-unsafe --unsafe-package mixbayes $(LOCK) --strip-extras --no-annotate --no-emit-index-url \
		--no-emit-trusted-host --no-emit-find-links "$$@" pyproject.toml; }; \
	compile --extra dev --output-file requirements.lock; \
	compile --extra spark --constraint requirements.lock --output-file requirements-spark.lock; \
	sed -i.old '/^$$/,$$d' requirements.lock requirements-spark.lock; rm requirements.lock.old requirements-spark.lock.old
