import { useQuery } from '@apollo/client/react';
import { useState } from 'react';
import { Statement as StatementQuery } from '../client/generated/documents.ts';
import { locale, timeText } from './service.ts';

/** Shows the last thirty days of an account, up to the moment when it was opened. */
export function Statement({ accountId, onClose }: { accountId: string; onClose: () => void }) {
  const [period] = useState(() => {
    const to = Date.now() + 60_000;
    return { from: new Date(to - 30 * 86_400_000).toISOString(), to: new Date(to).toISOString() };
  });
  const { data, error } = useQuery(StatementQuery, {
    variables: { accountId, ...period, locale },
    fetchPolicy: 'network-only',
  });
  const account = data?.account;
  return (
    <section aria-labelledby="statement" className="card">
      <h2 id="statement">Statement {account && `of ${account.displayName}`}</h2>
      {error && <p role="alert">{error.message}</p>}
      {account && 'statement' in account && (
        <>
          <dl>
            <dt>Balance at the start</dt>
            <dd>{account.statement.openingBalance.formatted}</dd>
            <dt>Came in ({account.statement.credits.count})</dt>
            <dd>{account.statement.credits.amount.formatted}</dd>
            <dt>Went out ({account.statement.debits.count})</dt>
            <dd>{account.statement.debits.amount.formatted}</dd>
            <dt>Balance now</dt>
            <dd>
              <strong>{account.statement.closingBalance.formatted}</strong>
            </dd>
          </dl>
          <BalanceLine opening={account.statement.openingBalance} edges={account.ledgerEntries.edges} />
          <ul className="rows">
            {account.ledgerEntries.edges.map(({ node }) => (
              <li key={node.id}>
                <span>
                  {node.kind} <small>{timeText(node.occurredAt)}</small>
                </span>
                <strong>{node.amount.formatted}</strong>
              </li>
            ))}
          </ul>
        </>
      )}
      <button type="button" onClick={onClose}>
        Close
      </button>
    </section>
  );
}

interface BalanceLineProps {
  readonly opening: { readonly amount: string };
  readonly edges: readonly {
    readonly node: { readonly occurredAt: string; readonly balanceAfter: { readonly amount: string } | null };
  }[];
}

/** Draws the balance from the first entry to the last: a step at each. */
function BalanceLine({ opening, edges }: BalanceLineProps) {
  const times = edges.map(({ node }) => Date.parse(node.occurredAt));
  const balances = [opening, ...edges.map(({ node }) => node.balanceAfter)].map((balance) => Number(balance?.amount));
  const scale = (value: number, values: readonly number[]) => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return most === least ? 50 : ((value - least) / (most - least)) * 100;
  };
  const heights = balances.map((balance) => 100 - scale(balance, balances));
  const steps = times.map((time, index) => `H${scale(time, times) * 0.96 + 2}V${heights[index + 1]}`);
  if (steps.length === 0) return null;
  return (
    <svg
      className="balance"
      viewBox="0 -4 100 108"
      preserveAspectRatio="none"
      role="img"
      aria-label="The balance over time"
    >
      <path d={`M0 ${heights[0]}${steps.join('')}H100`} />
    </svg>
  );
}
