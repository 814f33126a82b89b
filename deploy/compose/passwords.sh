#!/bin/sh
# Runs once in a new database, after prisma/roles.sql. Sets the logins' passwords, which it reads from the secrets.
set -eu
for name in owner gateway; do
  psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --set ON_ERROR_STOP=1 \
    --set login="payments_$name" --set password="$(cat "/run/secrets/$name-password")" <<'SQL'
alter role :"login" password :'password';
SQL
done
