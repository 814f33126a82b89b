import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { startEmbeddedPostgres } from '../src/infra/database/embedded/embedded.ts';
import { postgres } from './measure.ts';
import { prepare } from './prepare.ts';
import { comparison, machine, markdown, type Saved } from './report.ts';
import { runAll } from './run.ts';

/** `npm run bench`: compares the gateway with its alternatives, side by side on the same data in one run. */
const options = new Command('npm run bench --')
  .option('--quick', 'take less than two minutes, with approximate figures')
  .option('--rows <number>', 'the number of transactions; at least 10000', rowsIn)
  .option('--only <pattern>', 'only the cases whose names match', '')
  .option('--data-dir <folder>', 'the database folder', path.join(import.meta.dirname, '.data'))
  .option('--save <file>', 'store the run')
  .option('--compare <file>', 'print the differences from a stored run, with the noise')
  .parse()
  .opts<Options>();
const { quick = false, rows = quick ? 50_000 : 1_000_000 } = options;
// A quick run checks that everything works; its figures are only approximate.
const timing = quick ? { warmUpMs: 200, measureMs: 500, turns: 2 } : { warmUpMs: 2_000, measureMs: 8_000, turns: 8 };

if (!existsSync(path.join(import.meta.dirname, 'node_modules/postgraphile'))) {
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: import.meta.dirname, stdio: 'inherit' });
}

const earlier = options.compare ? (JSON.parse(await readFile(options.compare, 'utf8')) as Saved) : undefined;
const began = Date.now();
const server = await startEmbeddedPostgres({
  dataDir: path.resolve(options.dataDir),
});
postgres.pid = server.pid;
try {
  const log = (text: string) => console.log(`preparing: ${text}`);
  const small = await prepare(server.url, 10_000, log);
  const prepared = rows === 10_000 ? small : await prepare(server.url, rows, log);
  const { sound, ...measured } = await runAll(prepared, small, timing, new RegExp(options.only));
  const setting = `${new Date().toISOString().slice(0, 10)}, ${quick ? 'quick' : 'full'} run over ${rows} transactions of ${prepared.customers} customers, ${timing.measureMs / 1000} s per measurement. ${machine()}.`;
  const run: Saved = { setting, ...measured };
  console.log(`\n${setting}\n\n${markdown(run)}\n`);
  if (earlier) console.log(`${comparison(run, earlier)}\n`);
  console.log(`${Math.round((Date.now() - began) / 1000)} s in all`);
  if (options.save) await writeFile(options.save, JSON.stringify(run, null, 1));
  if (!sound) process.exitCode = 1;
} finally {
  await server.stop();
}

interface Options {
  readonly quick?: boolean;
  readonly rows?: number;
  readonly only: string;
  readonly dataDir: string;
  readonly save?: string;
  readonly compare?: string;
}

function rowsIn(text: string): number {
  const rows = Number(text);
  if (!Number.isSafeInteger(rows) || rows < 10_000)
    throw new InvalidArgumentError('Expected a number, at least 10000.');
  return rows;
}
