import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { definitionIn } from '../../../src/infra/database/migrations/migration-files.ts';

export interface Change {
  readonly file: string;
  /** The text to replace, which occurs once. */
  readonly find: string;
  readonly put: string;
}

export interface Bug extends Change {
  /** Other changes that belong to the bug, such as removing a second safeguard. */
  readonly also: readonly Change[];
  readonly caughtBy: TestName;
}

export interface TestName {
  readonly file: string;
  readonly title: string;
}

const entry =
  /(?<find>(?:^-.*\n)+)(?<put>(?:^\+.*\n)*)|^also (?<other>\S+)$|^ {2}(?<path>\S+) › (?<title>.+)$|^(?<file>\S+)$/gm;

/** Returns the lines' text without the sign at the start of each line. */
const textOf = (lines: string) => lines.replace(/^./gm, '').slice(0, -1);

/**
 * Returns the bugs in a list. Each bug is described by the file in which it is planted, the test that fails with it
 * (the test's file, and its title as written in the source), the text that is replaced (`-`), and the text that
 * replaces it (`+`). `also` begins another change of the same bug. A function of the database (`prisma/functions/…`) is
 * also changed in the newest migration that contains it, because tests build their databases from the migrations. If
 * the file is `prisma/migrations`, all migrations are searched for the text.
 */
function bugsIn(list: string): Bug[] {
  const bugs: (Bug & { readonly also: Change[] })[] = [];
  let caughtBy: TestName = { file: '', title: '' };
  let file = '';
  let other: string | undefined;
  for (const { groups = {} } of list.matchAll(entry)) {
    const { find, put = '', path, title } = groups;
    if (find !== undefined) {
      const change = { find: textOf(find), put: textOf(put) };
      if (other === undefined) bugs.push({ file, ...change, also: [], caughtBy });
      else bugs.at(-1)?.also.push({ file: other, ...change });
    }
    if (title !== undefined) caughtBy = { file: `test/${path}.test.ts`, title };
    file = groups.file ?? file;
    other = groups.other;
  }
  return bugs;
}

const migrations = 'prisma/migrations';
const functions = 'prisma/functions/';

/**
 * Returns the files that a bug changes, with their new texts.
 * @param root the checkout
 * @throws Error unless each text to be replaced occurs exactly once
 */
export function planted(root: string, { file, find, put, also }: Omit<Bug, 'caughtBy'>): Map<string, string> {
  const files = new Map<string, string>();
  const read = (path: string) => files.get(path) ?? readFileSync(join(root, path), 'utf8');
  for (const change of [{ file, find, put }, ...also]) {
    const path = change.file === migrations ? migrationWith(root, change.find) : change.file;
    const before = read(path);
    const after = replaceOnce(before, change, path);
    files.set(path, after);
    if (!path.startsWith(functions)) continue;
    const definition = definitionIn(before);
    const migration = migrationWith(root, definition);
    files.set(migration, replaceOnce(read(migration), { find: definition, put: definitionIn(after) }, migration));
  }
  return files;
}

function migrationWith(root: string, text: string): string {
  const found = readdirSync(join(root, migrations), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => join(migrations, name))
    .filter((path) => readFileSync(join(root, path), 'utf8').includes(text))
    .at(-1);
  if (found === undefined) throw new Error(`no migration contains: ${text.slice(0, 200)}`);
  return found;
}

function replaceOnce(text: string, { find, put }: Pick<Change, 'find' | 'put'>, path: string): string {
  const [before, after, ...more] = text.split(find);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${path} has a text ${text.split(find).length - 1} times instead of once: ${find.slice(0, 200)}`);
  }
  if (find === put) throw new Error(`nothing is planted in ${path}`);
  return before + put + after;
}

/** A placeholder in the title of a test that runs once for each row: `%s`, `$name` or `${expression}`. */
const placeholder = /%[a-z]|\$\{[^}]*\}|\$[\w.]+/g;

/** Returns the regular expression that matches the titles of all rows for a parameterized title. */
export function titlePattern(title: string): string {
  return title
    .split(placeholder)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
    .join('.*');
}

/** Returns whether a title in the source matches the title of a test that ran. */
export function standsFor(title: string, ran: string): boolean {
  return new RegExp(`^${titlePattern(title)}$`, 's').test(ran);
}

/** All bugs that `npm run soak -- planted` plants, one at a time, each under its own name. */
export const bugs: readonly (Bug & { readonly name: string })[] = globSync(join(import.meta.dirname, '*.diff'))
  .sort()
  .flatMap((list) => bugsIn(readFileSync(list, 'utf8')))
  .map((bug) => {
    const [find, put] = [bug.find, bug.put].map((text) => text.replace(/\s+/g, ' ').trim());
    return { ...bug, name: `${bug.caughtBy.title} (${bug.file}: ${find} → ${put || 'nothing'})` };
  });
