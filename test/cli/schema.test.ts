import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'graphql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { printedSchema } from '../../src/api/graphql/server/schema.ts';
import { undatedDeprecations } from '../../src/ops/schema.ts';
import { type OpsResult, runOps } from '../setup/ops.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'schemas-'));
});
afterEach(() => rm(folder, { recursive: true }));

const breaks = (revision: string) => runOps('postgres://nobody@localhost/none', ['schema', '--breaks', revision]);

/** Writes an earlier schema that differs from the current one in one place, and compares the two. */
async function breaksSince(from: RegExp, to: string): Promise<OpsResult> {
  const earlier = path.join(folder, 'earlier.graphql');
  expect(printedSchema()).toMatch(from);
  await writeFile(earlier, printedSchema().replace(from, to));
  return breaks(earlier);
}

test('the command lists the changes that break clients of an earlier schema, and then fails', async () => {
  const result = await breaksSince(/^type Viewer \{$/m, 'type Viewer {\n  gone: Int');
  expect(result).toEqual({ code: 1, out: 'Viewer.gone was removed.', err: '' });
});

const gone = (reason: string, type = 'Int') =>
  breaksSince(/^type Viewer \{$/m, `type Viewer {\n  gone: ${type} @deprecated(reason: "${reason}")`);

test('a field may be removed after six months of deprecation, but no earlier', async () => {
  expect(await gone('Use kind. Since 2020-02-29.')).toMatchObject({ code: 0 });
  const refused = { code: 1, out: 'Viewer.gone was removed.' };
  const recent = new Date(Date.now() - 175 * 86_400_000).toISOString().slice(0, 10);
  for (const reason of [`Use kind. Since ${recent}.`, 'Use kind.', 'Since 2020-02-29 use kind.'])
    expect({ reason, ...(await gone(reason)) }).toMatchObject({ reason, ...refused });
});

test('a type may be removed together with the last field that returns it', async () => {
  const result = await breaksSince(
    /^type Viewer \{$/m,
    'type Gone {\n  id: ID\n}\n\ntype Viewer {\n  gone: Gone @deprecated(reason: "Use kind. Since 2020-02-29.")',
  );
  expect(result).toMatchObject({ code: 0 });
});

test('a deprecation must state its date', () => {
  const schema = parse(`type Query {
    old: Int @deprecated(reason: "Use new. Since 2027-03-01."), older(a: Int @deprecated): Int @deprecated(reason: "Use new.")
  } enum E { A @deprecated(reason: "Since 2027-03.") B @deprecated(reason: "Since 2027-03-01.") }`);
  expect(undatedDeprecations(schema)).toEqual(['older', 'a', 'A']);
});

test('additions to the schema break nothing', async () => {
  const result = await breaksSince(/^type Viewer \{\n {2}"""[^"]*"""\n {2}customer: Customer\n/m, 'type Viewer {\n');
  expect(result).toMatchObject({ code: 0, out: expect.stringMatching(/^No breaking changes since /) });
});

test('an unknown revision is reported in a single sentence', async () => {
  const result = await breaks('no-such-revision');
  expect(result).toMatchObject({ code: 1, err: expect.stringContaining('neither a file nor a git revision') });
});
