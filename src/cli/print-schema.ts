import { readFileSync, writeFileSync } from 'node:fs';
import { printedSchema } from '../graphql/server/schema.ts';

// `npm run schema` writes schema.graphql; with --check it fails when the file differs from what the code prints.
const file = new URL('../../schema.graphql', import.meta.url);
const printed = printedSchema();
if (!process.argv.includes('--check')) {
  writeFileSync(file, printed);
} else if (readFileSync(file, 'utf8') !== printed) {
  console.error('schema.graphql is stale: run `npm run schema` and commit it');
  process.exitCode = 1;
}
