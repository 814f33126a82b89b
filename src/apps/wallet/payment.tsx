/** A payment in full. Everything except its timeline can be missing, since the lab draws what a document selects. */
export interface DrawnPayment {
  readonly timeline: readonly State[];
  readonly ledgerEntries?: readonly Entry[];
  readonly final?: boolean;
  readonly approvalDueAt?: string | null;
  readonly expectedSettlementAt?: string | null;
  readonly refund?: { readonly settledAt?: string | null } | null;
}

interface State {
  readonly status: string;
  readonly occurredAt: string;
  readonly reason?: string | null;
}

/** An entry of the ledger. A negative amount leaves the account. */
interface Entry {
  readonly kind: string;
  readonly account?: { readonly displayName?: string } | null;
  readonly system?: string | null;
  readonly amount?: {
    readonly amount?: string;
    readonly formatted?: string;
    readonly currency?: { readonly code?: string };
  };
}

/** Draws a payment: its states on a line with their times, what comes next, and its ledger entries as movements. */
export function PaymentDrawing({ payment }: { readonly payment: DrawnPayment }) {
  const { timeline, ledgerEntries = [] } = payment;
  const movements = movementsOf(ledgerEntries);
  const next = nextOf(payment);
  return (
    <figure className="payment" aria-label="The payment">
      <ol className="states">
        {timeline.map(({ status, occurredAt, reason }, index) => (
          <li key={occurredAt + status} data-status={status}>
            <b>{status}</b>
            <time dateTime={occurredAt}>{timeText(occurredAt, timeline[index - 1]?.occurredAt)}</time>
            {reason}
          </li>
        ))}
        {next && <li className="quiet next">{next}</li>}
      </ol>
      {movements.length > 0 && (
        <ul className="legs" aria-label="Movements in the ledger">
          {movements.map(({ kind, from, to, amount }, index) => (
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
      )}
    </figure>
  );
}

/** Says what comes next; undefined if nothing does, or if the document does not select it. */
function nextOf({ timeline, final, approvalDueAt, expectedSettlementAt, refund }: DrawnPayment): string | undefined {
  switch (timeline.at(-1)?.status) {
    case 'CREATED':
    case 'PENDING':
      return approvalDueAt
        ? `Next: an approval, until ${timeText(approvalDueAt)}`
        : 'Next: its execution, or its funds';
    case 'PROCESSING':
      return `Next: delivery${expectedSettlementAt ? `, expected by ${timeText(expectedSettlementAt)}` : ''}`;
    case 'COMPLETED':
      return final === false ? 'Its bank may still return it' : undefined;
    default:
      return refund?.settledAt === null ? 'Next: the refund arrives' : undefined;
  }
}

function timeText(time: string, other = new Date().toISOString()): string {
  const [at, beside] = [new Date(time), new Date(other)];
  const isSameDay = at.toDateString() === beside.toDateString();
  return at.toLocaleString(undefined, { timeStyle: 'medium', ...(!isSameDay && { dateStyle: 'medium' }) });
}

interface Movement {
  readonly kind: string;
  readonly from: string;
  readonly to: string;
  readonly amount: string;
}

/** Pairs what leaves one party with what reaches another: in each currency, the entries of a posting add up to zero. */
function movementsOf(entries: readonly Entry[]): Movement[] {
  const movements: Movement[] = [];
  const open: { readonly entry: Entry; readonly code: string; readonly formatted: string; left: bigint }[] = [];
  for (const entry of entries) {
    const { amount = '', formatted, currency: { code } = {} } = entry.amount ?? {};
    if (!/^-?\d+$/.test(amount) || !formatted || !code) continue;
    const one = { entry, code, formatted, left: BigInt(amount) };
    for (const other of open) {
      if (other.entry.kind !== entry.kind || other.code !== code || one.left * other.left >= 0n) continue;
      const [from, to] = one.left < 0n ? [one, other] : [other, one];
      const sum = one.left + other.left;
      // If both are used up, one of them was part of no other movement: its formatted amount is the amount moved.
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

/** Returns the name of an enum's value in words. */
export function wordOf(value: string): string {
  const words = value
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/^(api|kyc)\b/, (name) => name.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}
