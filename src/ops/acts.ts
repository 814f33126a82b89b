import { type Answer, listed } from '../apps/terminal/answer.ts';
import { counted, type Program } from '../apps/terminal/program.ts';
import { publicId } from '../core/ids.ts';
import type { Prisma } from '../infra/database/generated/client/client.ts';
import { platformNamed } from './platforms.ts';
import { momentIn, type Tools, withDatabase } from './tools.ts';

export function addActs(program: Program): void {
  program
    .command('acts')
    .description(
      'list what operators did with these commands, latest first; --json includes the state before and after',
    )
    .option('--platform <name>', 'on this platform')
    .option('--by <name>', 'by this operator')
    .option('--act <command>', 'with this command: customer, or "customer freeze"')
    .option('--subject <id>', 'on this row, such as Customer:…')
    .option('--from <time>', 'from this time on, such as 2026-01-01T00:00:00Z', momentIn)
    .option('--to <time>', 'before this time', momentIn)
    .option('--limit <count>', 'the maximum number to list', counted(1, 10_000), 100)
    .action(withDatabase(list));
}

interface Filter {
  readonly platform?: string;
  readonly by?: string;
  readonly act?: string;
  readonly subject?: string;
  readonly from?: Date;
  readonly to?: Date;
  readonly limit: number;
}

async function list({ database }: Tools, { platform, by, act, subject, from, to, limit }: Filter): Promise<Answer> {
  const where: Prisma.OperatorActWhereInput = {
    ...(platform !== undefined && { platformId: (await platformNamed(database, platform)).platformId }),
    ...(by !== undefined && { operator: by }),
    ...(act !== undefined && { OR: [{ act }, { act: { startsWith: `${act} ` } }] }),
    ...(subject !== undefined && { subject }),
    at: { ...(from && { gte: from }), ...(to && { lt: to }) },
  };
  const acts = await database.prisma.operatorAct.findMany({
    where,
    orderBy: { id: 'desc' },
    take: limit,
    include: { platform: { select: { name: true } } },
  });
  const rows = acts.map((one) => ({
    at: one.at,
    by: one.operator,
    act: one.act,
    subject: one.subject,
    platform: one.platform?.name ?? null,
    reason: one.reason,
  }));
  const data = acts.map(({ id, platformId, before, after }, position) => ({
    ...rows[position],
    id,
    platformId: platformId && publicId('Platform', platformId),
    before,
    after,
  }));
  return { ...listed(rows, 'No act matches.'), data };
}
