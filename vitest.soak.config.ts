import { defineConfig, mergeConfig } from 'vitest/config';
import base, { memoryDisk } from './vitest.config.ts';

const { projects: _ofShortTests, ...shared } = base.test ?? {};

// The soaks may need more space than an in-memory disk has.
if (process.env.TMPDIR === memoryDisk) delete process.env.TMPDIR;

/** The long tests (`npm run soak`), one file after the other. */
export default mergeConfig(
  { ...base, test: shared },
  defineConfig({
    test: {
      include: ['test/soak/**/*.soak.ts'],
      fileParallelism: false,
      // Some measure the memory of their process.
      isolate: true,
      execArgv: ['--expose-gc'],
      testTimeout: 1_800_000,
      hookTimeout: 600_000,
    },
  }),
);
