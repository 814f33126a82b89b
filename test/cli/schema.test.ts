import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { printedSchema } from '../../src/api/graphql/server/schema.ts';
import { type OpsResult, runOps } from '../setup/ops.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'schemas-'));
});
afterEach(() => rm(folder, { recursive: true }));

const breaks = (revision: string) => runOps('postgres://nobody@localhost/none', ['schema', '--breaks', revision]);

/** Writes an earlier schema, which differs from that of today in one place, and compares them. */
async function breaksSince(from: RegExp, to: string): Promise<OpsResult> {
  const earlier = path.join(folder, 'earlier.graphql');
  expect(printedSchema()).toMatch(from);
  await writeFile(earlier, printedSchema().replace(from, to));
  return breaks(earlier);
}

test('the command lists what breaks since an earlier schema, and fails then', async () => {
  const result = await breaksSince(/^type Viewer \{$/m, 'type Viewer {\n  gone: Int');
  expect(result).toEqual({ code: 1, out: '', err: 'Viewer.gone was removed.' });
});

test('what only grows breaks nothing', async () => {
  const result = await breaksSince(/^type Viewer \{\n {2}"""[^"]*"""\n {2}customer: Customer\n/m, 'type Viewer {\n');
  expect(result).toMatchObject({ code: 0, out: expect.stringMatching(/^No breaking changes since /) });
});

test('a revision that there is not is a failure with a sentence', async () => {
  const result = await breaks('no-such-revision');
  expect(result).toMatchObject({ code: 1, err: expect.stringContaining('no git revision') });
});
