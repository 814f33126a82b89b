import type { Prisma } from '../database/generated/client/client.ts';
import type { Transaction } from '../database/transaction.ts';

/** An operator who runs a command that changes something (decision 79). */
export interface Operator {
  /** The name that was given, or that of the login on the machine. */
  readonly by: string;
  /** The command: `token revoke`. */
  readonly act: string;
  readonly reason?: string | undefined;
}

/** What an act was about. */
export interface ActFacts {
  /** Null where it was about no platform. */
  readonly platformId: string | null;
  /** The public id of the row, such as `Customer:…`. */
  readonly subject?: string | undefined;
  /** What was there before and after, where this says something. No secrets. */
  readonly before?: Prisma.InputJsonObject | undefined;
  readonly after?: Prisma.InputJsonObject | undefined;
}

/** Writes the act of an operator in the transaction of what it changes: both are there, or none. */
export async function recordAct(
  { prisma }: Pick<Transaction, 'prisma'>,
  { by, act, reason }: Operator,
  { platformId, subject, before, after }: ActFacts,
): Promise<void> {
  await prisma.operatorAct.create({
    data: {
      platformId,
      operator: by,
      act,
      reason: reason ?? null,
      subject: subject ?? null,
      ...(before && { before }),
      ...(after && { after }),
    },
  });
}
