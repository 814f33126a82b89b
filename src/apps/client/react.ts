import {
  createContext,
  createElement,
  type FunctionComponent,
  type ReactNode,
  useContext,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from 'react';
import {
  FollowTransaction,
  type FollowTransactionSubscription,
  TransactionList,
  type TransactionListSubscription,
  type TransactionListSubscriptionVariables,
} from './generated/operations.ts';
import { applyChanges, type ListMessage, type LiveList, type Row } from './live-list.ts';
import type { Operation } from './operation.ts';
import type { Payments } from './payments.ts';
import type { ConnectionState } from './socket.ts';

const Context = createContext<Payments | undefined>(undefined);

/** Provides the service to the hooks below it. */
export const PaymentsProvider: FunctionComponent<{ payments: Payments; children?: ReactNode }> = ({
  payments,
  children,
}) => createElement(Context.Provider, { value: payments }, children);

/** Returns the client from the nearest PaymentsProvider. Throws if there is none. */
export function usePayments(): Payments {
  const payments = useContext(Context);
  if (!payments) throw new Error('There is no PaymentsProvider above this component.');
  return payments;
}

/** Returns whether the socket is connected, and re-renders when that changes. */
export function useConnectionState(): ConnectionState {
  const { socket } = usePayments();
  return useSyncExternalStore(socket.onState, socket.state, socket.state);
}

/** The state of a stream so far. */
export interface Live<Value> {
  readonly value: Value | undefined;
  /** The error that ended the stream, which is not retried. */
  readonly error: Error | undefined;
  /** Whether the service has completed the stream. */
  readonly isComplete: boolean;
}

const nothing = { value: undefined, error: undefined, isComplete: false };

/**
 * Follows a subscription while the component is mounted, and reduces its messages to a value. Only one stream is open
 * at a time, even under StrictMode. It starts again when the service, the document or the variables change.
 */
export function useFollow<Result, Variables, Value>(
  document: Operation<Result, Variables>,
  variables: Variables | undefined,
  gather: (value: Value | undefined, data: Result) => Value,
): Live<Value> {
  const payments = usePayments();
  const key = variables === undefined ? undefined : JSON.stringify(variables);
  // Identifies the stream, so that the value of an earlier one is not shown.
  const stream = useMemo(() => ({ payments, document, key }), [payments, document, key]);
  const [live, setLive] = useState<Live<Value> & { readonly of?: typeof stream }>(nothing);
  // Messages for an earlier document may still arrive before its stream is stopped.
  const gathered = useEffectEvent((of: typeof document, value: Value | undefined, data: Result) =>
    of === document ? gather(value, data) : value,
  );
  useEffect(() => {
    const { payments, document, key } = stream;
    if (key === undefined) return;
    let value: Value | undefined;
    const show = (change: Partial<Live<Value>>) => setLive({ ...nothing, value, ...change, of: stream });
    const following = payments.follow({
      document,
      // The key is the variables as JSON.
      variables: JSON.parse(key) as Variables,
      onMessage(data) {
        value = gathered(document, value, data);
        show({});
      },
    });
    let isHere = true;
    following.done.then(
      () => isHere && show({ isComplete: true }),
      (error: unknown) => isHere && show({ error: error instanceof Error ? error : new Error(String(error)) }),
    );
    return () => {
      isHere = false;
      following.stop();
    };
  }, [stream]);
  return live.of === stream ? live : nothing;
}

/** A transaction as `FollowTransaction` selects it. */
export type LiveTransaction = FollowTransactionSubscription['transactionUpdates']['transaction'];

/**
 * Follows a transaction until its status is terminal, and returns its newest version. Follows nothing if `id` is
 * undefined. Amounts are formatted for `locale`.
 */
export function useTransaction(id: string | undefined, locale = 'en'): Live<LiveTransaction> {
  return useFollow(
    FollowTransaction,
    id === undefined ? undefined : { id, locale },
    (known: LiveTransaction | undefined, { transactionUpdates: { transaction } }) =>
      known && known.version > transaction.version ? known : transaction,
  );
}

/** A transaction as `TransactionList` selects it. */
export type ListedTransaction = TransactionListSubscription['transactionChanges']['changes'][number]['node'];

/** Follows the first page of a list of transactions, newest first. */
export function useTransactions(variables: TransactionListSubscriptionVariables): Live<LiveList<ListedTransaction>> {
  return useLiveList(TransactionList, variables, (data) => data.transactionChanges, variables.first ?? 20);
}

/** Follows any list that has a `…Changes` subscription with a snapshot. `limit` is the length of the first page. */
export function useLiveList<Result, Variables, R extends Row>(
  document: Operation<Result, Variables>,
  variables: Variables | undefined,
  messageOf: (data: Result) => ListMessage<R>,
  limit: number,
): Live<LiveList<R>> {
  return useFollow(document, variables, (list: LiveList<R> | undefined, data) =>
    applyChanges(list, messageOf(data), limit),
  );
}

/**
 * Returns the number of whole seconds until a time, or 0 once it has passed. Re-renders every second. A wrong clock on
 * the device does not matter, because `serverTime` (`viewer.serverTime` in the same response) corrects it.
 */
export function useCountdown(expiresAt: string | undefined, serverTime: string | undefined): number | undefined {
  const [seconds, setSeconds] = useState<number>();
  // Runs before the first paint, so that the countdown never appears without a time.
  useLayoutEffect(() => {
    if (expiresAt === undefined || serverTime === undefined) return setSeconds(undefined);
    const end = performance.now() + Date.parse(expiresAt) - Date.parse(serverTime);
    let timer: ReturnType<typeof setTimeout>;
    const tick = () => {
      const left = end - performance.now();
      setSeconds(Math.max(0, Math.ceil(left / 1_000)));
      // Waits for the next whole second, so that no second is shown twice or skipped.
      if (left > 0) timer = setTimeout(tick, (left % 1_000) + 1);
    };
    tick();
    return () => clearTimeout(timer);
  }, [expiresAt, serverTime]);
  return seconds;
}
