#!/bin/sh
# Fails if the shared library exports anything but names of runnel. usage: exports.sh LIBRARY
names=$(nm -DC --defined-only "$1" | cut -d' ' -f3-)
bad=$(echo "$names" | grep -vE '^((non-virtual thunk to |guard variable for |typeinfo (name )?for |vtable for |VTT for |construction vtable for )?)runnel::|^[a-zA-Z].* runnel::' | head -20)
bad="$bad$(echo "$names" | grep 'runnel::pb::' | grep -vE 'runnel::[^p]' | head -5)"
bad="$bad$(nm -D --defined-only "$1" | grep -E 'google|protobuf|grpc' | head -5)"
[ -z "$bad" ] || { echo "exported, but not ours:"; echo "$bad"; exit 1; }
echo "$(echo "$names" | wc -l) names of runnel are exported and no others"
