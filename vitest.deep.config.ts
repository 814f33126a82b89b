import { defineConfig } from 'vitest/config';
import base, { deep } from './vitest.config.ts';

const { projects: _ofShortTests, ...shared } = base.test ?? {};

/** The long checks (`npm run test:deep`), with the same worker settings as the short tests. */
export default defineConfig({
  ...base,
  test: { ...shared, include: deep, experimental: { viteModuleRunner: false, nodeLoader: false } },
});
