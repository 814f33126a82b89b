import { audit, auditRules } from '../ledger/audit.ts';
import { runOnDatabase } from './command-line.ts';

// `npm run audit` checks the ledger over all rows. It prints the rows that break a rule, and then exits with 1.
await runOnDatabase(async (database) => {
  const breaches = await audit(database);
  for (const { rule, rows } of breaches) {
    console.error(`BROKEN: ${rule}`);
    for (const row of rows)
      console.error(
        `  ${JSON.stringify(row, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))}`,
      );
  }
  if (breaches.length === 0) console.log(`The ledger is sound: ${auditRules} rules hold over all rows.`);
  return breaches.length === 0 ? 0 : 1;
});
