#!/bin/sh
# Installs what an instance needs that has a Postgres of its own, and nothing else: no tools of development, no embedded
# Postgres, no second Node. It changes node_modules and src/infra/database/generated of this checkout alone. Needs Node 24 with npm.
set -eu
cd "$(dirname "$0")/.."

npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
PATH="$PATH:$PWD/node_modules/.bin" prisma generate > /dev/null
npm uninstall --no-save --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
  prisma node @prisma/schema-engine-wasm
# Compilers of queries for other databases, and maps for debuggers.
find node_modules/@prisma/client/runtime -name '*.mysql.*' -delete \
  -o -name '*.sqlite.*' -delete -o -name '*.sqlserver.*' -delete -o -name '*.cockroachdb.*' -delete
find node_modules -name '*.map' -type f -delete
