#!/bin/sh
# Makes the namespace and the search attributes that jobs carry; what is there already stays. Runs once the server
# answers, before the worker starts. TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and TEMPORAL_RETENTION come from outside.
set -eu

# A namespace that was just made is known to every part of the server after some seconds.
try() {
  left=30
  until "$@"; do
    left=$((left - 1))
    if [ "$left" -eq 0 ]; then
      echo "gave up: $*" >&2
      return 1
    fi
    sleep 2
  done
}

try temporal operator cluster health
if ! temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
  try temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$TEMPORAL_RETENTION"
fi

has_attribute() {
  temporal operator search-attribute list --namespace "$TEMPORAL_NAMESPACE" | grep -qw "$1"
}
add_attribute() {
  has_attribute "$1" ||
    temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" --name "$1" --type Keyword
}
for name in TeamId Backend JobMode JobStatus; do
  try add_attribute "${TEMPORAL_ATTRIBUTE_PREFIX:-}$name"
done
