import { inspect } from 'node:util';
import { type Answer, Failure, jsonOf, listed } from '../apps/terminal/answer.ts';
import { counted, type Program } from '../apps/terminal/program.ts';
import { publicId } from '../core/ids.ts';
import { type Audit, auditRules, ReplicaUnfit, runAudit } from '../domain/ledger/audit.ts';
import type { Config } from '../server/config.ts';
import { messageForUser } from '../server/print-error.ts';
import { addCommand, type Tools } from './tools.ts';

export function addAudit(program: Program): void {
  addCommand(program, 'audit', auditLedger)
    .description('check the ledger: print the rows that break a rule, and exit with 1 if there are any')
    .option('--full', 'check all rows, not only those that are new or could have changed since the last sound audit')
    .option(
      '--replica [number]',
      'read from the replica with this number in DATABASE_READ_URL (default: the first)',
      counted(1, 9_999),
    );
}

async function auditLedger(
  { config, database, screen }: Tools,
  { full, replica }: { readonly full?: true; readonly replica?: number | true },
): Promise<Answer> {
  const result = await runAudit(database, {
    full,
    replica: replica === undefined ? undefined : addressOf(config, replica === true ? 1 : replica),
    onProgress: (line) => process.stderr.isTTY && screen.err(line),
  }).catch((error: unknown) => {
    throw error instanceof ReplicaUnfit ? new Failure(error.message) : error;
  });
  const { breaches, storeError, isCheckpoint, ...covers } = result;
  if (storeError !== undefined) screen.err(messageForUser(storeError) ?? inspect(storeError));
  const sound = breaches.length === 0;
  const stored = storeError === undefined;
  return {
    data: { sound, rules: auditRules, breaches, stored, isCheckpoint, onReplica: replica !== undefined, ...covers },
    lines: [
      ...(sound
        ? [soundness(result)]
        : breaches.flatMap(({ rule, rows }) => [`BROKEN: ${rule}`, ...rows.map((row) => `  ${jsonOf(row, 0)}`)])),
      ...(result.whyAll === null ? [] : [`All rows were checked: ${result.whyAll}.`]),
      ...(stored ? [] : ['The result could not be stored, so metrics still show the previous one.']),
      ...(sound && stored && !isCheckpoint
        ? ['Another audit has stored a checkpoint in the meantime: the next audit continues from it.']
        : []),
    ],
    exitCode: sound && stored ? 0 : 1,
  };
}

function soundness({ coversFrom, coversUntil }: Audit): string {
  const rows = coversFrom
    ? `rows that are new or could have changed since the last sound audit at ${coversFrom.toISOString()}`
    : 'all rows';
  return `The ledger is sound: ${auditRules} rules hold for ${rows}. The audit covers everything committed before ${coversUntil.toISOString()}.`;
}

function addressOf({ DATABASE_READ_URL: urls }: Config, number: number): string {
  const address = urls[number - 1];
  if (address === undefined) throw new Failure(`DATABASE_READ_URL has no replica number ${number}.`);
  return address;
}

export function addActs(program: Program): void {
  addCommand(program, 'acts', listActs)
    .description(
      'list what operators did with these commands, latest first; --json includes the state before and after',
    )
    .option('--subject <id>', 'on this row, such as Customer:…')
    .option('--limit <count>', 'the maximum number to list', counted(1, 10_000), 100);
}

async function listActs({ database }: Tools, { subject, limit }: { subject?: string; limit: number }): Promise<Answer> {
  const acts = await database.prisma.operatorAct.findMany({
    where: subject === undefined ? {} : { subject },
    orderBy: { id: 'desc' },
    take: limit,
    include: { platform: { select: { name: true } } },
  });
  const data = acts.map(({ operator: by, platform, platformId, ...act }) => {
    return { ...act, by, platform: platform?.name ?? null, platformId: platformId && publicId('Platform', platformId) };
  });
  const rows = data.map(({ at, by, act, subject, platform, reason }) => ({ at, by, act, subject, platform, reason }));
  return { ...listed(rows, 'No act matches.'), data };
}
