import type { Data } from './gateway.ts';
import type { Scene } from './scene.ts';

/** The transaction fields that tests examine. */
export const transactionFields = `
  id status type failureReason sentAmount { amount } receivedAmount { amount currency { code } }
  source { __typename ... on AccountSource { accountId } ... on UmaSource { umaAddress } }
  destination { __typename ... on AccountDestination { accountId } ... on UmaDestination { umaAddress } }
  refund { reference amount { amount } initiatedAt settledAt } counterpartyInformation { name value } customer { id } quote { status }
  timeline { status reason } ledgerEntries { amount { amount currency { code } } account { id } system }
  expectedSettlementAt settledAt description requestedReceiverInformation { name mandatory } approvalDueAt reconciliationReference`;

/** Returns the expected fields of a refusal: its code, and the path of the refused input. */
export const refusal = (code: string, ...path: readonly (string | number)[]) => ({ code, path: ['input', ...path] });

/** Builds the input for a transfer between two accounts. The amount is in the currency's smallest unit. */
export function moving(sourceAccountId: string, destinationAccountId: string, amount: number | bigint, rest = {}) {
  return { sourceAccountId, destinationAccountId, amount: { units: amount }, ...rest };
}

/** Builds the input for a quote that sends `amount`, in the currency's smallest unit, unless `rest` says otherwise. */
export function between(from: string, to: string, amount: number | bigint, rest: object = {}): object {
  return {
    source: { account: { accountId: from } },
    destination: { account: { accountId: to } },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: { units: amount },
    ...rest,
  };
}

/** Builds the input for a 10-dollar quote to the scene's external EUR account, unless `rest` says otherwise. */
export const usdToEur = ({ usd, outsideEur }: Scene, rest?: object) => between(usd, outsideEur, 1_000, rest);

/** Builds the input for a quote to the external EUR account, funded by the customer with `amount` in `currency`. */
export function fundedIn(
  currency: string,
  { customerId, outsideEur }: Scene,
  amount: number,
  rest: object = {},
): object {
  return between('', outsideEur, amount, { source: { realtimeFunding: { customerId, currency } }, ...rest });
}

/** Builds the input for a client token from the id of the object to which it is bound, and from any other fields. */
export function tokenInput(input: object): object {
  const { customerId, quoteId, transactionId, ...rest }: Record<'customerId' | 'quoteId' | 'transactionId', unknown> = {
    customerId: undefined,
    quoteId: undefined,
    transactionId: undefined,
    ...input,
  };
  return { boundTo: { customerId, quoteId, transactionId }, ...rest };
}

/** Builds the expected timeline of a transaction that went through the given statuses. */
export const went = (...statuses: readonly string[]) => statuses.map((status) => ({ status }));

/** Returns the sum of a transaction's entries on a system account, in the currency's smallest unit. */
export function left(transaction: Data, system: string): bigint {
  return transaction.ledgerEntries
    .filter((entry: Data) => entry.system === system)
    .reduce((sum: bigint, entry: Data) => sum + BigInt(entry.amount.amount), 0n);
}

/** Returns the amounts by which a transaction's entries change an account, in the currency's smallest unit. */
export const onAccount = ({ ledgerEntries }: Data, id: string): bigint[] =>
  ledgerEntries.filter(({ account }: Data) => account?.id === id).map(({ amount }: Data) => BigInt(amount.amount));

/** The sender information that tests provide. */
export const sender = [
  { name: 'FULL_NAME', value: 'Grace Hopper' },
  { name: 'BIRTH_DATE', value: '1986-12-09' },
];
