import { defineConfig, mergeConfig } from 'vitest/config';
import base, { longer, memoryDisk } from './vitest.config.ts';

const { projects: _ofShortTests, ...shared } = base.test ?? {};

// Soaks may need more space than an in-memory disk has.
if (process.env.TMPDIR === memoryDisk) delete process.env.TMPDIR;

for (const [name, value] of Object.values(longer)) process.env[name] ??= value;

/** The soak tests (`npm run soak`), one file at a time. */
export default mergeConfig(
  { ...base, test: shared },
  defineConfig({
    test: {
      include: ['test/soak/**/*.soak.ts', ...Object.keys(longer).map((name) => `test/${name}.test.ts`)],
      fileParallelism: false,
      // Some soaks measure how much memory their process uses.
      isolate: true,
      execArgv: ['--expose-gc'],
      testTimeout: 1_800_000,
      hookTimeout: 600_000,
    },
  }),
);
