#!/bin/sh
# Run by the Postgres image when its data folder is empty: a role and a database for the service, a role and two databases
# for Temporal. Neither role is a superuser, and neither can connect to the other's databases.
set -eu

psql --set ON_ERROR_STOP=1 --no-psqlrc --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\getenv qjs_password QJS_DATABASE_PASSWORD
\getenv temporal_password TEMPORAL_DATABASE_PASSWORD
create role qjs login password :'qjs_password';
create database qjs owner qjs;
revoke connect on database qjs from public;
-- Temporal's own tool asks for its databases at each start, and leaves those that exist.
create role temporal login createdb password :'temporal_password';
create database temporal owner temporal;
revoke connect on database temporal from public;
create database temporal_visibility owner temporal;
revoke connect on database temporal_visibility from public;
SQL
