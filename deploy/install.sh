#!/bin/sh
# Installs what an instance needs that has a Postgres of its own, and nothing else: no tools of development, no embedded
# Postgres, no second Node. It changes node_modules and src/infra/database/generated of this checkout alone. Needs Node 24 with npm.
set -eu
cd "$(dirname "$0")/.."

npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
PATH="$PATH:$PWD/node_modules/.bin" node prisma/generate.cjs
npm uninstall --no-save --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
  @prisma/client-generator-ts @prisma/internals @prisma/schema-engine-wasm node
# Maps are for debuggers.
find node_modules -name '*.map' -type f -delete
