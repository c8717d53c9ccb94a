#!/bin/sh
# Run by the Postgres image when its data folder is empty: a role and a database for the service, a role for Temporal.
# Neither is a superuser, and neither can connect to the other's database.
set -eu

psql --set ON_ERROR_STOP=1 --no-psqlrc --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\getenv qjs_password QJS_DATABASE_PASSWORD
\getenv temporal_password TEMPORAL_DATABASE_PASSWORD
create role qjs login password :'qjs_password';
create database qjs owner qjs;
revoke connect on database qjs from public;
-- Temporal's own tool creates its two databases.
create role temporal login createdb password :'temporal_password';
SQL
