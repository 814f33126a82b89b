#!/bin/sh
# Creates the passwords and keys for compose.yaml as files that only the current user can read. Existing files are kept.
set -eu
folder="$(dirname "$0")/secrets"
mkdir -p "$folder"
cd "$folder"
umask 077

make() { [ -s "$1" ] || printf '%s' "$2" > "$1"; }

for name in postgres-password owner-password gateway-password; do make "$name" "$(openssl rand -hex 24)"; done
make owner-url "postgres://payments_owner:$(cat owner-password)@postgres:5432/payments"
make gateway-url "postgres://payments_gateway:$(cat gateway-password)@postgres:5432/payments"
for name in secret-key client-token-key; do make "$name" "$(openssl rand -base64 32)"; done
# Containers read the files as other users, so the files are readable by everyone and only the folder is private.
chmod 700 .
chmod 444 ./*
