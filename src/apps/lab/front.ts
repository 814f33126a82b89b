import { follow } from '../client/follow.ts';
import { Moves, type MovesSubscription, StatusCounts, type StatusCountsQuery } from '../client/generated/operations.ts';
import { basicAuthorization, readSettings } from './settings.ts';
import { openSocket } from './socket.ts';

// The live part of the front page: the sandbox's payments by status, and the latest changes.

const shownMoves = 3;
/** The minimum time between two counts, in milliseconds. */
const countEveryMs = 500;

const { sandbox } = readSettings();
const [board, list, connection] = ['statuses', 'moves', 'connection'].map((id) => document.getElementById(id));
if (sandbox) show(basicAuthorization(sandbox.clientId, sandbox.secret));

function show(authorization: string): void {
  const client = openSocket(authorization);
  const say = (state: string) => connection?.replaceChildren(state);
  let isCounting = false;
  let hasMoved = false;
  // Counts again instead of adding up changes: the stream does not start exactly when the totals are read.
  const count = async () => {
    hasMoved = true;
    if (isCounting) return;
    isCounting = true;
    while (hasMoved) {
      hasMoved = false;
      try {
        for await (const { data, errors } of client.iterate<StatusCountsQuery>({ query: StatusCounts })) {
          if (!data) throw errors;
          showTotals(data.transactionTotals);
        }
      } catch (error) {
        console.warn(error);
        hasMoved = true;
      }
      await new Promise((resolve) => setTimeout(resolve, countEveryMs));
    }
    isCounting = false;
  };
  client.on('closed', () => say('not connected'));
  client.on('connected', () => {
    say('');
    void count();
  });
  follow(client, {
    document: Moves,
    variables: {},
    onMessage({ transactionUpdates }) {
      showMove(transactionUpdates);
      void count();
    },
  }).done.catch(console.warn);
}

/** Shows a payment that has changed. */
function showMove({ previousStatus, status, occurredAt, transaction }: MovesSubscription['transactionUpdates']): void {
  const { sentAmount, receivedAmount, customer } = transaction;
  const item = document.createElement('li');
  const [what, state] = [document.createElement('span'), document.createElement('b')];
  what.textContent = [(sentAmount ?? receivedAmount)?.formatted, customer?.name].filter(Boolean).join(' · ');
  state.textContent = previousStatus && previousStatus !== status ? `${previousStatus}\u00a0→\u00a0${status}` : status;
  state.dataset.status = status;
  item.title = new Date(occurredAt).toLocaleString();
  item.append(what, state);
  list?.prepend(item);
  list?.children[shownMoves]?.remove();
  list?.querySelector('#no-moves')?.remove();
}

function showTotals(counts: StatusCountsQuery['transactionTotals']): void {
  for (const item of board?.querySelectorAll<HTMLElement>('[data-status]') ?? []) {
    const number = item.querySelector('strong');
    // The counts are per direction and currency.
    const own = counts.filter(({ status }) => status === item.dataset.status);
    const text = String(own.reduce((sum, { count }) => sum + count, 0));
    // Dims a status that no payment has.
    item.classList.toggle('quiet', text === '0');
    if (!number || number.textContent === text) continue;
    number.textContent = text;
    // The animation plays again only in a new element.
    number.replaceWith(number.cloneNode(true));
  }
  board?.removeAttribute('aria-busy');
}
