#!/bin/sh
# Installs the packages that an instance with an external Postgres needs, leaving out development tools, the embedded
# Postgres and the `node` package. Changes only node_modules and src/infra/database/generated in this checkout. Needs
# Node 24 with npm.
set -eu
cd "$(dirname "$0")/.."

npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
PATH="$PATH:$PWD/node_modules/.bin" node prisma/generate.cjs
npm uninstall --no-save --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
  @prisma/client-generator-ts @prisma/internals @prisma/schema-engine-wasm node
# Removes source maps.
find node_modules -name '*.map' -type f -delete
