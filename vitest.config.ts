import { statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// The tests start about a hundred processes, which share a cache of compiled modules.
process.env.NODE_COMPILE_CACHE ??= path.join(import.meta.dirname, 'node_modules/.cache/compiled');

/** More space than a test run's databases need altogether. */
const roomBytes = 4 * 1024 ** 3;

/**
 * The folder of an in-memory disk, if there is one with enough space. On other disks, creating and removing the test
 * databases' files takes more than a tenth of the CPU time.
 */
export const memoryDisk = (() => {
  const folder = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(folder);
    return Math.min(bavail * bsize, freemem()) > roomBytes ? folder : undefined;
  } catch {
    return undefined;
  }
})();
if (memoryDisk) process.env.TMPDIR ??= memoryDisk;

/**
 * The long checks of `npm run test:deep`: random documents, event orders and faults, proofs, tests that cover a whole
 * API or run in a browser, and tests that are slow because they start, stop or break processes, servers and providers.
 */
export const deep = [
  'access/{expected-versions,same-tick,token-parents}',
  'attack/*',
  'browser/{lab,used,wallet}',
  'cli/{doctor,schema}',
  'client/install',
  'data-directory',
  'database/{embedded,embedded-supervision,lost-connections,migrate-busy,new-migration,pooler,replicas,restore}',
  'events/{acknowledgements,endings,feed,instances,replays,transports}',
  'examples/recipes',
  'faults/**/*',
  'graphql/{connections,oracle,plans,statement-texts}',
  'http/{outer-edge,overload,readiness,stopping}',
  'key-files',
  'ledger/{audit*,commit-lanes,locks,together}',
  'observe/metrics',
  'payments/{account-types,adjustments,balance-limit,concurrency,external-account-statuses,freezing}',
  'payments/{leases,model,policy-races,robustness,uma-limits}',
  'planted-bugs',
  'proof/*',
  'rails/{cells,conformance,open-transactions,reconciliation,secrets,upstream*}',
  'rest/{both-apis*,contract,examples,parameters}',
  'schedules/*',
  'start',
  'terminal/terminal',
  'webhooks/{approval,health}',
].map((name) => `test/${name}.test.ts`);

/** Tests that `npm run soak` repeats with far more cases, and the variables that set how many. */
export const longer = {
  'attack/hostile': ['ATTACK_PROBES', '100000'],
  'attack/matrix': ['MATRIX', 'all'],
  'client/install': ['CLIENT_RUNTIMES', 'all'],
  'events/live-lists': ['LISTS_RUNS', '200'],
  'graphql/oracle': ['ORACLE_DOCUMENTS', '100000'],
  'graphql/plans': ['PLAN_ROWS', '1000000'],
  'payments/model': ['MODEL_SEQUENCES', '5000'],
  'schedules/schedules': ['SCHEDULES', '10000'],
} as const;

/** The slowest test files, slowest first. */
const long = [
  'graphql/oracle',
  'attack/matrix',
  'faults/faults',
  'browser/lab',
  'rest/contract',
  'http/stopping',
  'start',
  'graphql/plans',
  'ledger/audit',
  'access/token-parents',
  'browser/five-minutes',
  'payments/four-eyes',
  'payments/uma',
  'payments/account-types',
].map((name) => path.join(import.meta.dirname, `test/${name}.test.ts`));

/** Starts with the slowest files, so that no worker is still busy with one of them when all others have finished. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => (long.includes(moduleId) ? long.indexOf(moduleId) : long.length);
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/** Test files that mock one of our modules. They run in separate workers, so that no other file gets the mock. */
const mocking = ['test/access/database-wall.test.ts'];

export default defineConfig({
  resolve: {
    // Without this alias, Vitest would load graphql's ES module when it transforms modules, while the libraries load
    // its CommonJS module. Each of the two refuses the other's schemas ("from another module or realm").
    alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }],
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: ['test/soak/**', ...mocking, ...deep],
          // Node itself loads the modules, as in production. This saves a seventh of the whole run's CPU time.
          experimental: { viteModuleRunner: false, nodeLoader: false },
        },
      },
      { extends: true, test: { name: 'apart', include: mocking, isolate: true } },
    ],
    globalSetup: ['test/setup/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // The files in a worker share imported modules, because loading the schema for each file took more than half the
    // time. This is safe: each gateway has its own database, and no module has state that tests could change.
    isolate: false,
    testTimeout: 300_000,
    // Far longer than even a busy machine needs.
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
  },
});
