import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../src/infra/database/embedded/embedded.ts';
import { prepare } from './prepare.ts';
import { machine, markdown } from './report.ts';
import { runAll } from './run.ts';

/** `npm run bench`: the gateway and its alternatives, side by side on the same data in one run. */
const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rows: { type: 'string' },
    only: { type: 'string', default: '' },
    'data-dir': { type: 'string', default: path.join(import.meta.dirname, '.data') },
    markdown: { type: 'string' },
  },
});
const rows = Number(options.rows ?? (options.quick ? 50_000 : 1_000_000));
if (!Number.isSafeInteger(rows) || rows < 10_000) {
  console.error('--rows is a number of transactions, at least 10000');
  process.exit(2);
}
// A quick run shows that everything works, and approximate figures.
const timing = options.quick
  ? { warmUpMs: 200, measureMs: 500, turns: 2 }
  : { warmUpMs: 2_000, measureMs: 8_000, turns: 8 };

if (!existsSync(path.join(import.meta.dirname, 'node_modules/postgraphile'))) {
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: import.meta.dirname, stdio: 'inherit' });
}

const began = Date.now();
const server = await startEmbeddedPostgres({
  dataDir: path.resolve(options['data-dir']),
});
try {
  const log = (text: string) => console.log(`preparing: ${text}`);
  const small = await prepare(server.url, 10_000, log);
  const prepared = rows === 10_000 ? small : await prepare(server.url, rows, log);
  const { rows: table, facts, sound } = await runAll(prepared, small, timing, new RegExp(options.only));
  const setting = `${new Date().toISOString().slice(0, 10)}, ${options.quick ? 'quick' : 'full'} run over ${rows} transactions of ${prepared.customers} customers, ${timing.measureMs / 1000} s a measurement. ${machine()}.`;
  const report = `${setting}\n\n${markdown(table, facts)}\n`;
  console.log(`\n${report}\n${Math.round((Date.now() - began) / 1000)} s in all`);
  if (options.markdown) await writeFile(options.markdown, report);
  if (!sound) process.exitCode = 1;
} finally {
  await server.stop();
}
