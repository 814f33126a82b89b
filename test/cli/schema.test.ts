import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runSchemaCommand } from '../../src/cli/schema.ts';
import { printedSchema } from '../../src/graphql/server/schema.ts';

let folder: string;
let printed: string[];
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'schemas-'));
  printed = [];
  for (const name of ['log', 'error'] as const)
    vi.spyOn(console, name).mockImplementation((line) => void printed.push(line));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

/** Writes an earlier schema, which differs from that of today in one place, and compares them. */
async function breaksSince(from: RegExp, to: string): Promise<number> {
  const earlier = path.join(folder, 'earlier.graphql');
  expect(printedSchema()).toMatch(from);
  await writeFile(earlier, printedSchema().replace(from, to));
  return runSchemaCommand(['--breaks', earlier]);
}

test('the command lists what breaks since an earlier schema, and fails then', async () => {
  expect(await breaksSince(/^type Viewer \{$/m, 'type Viewer {\n  gone: Int')).toBe(1);
  expect(printed.join()).toBe('Viewer.gone was removed.');
});

test('what only grows breaks nothing', async () => {
  expect(await breaksSince(/^type Viewer \{\n {2}"""[^"]*"""\n {2}customer: Customer\n/m, 'type Viewer {\n')).toBe(0);
  expect(printed.join()).toMatch(/^Nothing breaks since /);
});

test('a revision that there is not is a failure with a sentence', async () => {
  expect(await runSchemaCommand(['--breaks', 'no-such-revision'])).toBe(1);
  expect(printed.join()).toContain('no git revision');
});
