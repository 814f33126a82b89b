import type { Command } from 'commander';
import { audit, auditRules, recordAudit } from '../ledger/audit.ts';
import { printError } from '../print-error.ts';
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
  // What was found is worth more than the note about it, which a full disk refuses.
  const stored = await recordAudit(database, breaches).then(
    () => true,
    (error: unknown) => {
      printError(error);
      return false;
    },
  );
  const sound = breaches.length === 0;
  return {
    data: { sound, rules: auditRules, breaches, stored },
    lines: [
      ...(sound
        ? [`The ledger is sound: ${auditRules} rules hold over all rows.`]
        : breaches.flatMap(({ rule, rows }) => [`BROKEN: ${rule}`, ...rows.map((row) => `  ${jsonOf(row, 0)}`)])),
      ...(stored ? [] : ['This result could not be stored, so metrics show the one before.']),
    ],
    exitCode: sound && stored ? 0 : 1,
  };
}
