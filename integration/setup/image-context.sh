#!/usr/bin/env bash
# Lays out the folder that functions/poseworker/Dockerfile is built in, and that
# the CDK hashes: usage image-context.sh BIN FOLDER. BIN holds poseworker and
# precheck/bootstrap for linux/amd64. The same parts give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${1:?usage: image-context.sh BIN FOLDER} dir=${2:?usage: image-context.sh BIN FOLDER}
npm=node_modules

rm -rf "$dir"
mkdir -p "$dir/bin" "$dir/models"
put() { install -m "$1" "$2" "$dir/$3"; }
put 0644 functions/poseworker/Dockerfile Dockerfile
put 0755 functions/poseworker/ffmpeg.sh ffmpeg.sh
put 0755 "$bin/poseworker" bin/poseworker
put 0755 "$bin/precheck/bootstrap" bin/precheck
put 0644 "$npm/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1" libonnxruntime.so.1
for f in pose_landmark_lite.tflite pose_landmark_full.tflite pose_landmark_heavy.tflite; do
	put 0644 "$npm/@mediapipe/pose/$f" "models/$f"
done
# The package ships the detector as the beginning of its packed assets.
head -c 2962288 "$npm/@mediapipe/pose/pose_solution_packed_assets.data" >"$dir/models/pose_detection.tflite"
chmod 0644 "$dir/models/pose_detection.tflite"
install -m 0644 functions/poseworker/SHA256SUMS "$dir/SHA256SUMS"
(cd "$dir" && sha256sum --check --strict --quiet SHA256SUMS)
