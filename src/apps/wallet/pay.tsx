import { useMutation, useQuery } from '@apollo/client/react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import {
  CancelQuote,
  CreateQuote,
  type CreateQuoteMutation,
  ExecuteQuote,
  type ExecuteQuoteMutation,
  PayeePicker,
  type PayeePickerQuery,
  type RefusalCode,
} from '../client/generated/documents.ts';
import { useCountdown, useTransaction } from '../client/react.ts';
import { decimalOf } from './amount.ts';
import { inView, kinds, NewPayee, nameWarning, type Payee } from './payee.tsx';
import { PaymentStatus } from './payment-status.tsx';
import { accountText, breakable, locale, messageText, noConnection, reasonOf, useReconnected } from './service.ts';

type Quoted = Extract<CreateQuoteMutation['createQuote'], { __typename: 'CreateQuoteSuccess' }> & {
  readonly sourceId: string;
  readonly payeeId: string;
  readonly waits: boolean;
};

/** Renders the form for a payment (source account, payee and amount), then the quote, then the payment's progress. */
export function Pay() {
  const { data, fetchMore } = useQuery(PayeePicker, { variables: { locale }, refetchWritePolicy: 'merge' });
  const [createQuote, { loading }] = useMutation(CreateQuote);
  const [validate] = useMutation(ExecuteQuote);
  const [quoted, setQuoted] = useState<Quoted>();
  const [refusal, setRefusal] = useState<{ readonly message: string; readonly isAmount?: boolean }>();
  const [chosen, setChosen] = useState<Payee>();
  const [isAdding, setAdding] = useState(false);
  const customer = data?.viewer.customer;
  const [sourceId, setSource] = useState<string>();
  const sources = customer?.sources.edges.flatMap(({ node }) => ('balance' in node ? [node] : [])) ?? [];
  // Accounts without funds come last, because they cannot pay.
  const isEmpty = ({ balance }: (typeof sources)[number]) => balance.amount === '0';
  const payable = sources.toSorted((a, b) => Number(isEmpty(a)) - Number(isEmpty(b)));
  const listed = customer?.payees.edges.flatMap(({ node }) => ('accountInfo' in node ? [node] : [])) ?? [];
  // The chosen payee may be on a page that has not been loaded.
  const isListed = !chosen || listed.some(({ id }) => id === chosen.id);
  // The chosen payee stays in the list even if it can no longer be paid, so that no other payee takes its place.
  const paid = [...(isListed ? [] : [chosen]), ...listed].filter(
    ({ id, status }) => status === 'ACTIVE' || id === chosen?.id,
  );
  const payees = Map.groupBy(paid, ({ accountInfo }) => accountInfo.accountType);
  const source = payable.find(({ id }) => id === sourceId) ?? payable[0];
  const limits = data && source ? limitsOn(source.balance.currency.code, data.viewer.policies) : [];
  const amountField = useRef<HTMLInputElement>(null);
  const payeeField = useRef<HTMLSelectElement>(null);
  const morePayees = () =>
    fetchMore({ variables: { first: 100, after: customer?.payees.pageInfo.endCursor } }).then(
      () => payeeField.current?.focus(),
      (error) => setRefusal({ message: reasonOf(error) }),
    );
  /** Counts the changes to the fields, so that a response for earlier values is not shown. */
  const changes = useRef(0);
  const drop = () => {
    changes.current += 1;
    setQuoted(undefined);
    setRefusal(undefined);
  };

  useReconnected(() => setRefusal((now) => (now?.message.startsWith(noConnection) ? undefined : now)));
  useEffect(() => {
    if (refusal?.isAmount) amountField.current?.focus();
  }, [refusal]);

  /** Returns what executing a quote would return; undefined if that cannot be determined. */
  async function tryOut(quoteId: string) {
    const answer = await validate({ variables: { input: { quoteId, validateOnly: true } } }).catch(() => undefined);
    return answer?.data?.executeQuote;
  }

  async function quote(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name));
    drop();
    setSource(text('source'));
    setChosen(paid.find(({ id }) => id === text('payee')));
    const before = changes.current;
    const amount = decimalOf(text('amount'), locale);
    const decimals = source?.balance.currency.decimals ?? 0;
    if (amount === undefined || (amount.split('.')[1] ?? '').length > decimals) {
      const digits = { minimumFractionDigits: Math.min(decimals, 2) };
      const example = (decimals > 0 ? 1_234.5 : 1_234).toLocaleString(locale, digits);
      const precision = decimals > 0 ? `with at most ${decimals} decimals` : 'without decimals';
      return setRefusal({ message: `Write the amount like ${example}, ${precision}.`, isAmount: true });
    }
    const input = {
      source: { account: { accountId: text('source') } },
      destination: { account: { accountId: text('payee') } },
      lockedCurrencySide: 'SENDING' as const,
      lockedCurrencyAmount: { decimal: amount },
      idempotencyKey: crypto.randomUUID(),
    };
    try {
      const { data } = await createQuote({ variables: { input, locale } });
      const result = data?.createQuote;
      const tried = result?.__typename === 'CreateQuoteSuccess' ? await tryOut(result.quote.id) : undefined;
      if (changes.current !== before) return;
      // If the exceeded limit is known, the quote is shown anyway, with a message for as long as it exceeds the limit.
      if (tried?.__typename === 'LimitExceededError' && !tried.limit) setRefusal({ message: refusalText(tried) });
      else if (result?.__typename === 'CreateQuoteSuccess') {
        const waits = tried?.__typename === 'ValidatedPayment' && tried.approvalDueAt !== null;
        setQuoted({ ...result, sourceId: text('source'), payeeId: text('payee'), waits });
      } else if (result && 'message' in result) {
        const isAmount = result.fields.some(({ path }) => path.includes('lockedCurrencyAmount'));
        setRefusal({ message: isAmount ? messageText(result.message) : refusalText(result), isAmount });
      }
    } catch (error) {
      if (changes.current === before) setRefusal({ message: reasonOf(error) });
    }
  }

  return (
    <section aria-labelledby="pay">
      <h2 id="pay">Pay</h2>
      <form onSubmit={quote} onChange={drop}>
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
          <select
            name="payee"
            ref={payeeField}
            required
            value={chosen?.id}
            onChange={({ target }) => setChosen(paid.find(({ id }) => id === target.value))}
          >
            {customer && paid.length === 0 && <option value="">No payees yet</option>}
            {/* A closed list cuts off the end of long text, so what distinguishes a person's accounts comes first. */}
            {[...payees].map(([type, accounts]) => (
              <optgroup key={type} label={kinds[type]}>
                {accounts.map(({ id, displayName, currency, maskedNumber }) => (
                  <option key={id} value={id}>
                    {[currency.code, maskedNumber].filter(Boolean).join(' ')} · {displayName}
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
        </label>
        {customer?.payees.pageInfo.hasNextPage && (
          <button type="button" onClick={morePayees}>
            More payees
          </button>
        )}
        <label>
          Amount{source && ` in ${source.balance.currency.code}`}
          <input
            name="amount"
            ref={amountField}
            inputMode="decimal"
            autoComplete="off"
            required
            aria-describedby="left refusal"
            aria-invalid={refusal?.isAmount === true}
          />
        </label>
        <button type="submit" disabled={!customer} aria-busy={loading}>
          Get a quote
        </button>
        {refusal && (
          <p role="alert" id="refusal" ref={inView}>
            {refusal.message}
          </p>
        )}
        <p id="left">{leftText(limits)}</p>
      </form>
      {quoted && (
        <QuoteCard
          key={quoted.quote.id}
          quoted={quoted}
          available={sources.find(({ id }) => id === quoted.sourceId)?.balance}
          limits={limits}
          payee={paid.find(({ id }) => id === quoted.payeeId)}
          onEnd={(message) => {
            drop();
            if (message) setRefusal({ message });
            amountField.current?.focus();
          }}
        />
      )}
      {customer && data.viewer.grants.includes('ADD_BENEFICIARIES') && (
        <details onToggle={({ currentTarget }) => setAdding(currentTarget.open)}>
          <summary id="new-payee">New payee</summary>
          {isAdding && (
            <NewPayee
              customerId={customer.id}
              listed={listed}
              onAdded={(payee) => {
                drop();
                setChosen(payee);
              }}
              // Keeps the quote or payment if the customer has made one in the meantime.
              onChecked={(payee) => quoted || setChosen(payee)}
            />
          )}
        </details>
      )}
    </section>
  );
}

const periods = {
  PAYMENT: 'in one payment',
  DAY: 'left today',
  MONTH: 'left this month',
  LAST_24_HOURS: 'left in 24 hours',
  LAST_30_DAYS: 'left in 30 days',
} as const;

type Limit = Omit<PayeePickerQuery['viewer']['policies'][number]['limits'][number], 'renewsAt'>;

const limitsOn = (currency: string, policies: PayeePickerQuery['viewer']['policies']): Limit[] =>
  policies.flatMap(({ limits }) =>
    limits.filter(({ leftAmount }) => !leftAmount || leftAmount.currency.code === currency),
  );

/** Describes what the limits still allow in each period: "$299.99 and 4 payments left today". */
function leftText(limits: readonly Limit[]): string {
  const all = [...Map.groupBy(limits, ({ period }) => period)].map(([period, limits]) => {
    const left = limits.map(
      ({ leftAmount, leftPayments: count }) => leftAmount?.formatted ?? `${count} payment${count === 1 ? '' : 's'}`,
    );
    return `${left.join(' and ')} ${periods[period]}`;
  });
  return all.join(' · ');
}

const shortText = (available: string) => `The account has only ${available}.`;
const beyondText = (limit: Limit) => `More than your limit allows: ${leftText([limit])}.`;

type Refused = Extract<
  CreateQuoteMutation['createQuote'] | ExecuteQuoteMutation['executeQuote'],
  { readonly message: string }
>;

/** The wallet's own messages for codes that mean that a quote can no longer be paid. */
const endings: { readonly [Code in RefusalCode]?: string } = {
  CUSTOMER_FROZEN: 'Your payments are blocked. Please contact support.',
  ACCOUNT_FROZEN: 'Your account or the payee’s is blocked. Please contact support.',
  USER_NOT_READY: 'You or the payee cannot move money at the moment. Please contact support.',
  INVALID_BANK_ACCOUNT: 'This payee cannot be paid at the moment.',
  AMOUNT_OUT_OF_RANGE: 'The payee cannot receive this amount.',
  LIMIT_EXCEEDED: 'Your limits do not allow this payment.',
};

/** Returns why a payment was refused, with amounts formatted for the reader, unlike those in the service's message. */
function refusalText(refused: Refused): string {
  if ('available' in refused && refused.available) return shortText(refused.available.formatted);
  return 'limit' in refused && refused.limit
    ? beyondText(refused.limit)
    : (endings[refused.code] ?? messageText(refused.message));
}

interface QuoteCardProps {
  readonly quoted: Quoted;
  readonly available: { readonly amount: string; readonly formatted: string } | undefined;
  readonly limits: readonly Limit[];
  readonly payee: Payee | undefined;
  /** Called when the quote is canceled, or with the reason why it can no longer be executed. */
  readonly onEnd: (reason?: string) => void;
}

/** Moves the focus to the element that replaces a button, so that keyboard navigation continues from there. */
export const focused = (element: HTMLElement | null) => element?.focus({ preventScroll: true });

/** Moves the focus to a payment, and keeps its end in view as it grows, because on a phone it is below the quote. */
function followed(element: HTMLElement | null) {
  if (!element) return undefined;
  focused(element);
  const observer = new ResizeObserver(() => inView(element));
  observer.observe(element);
  return () => observer.disconnect();
}

/** Shows a quote with the time left to execute it, and then its payment. */
function QuoteCard({ quoted, available, limits, payee, onEnd }: QuoteCardProps) {
  const { quote, serverTime, waits } = quoted;
  const { amount } = quote.totalSendingAmount;
  const isBeyond = (most: { readonly amount: string }) => BigInt(amount) > BigInt(most.amount);
  const limit = limits.find(
    ({ leftAmount, leftPayments }) => leftPayments === 0 || (leftAmount && isBeyond(leftAmount)),
  );
  const warning = payee && nameWarning(payee);
  const seconds = useCountdown(quote.expiresAt, serverTime);
  // Whether the response to a payment was lost. The payment's stream then shows whether it was made.
  const [isUnclear, setUnclear] = useState(false);
  const { value: payment } = useTransaction(isUnclear ? quote.transaction.id : undefined);
  const [executeQuote, { loading, data, error, reset }] = useMutation(ExecuteQuote, {
    onCompleted({ executeQuote: result }) {
      if ('message' in result && result.code in endings) onEnd(refusalText(result));
    },
    onError: () => setUnclear(true),
  });
  useReconnected(() => error instanceof TypeError && reset());
  const result = data?.executeQuote;
  const isPaid =
    result?.__typename === 'ExecuteQuoteSuccess' || (payment && !['PENDING', 'EXPIRED'].includes(payment.status));
  // A payment whose outcome is awaited may itself be what has lowered the balance.
  const isAwaited = loading || (isUnclear && !payment);
  const short = available && isBeyond(available) ? shortText(available.formatted) : limit && beyondText(limit);
  const tooMuch = isAwaited ? undefined : short;
  const refusal = result && 'message' in result ? refusalText(result) : error && reasonOf(error);
  // Every press uses the same key, so that the quote is paid only once even if a response is lost.
  const key = useRef(crypto.randomUUID());
  const [cancelQuote, { error: notCanceled }] = useMutation(CancelQuote, { onError: () => undefined });
  const problem = tooMuch ?? refusal ?? (notCanceled && reasonOf(notCanceled));
  const isExpired = seconds === 0 && !isAwaited;
  const isOver = tooMuch !== undefined || isExpired;
  const input = { quoteId: quote.id, idempotencyKey: key.current };
  const execute = () => isOver || executeQuote({ variables: { input, locale } });

  /**
   * Cancels the quote or, if it has already been paid from this card, shows the payment. If the request fails, an
   * unpaid quote will expire.
   */
  async function cancel() {
    const isPressed = loading || isUnclear;
    if (!isPressed) onEnd();
    const { data } = await cancelQuote({ variables: { input: { quoteId: quote.id } } });
    if (isPressed && data?.cancelQuote.__typename === 'ConflictError') setUnclear(true);
    else if (isPressed && data) onEnd();
  }

  return (
    <div className="card" ref={inView}>
      <dl>
        <dt>To</dt>
        <dd>{accountText(quote.destination)}</dd>
        <dt>You pay</dt>
        <dd>{breakable(quote.totalSendingAmount.formatted)}</dd>
        <dt>Fees included</dt>
        <dd>{breakable(quote.feesIncluded.formatted)}</dd>
        <dt>They get</dt>
        <dd>
          <strong>{breakable(quote.totalReceivingAmount.formatted)}</strong>
        </dd>
      </dl>
      {isPaid ? (
        <div tabIndex={-1} ref={followed}>
          <PaymentStatus id={quote.transaction.id} />
        </div>
      ) : (
        <>
          {isExpired ? (
            <p role="alert">This quote has expired. Get a new one.</p>
          ) : (
            <p role="timer">Good for {minutesText(seconds)}</p>
          )}
          {warning && <p role="status">{warning}</p>}
          {problem && <p role="alert">{problem}</p>}
          {waits && <p>The payment will wait until somebody else approves it.</p>}
          <p className="buttons">
            <button className="main" type="button" onClick={execute} aria-disabled={isOver} aria-busy={loading}>
              Pay {quote.totalSendingAmount.formatted}
            </button>
            <button type="button" onClick={cancel}>
              Cancel
            </button>
          </p>
        </>
      )}
    </div>
  );
}

/** Formats a number of seconds as minutes: "4:59 min". */
const minutesText = (seconds = 0) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
