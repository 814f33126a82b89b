import { comparableAmount, currencyOf } from '../../../../core/currencies.ts';
import { visiblePolicies } from '../../../../domain/access/visible.ts';
import type { LimitState } from '../../../../domain/ledger/commit.ts';
import {
  deletePolicy,
  maxApprovalSeconds,
  policiesOf,
  type StoredApproval,
  setPolicy,
} from '../../../../domain/policies/policies.ts';
import { executedRead } from '../../reading/derive.ts';
import { limitsOf, policyOf } from '../../reading/kinds.ts';
import { node } from '../../reading/words.ts';
import { builder, required } from '../builder.ts';
import { PaymentKind, PolicyPeriod, PolicyRelease, PolicyRule } from '../enums.ts';
import { mutation } from '../mutation.ts';
import { Customer } from '../nouns.ts';
import { memberTypes } from '../refusals.ts';
import { AmountInput, givenAmount } from '../values/money.ts';
import { Platform } from './platform.ts';
import { ApiToken, ClientToken } from './tokens.ts';
import { Viewer } from './viewer.ts';

/** A limit, read by a statement or taken from a refusal, with `renewsAt` as a Date. */
export type Limit = Omit<LimitState, 'renewsAt'> & { readonly renewsAt: Date | null };

const ofAmounts = (what: string) =>
  ({ nullable: true, description: `${what}; null if the limit is on the number of payments.` }) as const;
const ofPayments = (what: string) => ({ description: `${what}; null if the limit is on an amount.` });

export const PolicyLimit = builder.objectRef<Limit>('PolicyLimit').implement({
  description: 'A policy limit on an amount in one currency or on the number of payments, with its current usage.',
  fields: (t) => ({
    period: t.expose('period', { type: PolicyPeriod, description: 'The period over which payments are added up.' }),
    amount: t.money('amount', 'currency', ofAmounts('The largest total that may be sent in the period, fees included')),
    usedAmount: t.money('usedAmount', 'currency', ofAmounts('The total already counted in the period')),
    leftAmount: t.money('leftAmount', 'currency', ofAmounts('The total still allowed in the period')),
    payments: t.optional('payments', 'Int', ofPayments('The largest number of payments allowed in the period')),
    usedPayments: t.optional('usedPayments', 'Int', ofPayments('The number of payments already counted in the period')),
    leftPayments: t.optional('leftPayments', 'Int', ofPayments('The number of payments still allowed in the period')),
    renewsAt: t.optional('renewsAt', 'DateTime', {
      description:
        'When more of the limit becomes available: at the end of the calendar period, or when the oldest payment leaves a rolling period. Null if none of the limit has been used.',
    }),
  }),
});

const ApprovalThreshold = builder
  .objectRef<{ readonly currency: string; readonly amount: string }>('ApprovalThreshold')
  .implement({
    description: 'The largest amount that needs no approval, in one currency.',
    fields: (t) => ({ amount: t.money('amount', 'currency', { description: 'The amount sent, fees included.' }) }),
  });

const PolicyApproval = builder.objectRef<StoredApproval>('PolicyApproval').implement({
  description:
    'Which payments a second person must approve. The approving token needs APPROVE, and must not be the one that requested the payment.',
  fields: (t) => ({
    always: t.exposeBoolean('always', { description: 'Whether every payment needs approval.' }),
    above: t.json('above', [ApprovalThreshold], {
      description:
        'The amounts above which a payment needs approval. If any amount is set, every payment in a currency without one needs approval.',
    }),
    newReceivers: t.exposeBoolean('newReceivers', {
      description:
        "Whether a payment to a new receiver needs approval. A receiver is new if no earlier payment by the policy's subject was delivered to the same account or UMA address.",
    }),
    reserves: t.exposeBoolean('reserves', {
      description: 'Whether the money is taken from the account while the payment waits for approval.',
    }),
    expiresInSeconds: t.exposeInt('expiresInSeconds', {
      description:
        "The number of seconds that a payment waits for approval before it becomes EXPIRED. A payment from a quote never waits beyond the quote's expiry.",
    }),
  }),
});

const subject = 'The subject whose payments are limited (`ApiToken:…`, `ClientToken:…`, `Customer:…` or `Platform:…`).';

const Policy = builder.prismaNode('Policy', {
  ...node(visiblePolicies),
  description:
    'Limits the payments of a token (and of all tokens created by it), of a customer, or of the whole platform. A payment must be allowed by every policy that applies to it, and counts toward the limits of each. A transfer counts when it is made. A quote counts when it is executed or, if it is to be funded by a deposit, when it is created.',
  fields: (t) => ({
    subjectId: t.id({
      description: subject,
      select: { subjectType: true, subjectId: true },
      resolve: ({ subjectType, subjectId }) => `${subjectType}:${subjectId}`,
    }),
    limits: t.fromQuery([PolicyLimit], limitsOf, {
      description:
        "The policy's limits, in the order in which they are checked. A payment must stay within each limit in its currency, and within each limit on the number of payments.",
    }),
    ...t.columns({
      kinds: 'The kinds of payments that the policy allows; empty if all are allowed.',
      receiverCountries:
        'The countries (ISO 3166-1 alpha-2) in which the policy allows payments to external accounts. Wallets have no country, so this list never allows payments to them.',
      receiverUmaAddresses: 'The UMA addresses to which the policy allows payments.',
      hoursFrom:
        'The time of day from which the policy allows payments, HH:MM in its time zone; null if it allows them all day.',
      hoursTo:
        'The time of day at which the policy stops allowing payments; a time earlier than `hoursFrom` is on the next day.',
      timeZone: "The time zone for the policy's days, months and hours, as an IANA name such as Europe/Berlin.",
      releaseOn: 'The outcomes after which a payment no longer counts toward the limits.',
      version: 'The number of times the policy has been set. An `expectedVersion` of 0 requires that no policy exists.',
      createdAt: 'When the policy was first set. It has counted payments since then.',
      updatedAt: 'When the policy was last set.',
    }),
    receiverAccountIds: t.expose('receiverAccountIds', {
      type: ['ID'],
      description:
        'The accounts to which the policy allows payments. A receiver is allowed if this list, `receiverCountries` or `receiverUmaAddresses` covers it, or if all three lists are empty.',
    }),
    approval: t.json('approval', PolicyApproval, {
      nullable: true,
      description: 'Which payments a second person must approve; null if no payment needs approval.',
    }),
  }),
});

const policyOfThe = (owner: string) =>
  ({ nullable: true, description: `The policy that limits the ${owner}'s payments, if there is one.` }) as const;
builder.prismaObjectField(ApiToken, 'policy', (t) => t.fromQuery(Policy, policyOf, policyOfThe('token')));
builder.prismaObjectField(ClientToken, 'policy', (t) => t.fromQuery(Policy, policyOf, policyOfThe('token')));
builder.prismaObjectField(Customer, 'policy', (t) => t.fromQuery(Policy, policyOf, policyOfThe('customer')));
builder.prismaObjectField(Platform, 'policy', (t) => t.fromQuery(Policy, policyOf, policyOfThe('platform')));

builder.objectField(Viewer, 'policies', (t) =>
  t.field({
    type: [Policy],
    description:
      "The policies that limit the token's payments: its own policy, the policies of the tokens that created it, and the platform's policy. An app sees only its own policy and its customer's policy.",
    ...executedRead,
    resolve: (viewer, _args, { payments }) => policiesOf(payments.database, viewer),
  }),
);

const PolicyLimitInput = builder.inputType('PolicyLimitInput', {
  description: 'A policy limit: an amount in one currency or a number of payments.',
  fields: (t) => ({
    period: t.field(required(PolicyPeriod, 'The period over which payments are added up.')),
    currency: t.field({ type: 'CurrencyCode', description: 'The currency of the amount.' }),
    amount: t.field({
      type: AmountInput,
      description: 'The largest total that may be sent in the period, fees included.',
    }),
    payments: t.int({
      description:
        'The largest number of payments allowed in the period, 0 or more. Give it instead of `currency` and `amount`.',
    }),
  }),
});

const ApprovalThresholdInput = builder.inputType('ApprovalThresholdInput', {
  description: 'The largest amount that needs no approval, in one currency.',
  fields: (t) => ({
    currency: t.field(required('CurrencyCode', 'The currency of the amount sent.')),
    amount: t.field(required(AmountInput, 'The amount sent, fees included.')),
  }),
});

const PolicyApprovalInput = builder.inputType('PolicyApprovalInput', {
  description:
    'Which payments a second person must approve: those that meet any of the conditions `always`, `above` and `newReceivers`. A payment stays CREATED until it is approved.',
  fields: (t) => ({
    always: t.boolean({ required: true, defaultValue: false, description: 'Whether every payment needs approval.' }),
    above: t.field({
      type: [ApprovalThresholdInput],
      required: true,
      defaultValue: [],
      description:
        'The amounts above which a payment needs approval. If any amount is given, every payment in a currency without one needs approval.',
    }),
    newReceivers: t.boolean({
      required: true,
      defaultValue: false,
      description:
        "Whether a payment to a new receiver needs approval. A receiver is new if no earlier payment by the policy's subject was delivered to the same account or UMA address.",
    }),
    reserves: t.boolean({
      required: true,
      defaultValue: true,
      description:
        'Whether the money is taken from the account while the payment waits for approval. If false, the account must hold the money when the payment is approved.',
    }),
    expiresInSeconds: t.int({
      required: true,
      defaultValue: 86_400,
      description: `The number of seconds that a payment waits for approval before it becomes EXPIRED: 1 to ${maxApprovalSeconds}. A payment from a quote never waits beyond the quote's expiry.`,
    }),
  }),
});

/** Normalizes an amount so that a retry may give it in the other form (smallest units or decimal). */
const comparable = (amount: typeof AmountInput.$inferInput, currency: string | null | undefined) =>
  comparableAmount(givenAmount(amount), currencyOf(currency ?? ''));

mutation('setPolicy', {
  description:
    'Sets the payment policy of an API token, a client token, a customer or the platform. It replaces any earlier policy, but payments that the earlier policy counted still count. A token that is limited by a policy, or was created by such a token, cannot set policies.',
  input: (t) => ({
    subjectId: t.field(required('ID', subject)),
    limits: t.field({
      type: [PolicyLimitInput],
      required: true,
      defaultValue: [],
      description:
        'Limits on amounts and on the number of payments. If any amount is limited, payments in currencies without a limit are refused.',
    }),
    kinds: t.field({
      type: [PaymentKind],
      description: 'The kinds of payments that the policy allows; all if omitted.',
    }),
    receiverAccountIds: t.idList({
      description:
        'The accounts to which the policy allows payments. If all three receiver lists are omitted, every receiver is allowed.',
    }),
    receiverCountries: t.stringList({
      description:
        'The countries (ISO 3166-1 alpha-2) in which the policy allows payments to external accounts. Wallets have no country, so this list never allows payments to them.',
    }),
    receiverUmaAddresses: t.stringList({ description: 'The UMA addresses to which the policy allows payments.' }),
    hoursFrom: t.string({
      description: 'The time of day from which payments are allowed, HH:MM. If omitted, they are allowed all day.',
    }),
    hoursTo: t.string({
      description:
        'The time of day, HH:MM, at which the policy stops allowing payments; a time earlier than `hoursFrom` is on the next day.',
    }),
    timeZone: t.string({
      required: true,
      defaultValue: 'UTC',
      description: "The time zone for the policy's days, months and hours, as an IANA name such as Europe/Berlin.",
    }),
    releaseOn: t.field({
      type: [PolicyRelease],
      required: true,
      defaultValue: ['FAILED'],
      description: 'The outcomes after which a payment no longer counts toward the limits.',
    }),
    approval: t.field({
      type: PolicyApprovalInput,
      description: 'Which payments a second person must approve; none if omitted.',
    }),
  }),
  success: { policy: { type: Policy, description: 'The policy.' } },
  resolve: ({ limits, approval, ...input }, { payments, viewer }, key) =>
    setPolicy(
      payments.database,
      viewer,
      {
        ...input,
        limits: limits.map(({ amount, ...limit }) => ({
          ...limit,
          amount: amount && comparable(amount, limit.currency),
        })),
        approval: approval && {
          ...approval,
          above: approval.above.map(({ currency, amount }) => ({ currency, amount: comparable(amount, currency) })),
        },
      },
      key,
    ),
});

mutation('deletePolicy', {
  description:
    'Deletes the policy of an API token, a client token, a customer or the platform, along with its recorded usage. A token that is limited by a policy, or was created by such a token, cannot delete policies.',
  input: (t) => ({ subjectId: t.field(required('ID', subject)) }),
  success: {
    deletedId: { type: 'ID', nullable: true, description: 'The id of the deleted policy; null if there was none.' },
  },
  resolve: (input, { payments, viewer }, key) => deletePolicy(payments.database, viewer, input, key),
});

/** Converts a limit in a refusal to the schema's form. */
export const shownLimit = (limit: LimitState): Limit => ({
  ...limit,
  renewsAt: limit.renewsAt ? new Date(limit.renewsAt) : null,
});

builder.objectFields(memberTypes.LimitExceededError, (t) => ({
  subjectId: t.exposeID('subjectId', {
    nullable: true,
    description:
      'The subject whose payments the policy limits. Null, like the other details, for a viewer who may not see the policy.',
  }),
  rule: t.optional('rule', PolicyRule, { description: 'The rule that forbids the payment.' }),
  limit: t.field({
    type: PolicyLimit,
    nullable: true,
    description: 'The limit that the payment would exceed; null unless the rule is LIMIT.',
    resolve: ({ limit }) => limit && shownLimit(limit),
  }),
  freeAt: t.optional('freeAt', 'DateTime', {
    description:
      'The earliest time at which the payment would be allowed if no other payment is made before then; null if waiting does not help.',
  }),
}));
