import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

// During a rolling upgrade, the previous version runs on the migrated database. A migration must therefore keep
// everything that the previous version uses, and must not require values that the previous version does not write. The
// source code of that version is read from the repository.

const root = path.resolve(import.meta.dirname, '../..');
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
/** Whether the source code of earlier versions is available. Source archives and shallow clones lack it. */
const hasHistory =
  existsSync(path.join(root, '.git')) && git('rev-parse', '--is-shallow-repository').trim() === 'false';

/** A name in `public`. No version directly uses names in other schemas. */
const name = '(?:if exists\\s+)?(?:public\\.)?"?(\\w+)\\b"?(?!\\.)';
/** Statements that remove a name. */
const takesAway = [
  new RegExp(`\\bdrop\\s+(?:function|table|view|type|column)\\s+${name}`, 'gi'),
  new RegExp(`\\brename\\s+(?:column\\s+)?${name}\\s+to\\b`, 'gi'),
  new RegExp(`\\balter\\s+table\\s+${name}\\s+rename\\s+to\\b`, 'gi'),
];
/** A column that must be set in every new row but is unknown to the previous version. */
const demands = /\badd\s+column\s+"?(\w+)"?(?![^,;]*\bdefault\b)[^,;]*\bnot\s+null\b/gi;

const namesIn = (sql: string, ...patterns: readonly RegExp[]) =>
  patterns.flatMap((pattern) => [...sql.matchAll(pattern)].map(([, found = '']) => found));

/** Returns whether the word occurs in a revision's source code or tables. */
function uses(revision: string, word: string): boolean {
  try {
    git('grep', '-qwi', word, revision, '--', 'src', 'prisma/schema.prisma');
    return true;
  } catch (error) {
    if ((error as { status?: number }).status === 1) return false;
    throw error;
  }
}

/** Returns what a migration breaks for the previous version. */
const breaks = (sql: string, before: string) => {
  const text = sql.replace(/--[^\n]*/g, '');
  const views = namesIn(text, new RegExp(`\\bcreate\\s+view\\s+${name}`, 'gi'));
  return [
    // A view may take the place of a renamed table.
    ...namesIn(text, ...takesAway).filter((word) => !views.includes(word) && uses(before, word)),
    ...namesIn(text, demands).map((column) => `${column} has no default`),
  ];
};

/** Returns the revision before the one that added a migration, or the current one if it is not committed yet. */
function revisionBefore(migration: string): string {
  const added = git('log', '-1', '--format=%H', '--diff-filter=A', '--', `prisma/migrations/${migration}`).trim();
  return added ? `${added}^` : 'HEAD';
}

const [first, ...later] = readdirSync(path.join(root, 'prisma/migrations'))
  .filter((entry) => /^\d+_/.test(entry))
  .sort();

describe.runIf(hasHistory)('the previous version works on the migrated database', () => {
  test.each(later)('%s', (migration) => {
    const sql = readFileSync(path.join(root, 'prisma/migrations', migration, 'migration.sql'), 'utf8');
    expect(breaks(sql, revisionBefore(migration))).toEqual([]);
  });

  test('a migration that removes names in use, or requires unknown columns, is detected', () => {
    const sql = `drop function if exists commit_batches(jsonb);
      alter table "quote" drop column "expires_at", add column "color" text not null;
      alter table platform rename to tenant; drop function never_heard_of();
      alter table event rename to happening; create view "event" as select * from happening;
      alter table "quote" add column "size" int not null default 1;`;
    expect(breaks(sql, 'HEAD')).toEqual(['commit_batches', 'expires_at', 'platform', 'color has no default']);
    expect(first).toMatch(/_init$/);
  });
});
