import { useQuery } from '@apollo/client/react';
import { useState } from 'react';
import { type StatementQuery as StatementData, Statement as StatementQuery } from '../client/generated/documents.ts';
import { More, partyText } from './history.tsx';
import { wordOf } from './payment.tsx';
import { breakable, locale, reasonOf, timeText } from './service.ts';

/** Opens a dialog as soon as it is on the page. When it is closed, the focus returns to the element that opened it. */
function open(dialog: HTMLDialogElement | null): void {
  if (dialog && !dialog.open) dialog.showModal();
}

/** An account in the list of balances. */
export interface Listed {
  readonly id: string;
  readonly displayName: string;
}

/** Shows the last thirty days of an account, up to the moment when the statement was opened. */
export function Statement({ of, onClose }: { of: Listed; onClose: () => void }) {
  const [period] = useState(() => {
    const to = Date.now() + 60_000;
    return { from: new Date(to - 30 * 86_400_000).toISOString(), to: new Date(to).toISOString() };
  });
  const { data, error, loading, fetchMore } = useQuery(StatementQuery, {
    variables: { accountId: of.id, ...period, locale },
    fetchPolicy: 'network-only',
    notifyOnNetworkStatusChange: true,
  });
  const account = data?.account;
  return (
    <dialog className="card" aria-labelledby="statement" onClose={onClose} ref={open}>
      <header>
        <h2 id="statement">Statement of {of.displayName}</h2>
        <button type="button" onClick={({ currentTarget }) => currentTarget.closest('dialog')?.close()}>
          Close
        </button>
      </header>
      {error && <p role="alert">{reasonOf(error)}</p>}
      {account && 'statement' in account && (
        <>
          <dl>
            <dt>Balance 30 days ago</dt>
            <dd>{breakable(account.statement.openingBalance.formatted)}</dd>
            <dt>Came in ({account.statement.credits.count})</dt>
            <dd>{breakable(account.statement.credits.amount.formatted)}</dd>
            <dt>Went out ({account.statement.debits.count})</dt>
            <dd>{breakable(account.statement.debits.amount.formatted)}</dd>
            <dt>Balance now</dt>
            <dd>
              <strong>{breakable(account.statement.closingBalance.formatted)}</strong>
            </dd>
          </dl>
          <BalanceLine edges={account.ledgerEntries.edges} to={Date.parse(period.to)} />
          {account.ledgerEntries.edges.length === 0 && <p>Nothing in these 30 days.</p>}
          <ul className="rows">
            {account.ledgerEntries.edges.map(({ node }) => {
              // A credit for an outgoing payment, such as a refund, does not come from the counterparty.
              const isIn = !node.amount.amount.startsWith('-');
              const isToOther = node.transaction && isIn === (node.transaction.type === 'INCOMING');
              const party = node.transaction ? [partyText(node.transaction)] : [];
              const [title, ...details] = isToOther ? [...party, wordOf(node.kind)] : [wordOf(node.kind), ...party];
              return (
                <li key={node.id}>
                  <span>
                    {title}
                    <small>{[...details, timeText(node.occurredAt)].join(' · ')}</small>
                  </span>
                  <strong>{breakable(node.amount.formatted)}</strong>
                </li>
              );
            })}
          </ul>
          <More page={account.ledgerEntries.pageInfo} {...{ loading, fetchMore }} />
        </>
      )}
    </dialog>
  );
}

type Entries = Extract<StatementData['account'], { readonly statement: unknown }>['ledgerEntries'];

/** Draws the balance from the oldest listed entry until now, with a step at each entry. */
function BalanceLine({ edges, to }: Pick<Entries, 'edges'> & { readonly to: number }) {
  const entries = edges.flatMap(({ node }) => (node.balanceAfter ? [{ ...node, after: node.balanceAfter }] : []));
  const oldest = entries.at(-1);
  if (!oldest) return null;
  entries.reverse();
  const times = entries.map(({ occurredAt }) => Date.parse(occurredAt));
  const before = Number(oldest.after.amount) - Number(oldest.amount.amount);
  const balances = [before, ...entries.map(({ after }) => Number(after.amount))];
  const scale = (value: number, values: readonly number[]) => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return most === least ? 50 : ((value - least) / (most - least)) * 100;
  };
  const heights = balances.map((balance) => 100 - scale(balance, balances));
  const steps = times.map((time, index) => `H${scale(time, [...times, to]) * 0.96 + 2}V${heights[index + 1]}`);
  return (
    <figure className="balance">
      <svg viewBox="0 -4 100 108" preserveAspectRatio="none" role="img" aria-label="The balance over time">
        <path d={`M0 ${heights[0]}${steps.join('')}H100`} />
      </svg>
      <figcaption>
        <span>{timeText(oldest.occurredAt)}</span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}
