import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

/** `npm run soak`: what takes too long for every day. */
const { exclude: _everyDay, include: _all, ...shared } = base.test ?? {};

export default mergeConfig(
  { ...base, test: shared },
  defineConfig({ test: { include: ['test/soak/**/*.test.ts'], fileParallelism: false } }),
);
