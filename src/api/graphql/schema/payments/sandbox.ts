import { fundAccount, sandboxSend } from '../../../../domain/sandbox/sandbox.ts';
import { setExternalAccountStatus } from '../../../../domain/sandbox/set-account-status.ts';
import { setKycStatus } from '../../../../domain/sandbox/set-kyc-status.ts';
import { BeneficiaryVerificationStatus, ExternalAccountStatus, KycStatus } from '../enums.ts';
import { mutation } from '../mutation.ts';
import { Customer, ExternalAccount, InternalAccount, Transaction } from '../nouns.ts';
import { SandboxScenarioInput } from '../scenario.ts';
import { AmountInput, givenAmount } from '../values/amount-input.ts';

mutation('sandboxFundAccount', {
  description: 'Sandbox only: simulates a deposit to an internal account.',
  input: (t) => ({
    accountId: t.id({ required: true, description: 'The account to fund: InternalAccount:…' }),
    amount: t.field({
      type: AmountInput,
      required: true,
      description:
        "The amount that arrives: 1 to 100000000000 smallest units of the account's currency, and no more than the account may hold.",
    }),
  }),
  success: { row: { as: 'account', type: InternalAccount, description: 'The account with its new balance.' } },
  refusals: ['NotFoundError'],
  resolve: ({ accountId, amount }, { payments, viewer }, key) =>
    fundAccount(payments, viewer, { accountId, amount: givenAmount(amount) }, key),
});

mutation('sandboxSend', {
  description:
    "Sandbox only: simulates the deposit for a real-time funded quote. A deposit of exactly the quoted amount is converted and delivered immediately. If the deposit is too small, too large or too late, the payment fails and the money is credited to the customer's account in that currency. If the quote is already paid, the code is CONFLICT. If the customer was deleted, the code is CUSTOMER_DELETED, and the money goes back to its payer.",
  input: (t) => ({
    quoteId: t.id({ required: true, description: 'The quote to fund: Quote:…' }),
    currency: t.field({
      type: 'CurrencyCode',
      required: true,
      description: 'The currency of the deposit, which must be that of the quote.',
    }),
    amount: t.field({
      type: AmountInput,
      description: 'The amount of the deposit; exactly the amount of the quote by default.',
    }),
    sandboxScenario: t.field({ type: SandboxScenarioInput, description: 'How the payment turns out.' }),
  }),
  success: { row: { as: 'transaction', type: Transaction, description: 'The payment that the deposit funds.' } },
  refusals: ['NotFoundError', 'QuoteExpiredError'],
  resolve: ({ currency, amount, ...input }, { payments, viewer }, key) => {
    const sent = { ...input, currencyCode: currency, currencyAmount: amount && givenAmount(amount) };
    return sandboxSend(payments, viewer, sent, key);
  },
});

mutation('sandboxSetExternalAccountStatus', {
  description:
    "Sandbox only: changes an external account's status or verification, as its bank would. Possible changes: PENDING to ACTIVE, UNDER_REVIEW or INACTIVE; ACTIVE to UNDER_REVIEW or INACTIVE; UNDER_REVIEW to ACTIVE or INACTIVE; INACTIVE to ACTIVE. Any other change is refused with CONFLICT.",
  input: (t) => ({
    accountId: t.id({ required: true, description: 'The account to change: ExternalAccount:…' }),
    status: t.field({
      type: ExternalAccountStatus,
      description: 'The new status of the account; no change when left out.',
    }),
    beneficiaryVerificationStatus: t.field({
      type: BeneficiaryVerificationStatus,
      description: "The new status of the owner's verification; no change when left out. For bank accounts only.",
    }),
    reason: t.string({ description: "The account's new `statusReason`: at most 500 characters." }),
  }),
  success: { row: { as: 'account', type: ExternalAccount, description: 'The changed account.' } },
  refusals: ['NotFoundError'],
  resolve: (input, { payments, viewer }, key) => setExternalAccountStatus(payments, viewer, input, key),
});

mutation('sandboxSetKycStatus', {
  description:
    "Sandbox only: decides a customer's identity check, as its provider would. Any status may follow any other. When the name changes, the check is decided again.",
  input: (t) => ({
    customerId: t.id({ required: true, description: 'The customer whose identity check is decided: Customer:…' }),
    kycStatus: t.field({
      type: KycStatus,
      required: true,
      description: 'The new status. Only APPROVED and MANUALLY_APPROVED let the customer move money.',
    }),
  }),
  success: { row: { as: 'customer', type: Customer, description: 'The changed customer.' } },
  refusals: ['NotFoundError'],
  resolve: (input, { payments, viewer }, key) => setKycStatus(payments, viewer, input, key),
});
