import { wordOf } from '../wallet/payment.tsx';

/** A ledger entry. A negative amount is a debit. */
export interface Entry {
  readonly kind: string;
  readonly account?: { readonly displayName?: string } | null;
  readonly system?: string | null;
  readonly amount?: {
    readonly amount?: string;
    readonly formatted?: string;
    readonly currency?: { readonly code?: string };
  };
}

/** Lists a payment's ledger entries as movements from one party to another. */
export function Movements({ entries }: { readonly entries: readonly Entry[] }) {
  return (
    <ul className="legs" aria-label="Movements in the ledger">
      {movementsOf(entries).map(({ kind, from, to, amount }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the ledger only grows
        <li key={index}>
          <small>{wordOf(kind)}</small>
          <span>
            {from} → {to}
          </span>
          <b>{amount}</b>
        </li>
      ))}
    </ul>
  );
}

/** Pairs debits of one party with credits of another. In each currency, the entries of a posting add up to zero. */
function movementsOf(entries: readonly Entry[]) {
  const movements: Readonly<Record<'kind' | 'from' | 'to' | 'amount', string>>[] = [];
  const open: { readonly entry: Entry; readonly code: string; readonly formatted: string; left: bigint }[] = [];
  for (const entry of entries) {
    const { amount = '', formatted, currency: { code } = {} } = entry.amount ?? {};
    if (!/^-?\d+$/.test(amount) || !formatted || !code) continue;
    const one = { entry, code, formatted, left: BigInt(amount) };
    for (const other of open) {
      if (other.entry.kind !== entry.kind || other.code !== code || one.left * other.left >= 0n) continue;
      const [from, to] = one.left < 0n ? [one, other] : [other, one];
      const sum = one.left + other.left;
      // A movement that uses up both entries shows the formatted amount of an entry that it moves in full.
      const isFrom = sum === 0n ? -BigInt(from.entry.amount?.amount ?? '') === to.left : sum > 0n;
      const [less, more] = isFrom ? [from, to] : [to, from];
      movements.push({
        ...{ kind: entry.kind, from: partyOf(from.entry), to: partyOf(to.entry) },
        amount: less.formatted.replace(/[-−]/, ''),
      });
      [less.left, more.left] = [0n, sum];
    }
    open.push(one);
  }
  return movements;
}

const partyOf = ({ account, system }: Entry) => account?.displayName ?? wordOf(system ?? 'ACCOUNT');
