#!/bin/bash
# Captures the raw CUPTI activity of the programs in workloads.py on a machine with a GPU. Usage: capture.sh FOLDER
# For each it writes the raw buffers (.cupti) and what torch.profiler reports of the same program (.json).
# Needs PyTorch with CUDA in python3 and a C++ compiler. The files go to FOLDER; `zstd -19` makes them fit for ../data.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
folder=$1
mkdir -p "$folder"

# The headers and the library that PyTorch itself uses come first.
packages=$(python3 -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))')
roots=("$packages/nvidia/cu13" "${CUDA_HOME:-/usr/local/cuda}" "${CUDA_HOME:-/usr/local/cuda}/extras/CUPTI" "$packages/nvidia/cuda_cupti")
flags=()
for root in "${roots[@]}"; do
  if [[ -d $root/include ]]; then flags+=("-I$root/include"); fi
done
cupti=$(find -L "${roots[@]}" -name 'libcupti.so.1*' 2>/dev/null | head -1 || true)
[[ -n $cupti ]] || { echo "capture.sh: no libcupti below ${roots[*]}" >&2; exit 1; }

g++ -std=c++20 -O1 -shared -fPIC "${flags[@]}" capture.cpp "$cupti" "-Wl,-rpath,$(dirname "$cupti")" -o "$folder/libcupti_capture.so"
failed=()
for workload in mlp cnn_amp transformer_sdpa two_streams cuda_graph; do
  python3 workloads.py "$folder/libcupti_capture.so" "$workload" "$folder/$workload.cupti" || failed+=("$workload")
  python3 workloads.py torch.profiler "$workload" "$folder/$workload.json" || failed+=("$workload under torch.profiler")
done
rm "$folder/libcupti_capture.so"
ls -l "$folder"
if [[ ${#failed[@]} -gt 0 ]]; then
  echo "capture.sh: failed: ${failed[*]}" >&2
  exit 1
fi
