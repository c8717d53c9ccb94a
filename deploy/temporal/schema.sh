#!/bin/sh
# Creates Temporal's databases, or brings their schemas to the version of this image. Runs to its end before the server
# starts, and again at each start and upgrade: what is done already stays. SQL_PLUGIN, SQL_HOST, SQL_PORT, SQL_USER and
# SQL_PASSWORD come from outside.
set -eu

schemas=${TEMPORAL_SCHEMAS:-/etc/temporal/schema/postgresql/v12}

prepare() {
  temporal-sql-tool --database "$1" create
  temporal-sql-tool --database "$1" setup-schema --version 0.0
  temporal-sql-tool --database "$1" update-schema --schema-dir "$2"
}

prepare temporal "$schemas/temporal/versioned"
prepare temporal_visibility "$schemas/visibility/versioned"
