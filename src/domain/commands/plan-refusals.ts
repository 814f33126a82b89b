import { currencyOf, formatMajor } from '../../core/currencies.ts';
import { accountPublicId, publicId } from '../../core/ids.ts';
import {
  changedMeanwhile,
  type FieldPath,
  Refusal,
  type RefusalCode,
  type RefusalDetails,
} from '../../core/refusal.ts';
import type { Caller } from '../access/caller.ts';
import { maySee, maySeePolicyOf, seesAny } from '../access/visible.ts';
import type { LimitState, PlanRefusal } from '../ledger/commit.ts';

/** How a command presents the database's refusal of its plan. */
export interface RefusalOptions {
  /** The path for codes that are not in `paths`. */
  readonly path?: FieldPath;
  /** The path of the input that caused the refusal, or a function that derives it from the id in the refusal. */
  readonly paths?: Partial<Record<PlanRefusal['code'], FieldPath | ((id: string) => FieldPath)>>;
  /** Defaults to CONFLICT with a general reason. */
  readonly conflict?: { readonly code?: RefusalCode; readonly reason?: string };
}

/** Converts the database's refusal to one for the caller, with the path of the input that caused it. */
export function planRefusal(refusal: PlanRefusal, options: RefusalOptions, caller: Caller, replayed: boolean): Refusal {
  if (refusal.code === 'OTHER_VERSION') {
    const { type, id, version } = refusal;
    // Commands change only external accounts.
    return changedMeanwhile(publicId(type === 'Account' ? 'ExternalAccount' : type, id), version, replayed);
  }
  // A plan that already awaits approval is never refused for lack of approval.
  if (refusal.code === 'APPROVAL_REQUIRED') throw new Error('a payment that already awaits approval requires approval');
  const pathOf =
    options.paths?.[refusal.code] ??
    (refusal.code === 'CUSTOMER_FROZEN' ? options.paths?.USER_NOT_READY : undefined) ??
    options.path;
  const path = typeof pathOf === 'function' ? pathOf(refusal.id ?? '') : pathOf;
  const { code, message, facts } = partsOf(refusal, options, caller);
  return new Refusal(code, message, { path, ...facts }, replayed);
}

export const lookupExpired = 'the lookup has expired; look the receiver up again';
const plainMessages = {
  QUOTE_NOT_FOUND: 'no such quote',
  TRANSACTION_NOT_FOUND: 'no such transaction',
  FORBIDDEN:
    'a payment cannot be approved by the token that requested it, by a token that created that token or was created by it, or by a token that the same policy limits',
  LOOKUP_REQUEST_NOT_FOUND: lookupExpired,
} as const;

interface RefusalParts {
  readonly code: RefusalCode;
  readonly message: string;
  readonly facts?: RefusalDetails;
}

/** The refusal for a customer, or a frozen account, that the caller may not see. */
const stranger: RefusalParts = { code: 'USER_NOT_READY', message: 'a customer in this payment cannot move money' };

/** Returns the parts of a refusal. A caller who may not see the row that caused it learns less. */
function partsOf(
  refusal: Exclude<PlanRefusal, { code: 'OTHER_VERSION' | 'APPROVAL_REQUIRED' }>,
  { conflict }: RefusalOptions,
  caller: Caller,
): RefusalParts {
  const { code } = refusal;
  // A refusal must not tell a caller without VIEW which objects exist.
  const mayRead = caller.permissions.includes('VIEW');
  switch (code) {
    case 'QUOTE_NOT_FOUND':
    case 'TRANSACTION_NOT_FOUND':
    case 'FORBIDDEN':
    case 'LOOKUP_REQUEST_NOT_FOUND':
      return { code, message: plainMessages[code] };
    case 'QUOTE_EXPIRED': {
      const expiresAt = new Date(refusal.expiresAt).toISOString();
      return { code, message: `the quote expired at ${expiresAt}; create a new one`, facts: { expiresAt } };
    }
    case 'CONFLICT':
      return conflictParts(refusal, conflict);
    case 'UMA_ADDRESS_EXISTS':
      return { code, message: 'this UMA address is already in use', facts: existingCustomer(refusal.id) };
    case 'CUSTOMER_DELETED':
      return { code, message: 'the customer is deleted', facts: existingCustomer(refusal.id) };
    case 'CUSTOMER_IN_USE':
      if (!mayRead) return { code, message: 'the customer still holds money, or has payments in flight' };
      return { code, message: inUse(refusal), facts: useOf(refusal) };
    case 'ACCOUNT_EXISTS': {
      if (!mayRead || !seesAny('account', caller)) return { code: 'CONFLICT', message: 'this account already exists' };
      const existingId = publicId('ExternalAccount', refusal.id);
      return { code: 'CONFLICT', message: `this account already exists as ${existingId}`, facts: { existingId } };
    }
    case 'USER_NOT_READY': {
      if (!mayRead || !maySee('customer', caller, refusal)) return stranger;
      const message = refusal.isDeleted
        ? 'the customer is deleted and cannot move money'
        : `the customer cannot move money: KYC is ${refusal.kycStatus}`;
      return { code, message, facts: { customerId: publicId('Customer', refusal.id) } };
    }
    case 'CUSTOMER_FROZEN':
      // An app must not learn that another customer is frozen.
      if (!maySee('customer', caller, refusal)) return stranger;
      return { code, message: 'the customer is frozen', facts: { customerId: publicId('Customer', refusal.id) } };
    case 'ACCOUNT_FROZEN':
      if (!maySee('account', caller, refusal)) return stranger;
      return {
        code,
        message: 'the account is frozen',
        facts: { accountId: accountPublicId(refusal.kind, refusal.id) },
      };
    case 'LIMIT_EXCEEDED':
      if (maySeePolicyOf(caller, refusal.subjectId)) return limitParts(refusal);
      return { code, message: 'a platform policy does not allow this payment now' };
    case 'INVALID_BANK_ACCOUNT': {
      const { status } = refusal;
      // An app can pay into another customer's account through a quote that its platform created.
      return mayRead && maySee('account', caller, refusal)
        ? { code, message: `the external account is ${status}; it must be ACTIVE`, facts: { status } }
        : { code, message: 'an external account in this payment is not ACTIVE' };
    }
    case 'INSUFFICIENT_BALANCE': {
      // A customer's app pays from that customer's accounts, and sees all of them or none.
      if (!mayRead || !seesAny('account', caller)) return { code, message: 'the account does not hold enough money' };
      const { spendable, needed, currency } = refusal;
      const message = `the account holds ${inMajor(spendable, currency)}, but ${inMajor(needed, currency)} is needed`;
      return { code, message, facts: { spendable, needed, currency } };
    }
    case 'AMOUNT_OUT_OF_RANGE': {
      const { id, limit, currency } = refusal;
      if (seesAny('account', caller)) {
        const facts = { accountId: publicId('InternalAccount', id), limit, currency };
        return { code, message: fullAccount(refusal), facts };
      }
      const message = `the receiving account may hold at most ${inMajor(limit, currency)}`;
      return { code, message, facts: { limit, currency } };
    }
  }
}

function conflictParts(
  { type, id, status, dueAt }: Extract<PlanRefusal, { code: 'CONFLICT' }>,
  { code = 'CONFLICT', reason = 'this is no longer possible' }: RefusalOptions['conflict'] = {},
): RefusalParts {
  const message = dueAt
    ? `the deadline for a decision was ${new Date(dueAt).toISOString()}`
    : `${status === 'CREATED' ? 'the payment is awaiting approval' : reason}: it is ${status}`;
  return { code, message, facts: { status, ...(type && { existingId: publicId(type, id) }) } };
}

type LimitExceeded = Extract<PlanRefusal, { code: 'LIMIT_EXCEEDED' }>;

export interface ExceededLimit extends Pick<LimitExceeded, 'rule' | 'limit' | 'freeAt'> {
  readonly subjectId: string;
}

const reasons: Readonly<Record<Exclude<LimitExceeded['rule'], 'LIMIT'>, string>> = {
  CURRENCY: 'no payment in this currency',
  KIND: 'no payment of this kind',
  RECEIVER: 'no payment to this receiver',
  HOURS: 'no payment at this time of day',
};

function limitParts({ code, rule, limit, freeAt: free, subjectType, subjectId }: LimitExceeded): RefusalParts {
  const freeAt = free === null ? null : new Date(free).toISOString();
  const facts: ExceededLimit & RefusalDetails = { rule, limit, freeAt, subjectId: publicId(subjectType, subjectId) };
  const allowed = rule === 'LIMIT' && limit ? limitInWords(limit) : reasons[rule as keyof typeof reasons];
  const message = `the policy of ${facts.subjectId} allows ${allowed}${freeAt === null ? '' : `; this payment is allowed from ${freeAt}`}`;
  return { code, message, facts };
}

/** Describes a limit and its usage, such as "at most 500.00 USD a day (480.00 USD used)". */
function limitInWords({ period, amount, currency, payments, usedAmount, usedPayments }: LimitState): string {
  const written = (digits: string | null, count: number | null) =>
    digits !== null && currency !== null ? inMajor(digits, currency) : `${count} payment${count === 1 ? '' : 's'}`;
  const most = `at most ${written(amount, payments)} ${periods[period]}`;
  return period === 'PAYMENT' ? most : `${most} (${written(usedAmount, usedPayments)} used)`;
}

const periods: Readonly<Record<LimitState['period'], string>> = {
  PAYMENT: 'in one payment',
  DAY: 'a day',
  MONTH: 'a month',
  LAST_24_HOURS: 'in 24 hours',
  LAST_30_DAYS: 'in 30 days',
};

type CustomerInUse = Extract<PlanRefusal, { code: 'CUSTOMER_IN_USE' }>;

export type CustomerUse = ReturnType<typeof useOf>;

function useOf({ balances, payments, transactions }: CustomerInUse) {
  return {
    balances: balances.map(({ account, ...money }) => ({ accountId: publicId('InternalAccount', account), ...money })),
    paymentsUnderWay: payments,
    /** The first 20 of these payments. */
    transactionIds: transactions.map((id) => publicId('Transaction', id)),
  };
}

function inUse({ balances, payments }: CustomerInUse): string {
  const held = balances.map(({ amount, currency }) => inMajor(amount, currency));
  const reasons = [
    ...(held.length > 0 ? [`it still holds ${held.join(', ')}`] : []),
    ...(payments > 0 ? [`${payments} of its payments ${payments === 1 ? 'is' : 'are'} under way`] : []),
  ];
  return `the customer cannot be deleted: ${reasons.join(', and ')}`;
}

/** Does not reveal the balance, because the payer is not necessarily the account's owner. */
export function fullAccount({ id, limit, currency }: Extract<PlanRefusal, { code: 'AMOUNT_OUT_OF_RANGE' }>): string {
  return `${publicId('InternalAccount', id)} may hold at most ${inMajor(limit, currency)}, and this would exceed it`;
}

/** Formats an amount, such as "125.50 USD", from its digits in the currency's smallest unit. */
export function inMajor(digits: string, currency: string): string {
  const known = currencyOf(currency);
  return known ? formatMajor(BigInt(digits), known) : `${digits} ${currency}`;
}

function existingCustomer(id: string | null): RefusalDetails {
  return id === null ? {} : { existingId: publicId('Customer', id) };
}
