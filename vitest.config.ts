import path from 'node:path';
import { defineConfig } from 'vitest/config';

// Processes that tests start, some hundred of them, share the compiled form of what they load.
process.env.NODE_COMPILE_CACHE ??= path.join(import.meta.dirname, 'node_modules/.cache/compiled');

/** Test files that replace a module of the program. They have workers of their own: others would get what they replaced. */
const mocking = ['test/access/database-wall.test.ts'];

export default defineConfig({
  resolve: {
    // Where it transforms modules, Vitest would load the ES module of graphql while the libraries load its CommonJS twin, and the two refuse each
    // other's schemas ("from another module or realm").
    alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }],
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: ['test/soak/**', ...mocking],
          // Node loads the modules itself, as in production: a seventh less CPU for the whole run than through Vitest.
          experimental: { viteModuleRunner: false, nodeLoader: false },
        },
      },
      { extends: true, test: { name: 'apart', include: mocking, isolate: true } },
    ],
    globalSetup: ['test/setup/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 4,
    // Files of one worker share what they import: loading the schema anew for each took more than half of the time.
    // Each gateway has a database of its own, and modules keep nothing that one test could change for another.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 60_000,
  },
});
