#!/usr/bin/env bash
# Copies the fonts of the report into one flat folder, as they lie beside the
# render function's binary when it is deployed. Which files: the report package says.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=${1:?usage: fonts.sh FOLDER}
mkdir -p "$dir"
go run ./integration/cmd/fonts -from node_modules/@expo-google-fonts -to "$dir"
