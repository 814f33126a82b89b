import { useMutation, useQuery } from '@apollo/client/react';
import { type FormEvent, useRef, useState } from 'react';
import {
  CreateQuote,
  type CreateQuoteMutation,
  ExecuteQuote,
  PayeePicker,
  type PayeePickerQuery,
} from '../client/generated/documents.ts';
import { useCountdown, useTransaction } from '../client/react.ts';
import { decimalOf } from './amount.ts';
import { NewPayee } from './payee.tsx';
import { PaymentDrawing } from './payment.tsx';
import { locale, statusText } from './service.ts';

type Quoted = Extract<CreateQuoteMutation['createQuote'], { __typename: 'CreateQuoteSuccess' }>;

/** Makes a payment: source account, payee and amount; then the quote, and its progress. */
export function Pay() {
  const { data } = useQuery(PayeePicker, { variables: { locale } });
  const [createQuote, { loading }] = useMutation(CreateQuote);
  const [quoted, setQuoted] = useState<Quoted & { readonly sourceId: string }>();
  const [refusal, setRefusal] = useState<string>();
  const [payee, setPayee] = useState<string>();
  const [isAdding, setAdding] = useState(false);
  const customer = data?.viewer.customer;
  const [sourceId, setSource] = useState<string>();
  const sources = customer?.sources.edges.flatMap(({ node }) => ('balance' in node ? [node] : [])) ?? [];
  const payable = moneyFirst(sources);
  const source = payable.find(({ id }) => id === sourceId) ?? payable[0];
  const left = data && source ? leftOf(data.viewer.policies, source.balance.currency.code) : [];

  async function quote(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name));
    setQuoted(undefined);
    setRefusal(undefined);
    const amount = decimalOf(text('amount'), locale);
    if (amount === undefined)
      return setRefusal(`Write the amount like ${new Intl.NumberFormat(locale).format(1_234.5)}`);
    const input = {
      source: { account: { accountId: text('source') } },
      destination: { account: { accountId: text('payee') } },
      lockedCurrencySide: 'SENDING' as const,
      // The service knows how many decimal places the currency has.
      lockedCurrencyAmount: { decimal: amount },
      idempotencyKey: crypto.randomUUID(),
    };
    try {
      const { data } = await createQuote({ variables: { input, locale } });
      const result = data?.createQuote;
      if (result?.__typename === 'CreateQuoteSuccess') setQuoted({ ...result, sourceId: text('source') });
      else if (result && 'message' in result) setRefusal(result.message);
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error));
    }
  }

  return (
    <section aria-labelledby="pay">
      <h2 id="pay">Pay</h2>
      <form onSubmit={quote}>
        <label>
          From
          <select name="source" required value={source?.id} onChange={({ target }) => setSource(target.value)}>
            {payable.map((account) => (
              <option key={account.id} value={account.id}>
                {account.displayName} · {account.balance.formatted}
              </option>
            ))}
          </select>
        </label>
        <label>
          To
          <select name="payee" required value={payee} onChange={({ target }) => setPayee(target.value)}>
            {customer?.payees.edges.map(({ node }) => (
              <option key={node.id} value={node.id}>
                {node.displayName} · {node.currency.code} {node.maskedNumber}
                {'accountInfo' in node && ` · ${kindText(node.accountInfo)}`}
              </option>
            ))}
          </select>
        </label>
        <label>
          Amount
          <input
            name="amount"
            inputMode="decimal"
            autoComplete="off"
            required
            aria-describedby={left.length > 0 ? 'left' : undefined}
          />
        </label>
        {left.length > 0 && <p id="left">{left.join(' · ')}</p>}
        <button type="submit" disabled={loading || !customer}>
          Get a quote
        </button>
      </form>
      {refusal !== undefined && <p role="alert">{refusal}</p>}
      {quoted && (
        <QuoteCard
          key={quoted.quote.id}
          quoted={quoted}
          available={sources.find(({ id }) => id === quoted.sourceId)?.balance}
          onRefused={setRefusal}
        />
      )}
      {customer && data.viewer.grants.includes('ADD_BENEFICIARIES') && (
        <details onToggle={({ currentTarget }) => setAdding(currentTarget.open)}>
          <summary id="new-payee">New payee</summary>
          {isAdding && <NewPayee customerId={customer.id} onAdded={setPayee} />}
        </details>
      )}
    </section>
  );
}

const periods = {
  PAYMENT: 'in one payment',
  DAY: 'today',
  MONTH: 'this month',
  LAST_24_HOURS: 'in 24 hours',
  LAST_30_DAYS: 'in 30 days',
} as const;

/** Returns in words how much the customer may still pay in a currency, and how often: "$299.99 left today". */
function leftOf(policies: PayeePickerQuery['viewer']['policies'], currency: string): string[] {
  return policies.flatMap(({ limits }) =>
    limits.flatMap(({ period, leftAmount, leftPayments }) => {
      if (leftAmount?.currency.code === currency) return [`${leftAmount.formatted} left ${periods[period]}`];
      return leftAmount ? [] : [`${leftPayments} payments left ${periods[period]}`];
    }),
  );
}

/** Returns the kind of an account in words: "CAD account", "US account", "IBAN". */
function kindText({ accountType }: { readonly accountType: string }): string {
  const [first, ...rest] = accountType.split('_');
  return [first, ...rest.map((word) => word.toLowerCase())].join(' ');
}

/** Sorts the accounts that hold money before the others, which cannot pay. */
export function moneyFirst<Account extends { readonly balance: { readonly amount: string } }>(
  accounts: readonly Account[],
): Account[] {
  const isEmpty = ({ balance }: Account) => balance.amount === '0';
  return accounts.toSorted((a, b) => Number(isEmpty(a)) - Number(isEmpty(b)));
}

interface QuoteCardProps {
  readonly quoted: Quoted;
  /** The balance of the paying account. */
  readonly available: { readonly amount: string; readonly formatted: string } | undefined;
  readonly onRefused: (message: string) => void;
}

/** Shows a quote with the remaining time to execute it, and then its payment. */
function QuoteCard({ quoted, available, onRefused }: QuoteCardProps) {
  const { quote, serverTime } = quoted;
  const isTooMuch = available !== undefined && BigInt(quote.totalSendingAmount.amount) > BigInt(available.amount);
  const seconds = useCountdown(quote.expiresAt, serverTime);
  const [executeQuote, { loading, data }] = useMutation(ExecuteQuote);
  // Every press uses the same key: even if a response is lost, the quote is paid once.
  const key = useRef(crypto.randomUUID());
  const isExecuted = data?.executeQuote.__typename === 'ExecuteQuoteSuccess';

  async function execute() {
    const input = { quoteId: quote.id, idempotencyKey: key.current };
    try {
      const result = (await executeQuote({ variables: { input, locale } })).data?.executeQuote;
      if (result && 'message' in result) onRefused(result.message);
    } catch (error) {
      onRefused(error instanceof Error ? error.message : String(error));
    }
  }

  return (
    <div className="card">
      <dl>
        <dt>To</dt>
        <dd>{quote.destination.displayName}</dd>
        <dt>You pay</dt>
        <dd>{quote.totalSendingAmount.formatted}</dd>
        <dt>Fees included</dt>
        <dd>{quote.feesIncluded.formatted}</dd>
        <dt>They get</dt>
        <dd>
          <strong>{quote.totalReceivingAmount.formatted}</strong>
        </dd>
      </dl>
      {isExecuted ? (
        <PaymentStatus id={quote.transaction.id} />
      ) : (
        <>
          <p role="timer">{seconds === 0 ? 'This quote has expired.' : `Good for ${seconds ?? '…'} s`}</p>
          {isTooMuch && <p role="alert">The account has only {available.formatted}.</p>}
          <button type="button" onClick={execute} disabled={loading || isTooMuch || seconds === 0}>
            Pay {quote.totalSendingAmount.formatted}
          </button>
        </>
      )}
    </div>
  );
}

/** Shows a payment in full, and follows it. */
export function PaymentStatus({ id }: { id: string }) {
  const { value, error } = useTransaction(id);
  return (
    <div>
      <p role="status" className={value && !error ? 'hidden' : undefined}>
        {error ? error.message : value ? statusText(value) : 'connecting …'}
      </p>
      {value && <PaymentDrawing payment={value} />}
    </div>
  );
}
