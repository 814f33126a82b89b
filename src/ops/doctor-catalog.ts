import { oncePer } from '../core/once-per.ts';
import { type Catalog, expectedCatalog, readCatalog } from '../infra/database/migrations/catalog.ts';
import { hasNewerMigrations } from '../infra/database/migrations/migrate.ts';
import type { Checks, Patient, Verdicts } from './doctor-checks.ts';

/** The check for each kind of fact, by the fact's first word. */
const kinds = {
  objects: ['there'],
  rights: ['right'],
  'row security': ['policy', 'row-level'],
  triggers: ['trigger', 'triggers'],
  functions: ['body', 'security'],
  columns: ['columns'],
  constraints: ['constraint'],
  indexes: ['index', 'unique'],
} as const;
type Kind = keyof typeof kinds;

const dangers: Readonly<Record<Kind, string>> = {
  objects: 'the service cannot work without it',
  rights: 'requests fail, or the restrictions of docs/database-roles.md do not hold',
  'row security': "platforms may see each other's data, or none at all",
  triggers: 'balances are not updated, events not written, or rules of the ledger not enforced',
  functions: 'money moves by different rules',
  columns: 'statements fail, or store wrong data',
  constraints: 'invalid rows can be stored, or valid ones cannot',
  indexes: 'reads are slow, or commands are refused',
};

const kindOf = (fact: string): Kind =>
  (Object.keys(kinds) as Kind[]).find((kind) =>
    (kinds[kind] as readonly string[]).includes(fact.split(' ', 1)[0] ?? ''),
  ) ?? 'objects';

/**
 * Compares the database with the catalog of the migrations, once for all checks. Undefined if a newer version has
 * migrated it.
 */
const differencesOf = oncePer(async ({ database }: Patient) => {
  if (await hasNewerMigrations(database.pool)) return undefined;
  const expected = await expectedCatalog();
  const found: Catalog = await readCatalog(database.pool);
  const different = new Map<Kind, string[]>();
  const note = (kind: Kind, words: string) => different.set(kind, [...(different.get(kind) ?? []), words]);
  for (const [object, facts] of Object.entries(expected)) {
    const there = found[object];
    if (there === undefined) {
      note('objects', `${object} is missing`);
      continue;
    }
    for (const fact of facts) {
      if (there.includes(fact)) continue;
      if (/^(body|columns) /.test(fact)) note(kindOf(fact), `${object} differs in its ${fact.split(' ', 1)[0]}`);
      else note(kindOf(fact), `${object} lacks the ${fact}`);
    }
    // An additional index only makes reads faster.
    for (const fact of there) {
      if (!facts.includes(fact) && !/^(body|columns|index) /.test(fact))
        note(kindOf(fact), `${object} has the additional ${fact}`);
    }
  }
  return different;
});

function verdictOf(kind: Kind): (patient: Patient) => Promise<Verdicts> {
  return async (patient) => {
    const different = await differencesOf(patient);
    if (different === undefined) return ['skipped', 'a newer version has migrated the database'];
    const words = different.get(kind) ?? [];
    if (words.length === 0) return ['ok', 'as the migrations define them'];
    const shown = [...words.slice(0, 5), ...(words.length > 5 ? [`and ${words.length - 5} more`] : [])].join('; ');
    return [
      'fault',
      `${shown}: ${dangers[kind]}. The database was changed by hand, or restored incompletely. Repair it as its owner: docs/night.md, "The database has been changed by hand"`,
    ];
  };
}

/** The checks that compare what Postgres reports about tables and functions with what the migrations define. */
export const catalogChecks: Checks<Patient> = Object.fromEntries(
  (Object.keys(kinds) as Kind[]).map((kind) => [kind, verdictOf(kind)]),
);
