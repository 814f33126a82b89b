import type { Database } from '../../infra/database/database.ts';
import type { Prisma } from '../../infra/database/generated/client/client.ts';
import { inTransaction, readClock, type Transaction } from '../../infra/database/transaction.ts';

/** An operator who runs a command that changes something. */
export interface Operator {
  /** The name that the operator gave, or else the login name on the machine. */
  readonly by: string;
  readonly act: string;
  readonly reason?: string | undefined;
}

/** Compares letters and digits, ignoring case, accents and width. In SQL, same_person ignores only case and spaces. */
export function isSamePerson(one: string, other: string): boolean {
  return lettersOf(one) === lettersOf(other);
}

function lettersOf(name: string): string {
  const letters = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
  return letters === '' ? name : letters;
}

/** Thrown if an operator's command is refused. The command had no effect, and the message says why. */
export class RefusedByHand extends Error {}

export interface ActFacts {
  readonly platformId: string | null;
  /** The public id of the row, such as `Customer:…`. */
  readonly subject?: string | undefined;
  /** Contains no secrets. */
  readonly before?: Prisma.InputJsonObject | undefined;
  readonly after?: Prisma.InputJsonObject | undefined;
}

/** Records an operator's action in the transaction that makes the change, so that both are stored or neither is. */
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

/** Makes an operator's change, and records it in the same transaction. `change` gets the database's time. */
export function actByHand(
  database: Database,
  operator: Operator,
  change: (transaction: Transaction, now: Date) => Promise<ActFacts>,
): Promise<void> {
  return inTransaction(database, async (transaction) => {
    const { now } = await readClock(transaction.client);
    await recordAct(transaction, operator, await change(transaction, now));
  });
}
