import { createClient } from 'graphql-ws';
import { resumingClient } from '../client/resume.ts';
import { basicAuthorization, readSettings } from './settings.ts';

// The part of the front page that is alive: the sandbox's payments by status, and the last that moved.

const totals = `query { viewer { feedCursor } transactionTotals { status count } }`;

interface Totals {
  readonly viewer: { readonly feedCursor: string };
  readonly transactionTotals: readonly { readonly status: string; readonly count: number }[];
}

const moves = `subscription ($after: String) {
  transactionUpdates(after: $after) {
    cursor previousStatus status occurredAt
    transaction { type sentAmount { formatted } receivedAmount { formatted } customer { name } }
  }
}`;

interface Moves {
  readonly transactionUpdates: {
    readonly previousStatus: string | null;
    readonly status: string;
    readonly occurredAt: string;
    readonly transaction: {
      readonly type: string;
      readonly sentAmount: { readonly formatted: string } | null;
      readonly receivedAmount: { readonly formatted: string } | null;
      readonly customer: { readonly name: string } | null;
    };
  };
}

const shownMoves = 5;

const { sandbox } = readSettings();
const [board, list, empty] = ['statuses', 'moves', 'no-moves'].map((id) => document.getElementById(id));
if (sandbox) await follow(basicAuthorization(sandbox.clientId, sandbox.secret));

async function follow(authorization: string): Promise<void> {
  const client = createClient({
    url: new URL('graphql', location.href).href.replace('http', 'ws'),
    connectionParams: { authorization },
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
  });
  for await (const { data } of client.iterate<Totals>({ query: totals })) {
    if (!data) return;
    for (const { status, count } of data.transactionTotals) add(status, count);
    board?.removeAttribute('aria-busy');
    resumingClient(client).subscribe<Moves>(
      { query: moves, variables: { after: data.viewer.feedCursor } },
      { next: ({ data }) => data && show(data.transactionUpdates), error: console.warn, complete: () => undefined },
    );
  }
}

/** Moves a payment from one status to another. */
function show({ previousStatus, status, occurredAt, transaction }: Moves['transactionUpdates']): void {
  if (previousStatus) add(previousStatus, -1);
  add(status, 1);
  const { sentAmount, receivedAmount, customer } = transaction;
  const item = document.createElement('li');
  const [what, state] = [document.createElement('span'), document.createElement('b')];
  what.textContent = [(sentAmount ?? receivedAmount)?.formatted, customer?.name].filter(Boolean).join(' · ');
  state.textContent = previousStatus && previousStatus !== status ? `${previousStatus} → ${status}` : status;
  state.dataset.status = status;
  item.title = new Date(occurredAt).toLocaleString();
  item.append(what, state);
  list?.prepend(item);
  list?.children[shownMoves]?.remove();
  if (empty) empty.hidden = true;
}

function add(status: string, count: number): void {
  const number = board?.querySelector(`[data-status=${status}] strong`);
  if (!number) return;
  number.textContent = String(Number(number.textContent) + count);
  // A status that no payment has is no cause for joy or alarm.
  number.parentElement?.classList.toggle('quiet', number.textContent === '0');
  // A new element, which begins its animation.
  number.replaceWith(number.cloneNode(true));
}
