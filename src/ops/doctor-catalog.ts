import { oncePer } from '../core/once-per.ts';
import { type Catalog, expectedCatalog, readCatalog } from '../infra/database/migrations/catalog.ts';
import { hasNewerMigrations } from '../infra/database/migrations/migrate.ts';
import type { Checks, Patient, Verdicts } from './doctor-server.ts';

/** The checks, each with a pattern for the facts that it covers, and the danger posed by a difference. */
const kinds: Readonly<Record<string, readonly [facts: RegExp, danger: string]>> = {
  objects: [/^there\b/, 'the service cannot work without it'],
  rights: [/^right\b/, 'requests fail, or the restrictions of docs/database-roles.md do not hold'],
  'row security': [/^(policy|row-level)\b/, "platforms may see each other's data, or none at all"],
  triggers: [/^triggers?\b/, 'balances are not updated, events not written, or rules of the ledger not enforced'],
  functions: [/^(body|security)\b/, 'money moves by different rules'],
  columns: [/^columns\b/, 'statements fail, or store wrong data'],
  constraints: [/^constraint\b/, 'invalid rows can be stored, or valid ones cannot'],
  indexes: [/^(index|unique)\b/, 'reads are slow, or commands are refused'],
};

/** Compares the database with the catalog, once for all checks; undefined if a newer version migrated the database. */
const differencesOf = oncePer(async ({ database }: Patient) => {
  if (await hasNewerMigrations(database.pool)) return undefined;
  const expected = await expectedCatalog();
  const found: Catalog = await readCatalog(database.pool);
  const different = new Map<string, string[]>();
  const note = (fact: string, words: string) => {
    const kind = Object.keys(kinds).find((one) => kinds[one]?.[0].test(fact)) ?? 'objects';
    different.set(kind, [...(different.get(kind) ?? []), words]);
  };
  for (const [object, facts] of Object.entries(expected)) {
    const there = found[object];
    if (there === undefined) {
      note('there', `${object} is missing`);
      continue;
    }
    for (const fact of facts) {
      if (there.includes(fact)) continue;
      if (/^(body|columns) /.test(fact)) note(fact, `${object} differs in its ${fact.split(' ', 1)[0]}`);
      else note(fact, `${object} lacks the ${fact}`);
    }
    // An additional index is harmless to the service.
    for (const fact of there) {
      if (!facts.includes(fact) && !/^(body|columns|index) /.test(fact))
        note(fact, `${object} has the additional ${fact}`);
    }
  }
  return different;
});

function verdictOf(kind: string, danger: string): (patient: Patient) => Promise<Verdicts> {
  return async (patient) => {
    const different = await differencesOf(patient);
    if (different === undefined) return ['skipped', 'a newer version has migrated the database'];
    const words = different.get(kind) ?? [];
    if (words.length === 0) return ['ok', 'as the migrations define them'];
    const shown = [...words.slice(0, 5), ...(words.length > 5 ? [`and ${words.length - 5} more`] : [])].join('; ');
    return [
      'fault',
      `${shown}: ${danger}. The database was changed by hand, or restored incompletely. Repair it as its owner: docs/night.md, "The database has been changed by hand"`,
    ];
  };
}

/** The checks that compare what Postgres reports about tables and functions with what the migrations define. */
export const catalogChecks: Checks<Patient> = Object.fromEntries(
  Object.entries(kinds).map(([kind, [, danger]]) => [kind, verdictOf(kind, danger)]),
);
