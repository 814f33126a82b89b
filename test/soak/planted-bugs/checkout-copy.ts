import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { deep, longer } from '../../../vitest.config.ts';
import { type TestName, titlePattern } from './plant.ts';

export interface TestRun {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly output: string;
}

/** A copy of the checkout for planting bugs. It shares the packages of the original. */
export class CheckoutCopy {
  readonly root: string;

  constructor(original: string) {
    this.root = mkdtempSync(join(tmpdir(), 'planted-bugs-'));
    const left = new Set(['node_modules', '.git']);
    for (const name of readdirSync(original)) {
      if (!left.has(name)) cpSync(join(original, name), join(this.root, name), { recursive: true });
    }
    symlinkSync(realpathSync(join(original, 'node_modules')), join(this.root, 'node_modules'));
  }

  /** Writes the files. Returns a function that restores them. */
  write(files: ReadonlyMap<string, string>): () => void {
    const before = [...files.keys()].map((path) => [path, readFileSync(join(this.root, path), 'utf8')] as const);
    for (const [path, text] of files) writeFileSync(join(this.root, path), text);
    return () => {
      for (const [path, text] of before) writeFileSync(join(this.root, path), text);
    };
  }

  /**
   * Runs the tests with these names. Other tests in the same files do not run, unless they have the same titles.
   * @param isOneEnough whether to stop at the first failure
   */
  async run(tests: readonly TestName[], isOneEnough = false): Promise<TestRun> {
    const { true: long = [], false: short = [] } = Object.groupBy(tests, ({ file }) =>
      deep.some((pattern) => matchesGlob(file, pattern)) ? 'true' : 'false',
    );
    const runs = [];
    if (short.length > 0) runs.push(await this.#run(short, isOneEnough, []));
    if (long.length > 0) runs.push(await this.#run(long, isOneEnough, ['--config=vitest.deep.config.ts']));
    return {
      passed: runs.flatMap(({ passed }) => passed),
      failed: runs.flatMap(({ failed }) => failed),
      output: runs.map(({ output }) => output).join('\n'),
    };
  }

  async #run(tests: readonly TestName[], isOneEnough: boolean, config: readonly string[]): Promise<TestRun> {
    const report = join(this.root, 'planted-bugs.json');
    rmSync(report, { force: true });
    const files = [...new Set(tests.map(({ file }) => file))];
    const titles = [...new Set(tests.map(({ title }) => titlePattern(title)))];
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...config, '--reporter=json', `--outputFile=${report}`];
    if (isOneEnough) vitest.push('--bail=1');
    const output = await outputOf(this.root, [...vitest, '-t', `(^| )(${titles.join('|')})$`, ...files]);
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
    const results = testResults.flatMap(({ assertionResults }) => assertionResults);
    const titlesOf = (status: string) => results.filter((result) => result.status === status).map(({ title }) => title);
    return { passed: titlesOf('passed'), failed: titlesOf('failed'), output };
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

/** Runs Node without this soak's variables, with few oracle documents and many schedules. Returns the output. */
function outputOf(cwd: string, args: readonly string[]): Promise<string> {
  const ofSoaks: ReadonlySet<string> = new Set(Object.values(longer).map(([name]) => name));
  const environment = Object.entries(process.env).filter(
    ([name]) => !ofSoaks.has(name) && !/^(VITEST|TEST$|NODE_ENV$|NODE_OPTIONS$)/.test(name),
  );
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...Object.fromEntries(environment), ORACLE_DOCUMENTS: '250', SCHEDULES: '600' },
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  child.on('error', reject);
  child.on('close', () => resolve(output));
  return promise;
}
