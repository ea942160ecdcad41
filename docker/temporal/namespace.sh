#!/bin/sh
# The namespace, with the retention that is configured; run again, it brings the retention up to date.
set -eu

temporal operator cluster health
temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION" ||
    temporal operator namespace update --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION"
