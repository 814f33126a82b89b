import type { Command } from 'commander';
import { audit, auditRules } from '../ledger/audit.ts';
import type { Answer } from './answer.ts';
import { jsonOf } from './answer.ts';
import { type Tools, withDatabase } from './command-line.ts';

/** Adds the command that proves the ledger. */
export function addAudit(program: Command): void {
  program
    .command('audit')
    .description('check the ledger over all rows; rows that break a rule are printed, and the exit code is 1')
    .action(withDatabase(run));
}

async function run({ database, progress }: Tools): Promise<Answer> {
  let checked = 0;
  const breaches = await audit(database, (rule) => {
    checked += 1;
    progress(`${checked} of ${auditRules}: ${rule}`);
  });
  const sound = breaches.length === 0;
  return {
    data: { sound, rules: auditRules, breaches },
    lines: sound
      ? [`The ledger is sound: ${auditRules} rules hold over all rows.`]
      : breaches.flatMap(({ rule, rows }) => [`BROKEN: ${rule}`, ...rows.map((row) => `  ${jsonOf(row, 0)}`)]),
    exitCode: sound ? 0 : 1,
  };
}
