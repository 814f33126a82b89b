import { fundAccount, sandboxSend } from '../../../../domain/sandbox/sandbox.ts';
import { setExternalAccountStatus } from '../../../../domain/sandbox/set-account-status.ts';
import { setKycStatus } from '../../../../domain/sandbox/set-kyc-status.ts';
import { BeneficiaryVerificationStatus, ExternalAccountStatus, KycStatus } from '../enums.ts';
import { mutation } from '../mutation.ts';
import { Customer, ExternalAccount, InternalAccount, Transaction } from '../nouns.ts';
import { SandboxScenarioInput } from '../scenario.ts';
import { AmountInput, givenAmount } from '../values/amount-input.ts';

mutation('sandboxFundAccount', {
  description: 'Sandbox only: lets money arrive in an internal account.',
  input: (t) => ({
    accountId: t.id({ required: true, description: 'InternalAccount:…' }),
    amount: t.field({
      type: AmountInput,
      required: true,
      description:
        "What arrives: 1 to 100000000000 smallest units of the account's currency, and no more than the account may hold.",
    }),
  }),
  success: { account: { type: InternalAccount, description: 'The account with its new balance.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, accountId, amount }, { payments, viewer }) => {
    const result = await fundAccount(payments, viewer, { accountId, amount: givenAmount(amount) }, idempotencyKey);
    return { account: result.row, replayed: result.replayed };
  },
});

mutation('sandboxSend', {
  description:
    'Sandbox only: lets the deposit for a real-time funded quote arrive (specification 4.7). Exactly what the quote asks for is converted and delivered at once. Less, more or too late: the payment fails, and the money is in the account that the customer has in that currency. A quote that is paid already: CONFLICT. A customer who is deleted: CUSTOMER_DELETED, and the money goes back to its payer.',
  input: (t) => ({
    quoteId: t.id({ required: true, description: 'Quote:…' }),
    currency: t.field({
      type: 'CurrencyCode',
      required: true,
      description: 'The currency of the money sent: that of the quote.',
    }),
    amount: t.field({ type: AmountInput, description: 'What is sent: exactly the amount of the quote when left out.' }),
    sandboxScenario: t.field({ type: SandboxScenarioInput, description: 'What shall happen to the payment.' }),
  }),
  success: { transaction: { type: Transaction, description: 'The payment that the deposit funds.' } },
  refusals: ['NotFoundError', 'QuoteExpiredError'],
  resolve: async ({ idempotencyKey, currency, amount, ...input }, { payments, viewer }) => {
    const sent = { ...input, currencyCode: currency, currencyAmount: amount && givenAmount(amount) };
    const result = await sandboxSend(payments, viewer, sent, idempotencyKey);
    return { transaction: result.row, replayed: result.replayed };
  },
});

mutation('sandboxSetExternalAccountStatus', {
  description:
    "Sandbox only: moves an external account's status (specification 3.3) or beneficiary verification, as its bank would. Moves: PENDING to ACTIVE, UNDER_REVIEW or INACTIVE; ACTIVE to UNDER_REVIEW or INACTIVE; UNDER_REVIEW to ACTIVE or INACTIVE; INACTIVE to ACTIVE. Any other: CONFLICT.",
  input: (t) => ({
    accountId: t.id({ required: true, description: 'ExternalAccount:…' }),
    status: t.field({ type: ExternalAccountStatus, description: 'What it becomes; its status stays when left out.' }),
    beneficiaryVerificationStatus: t.field({
      type: BeneficiaryVerificationStatus,
      description: 'What its verification becomes; stays when left out. For bank accounts only.',
    }),
    reason: t.string({ description: 'Why, for its `statusReason`: at most 500 characters.' }),
  }),
  success: { account: { type: ExternalAccount, description: 'The account as it is now.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, ...input }, { payments, viewer }) => {
    const result = await setExternalAccountStatus(payments, viewer, input, idempotencyKey);
    return { account: result.row, replayed: result.replayed };
  },
});

mutation('sandboxSetKycStatus', {
  description:
    "Sandbox only: decides a customer's identity check, as its provider would. Any status may follow any other; a new name decides it again.",
  input: (t) => ({
    customerId: t.id({ required: true, description: 'Customer:…' }),
    kycStatus: t.field({
      type: KycStatus,
      required: true,
      description: 'Its new status. Only with APPROVED or MANUALLY_APPROVED a customer moves money.',
    }),
  }),
  success: { customer: { type: Customer, description: 'The customer as it is now.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, ...input }, { payments, viewer }) => {
    const result = await setKycStatus(payments, viewer, input, idempotencyKey);
    return { customer: result.row, replayed: result.replayed };
  },
});
