#!/usr/bin/env bash
# Checks templates by cfn-lint: usage cfn-lint.sh TEMPLATE... It is the installed
# one, else one in a virtual environment under .local/venv, made here at the version
# below; where that cannot be had, the check is skipped by name.
# W3005 is left out: the CDK writes dependencies that a reference implies.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=1.51.0 venv=.local/venv

if command -v cfn-lint >/dev/null && cfn-lint --version >/dev/null 2>&1; then
	lint=cfn-lint
elif [ -x $venv/bin/cfn-lint ]; then
	lint=$venv/bin/cfn-lint
elif python3 -m venv $venv >/dev/null 2>&1 && $venv/bin/pip install --quiet --disable-pip-version-check "cfn-lint==$version" >/dev/null 2>&1; then
	lint=$venv/bin/cfn-lint
else
	rm -rf $venv
	echo 'cfn-lint: skipped; it is not installed, and a virtual environment with it could not be made (python3-venv, pip)'
	exit 0
fi
"$lint" --ignore-checks W3005 -- "$@"
echo "$("$lint" --version): nothing found in $# templates"
