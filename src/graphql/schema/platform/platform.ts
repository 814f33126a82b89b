import { currencyOf, requiredCurrency } from '../../../core/currencies.ts';
import { publicId } from '../../../core/ids.ts';
import type { Platform as PlatformRow } from '../../../database/generated/client/client.ts';
import {
  currencySettings,
  isRegulatedFinancialInstitution,
  readPlatform,
  updatePlatform,
} from '../../../payments/platforms/platform-config.ts';
import { deliveryRails } from '../../../payments/pricing/delivery-rails.ts';
import { builder } from '../builder.ts';
import { Environment, TransactionType, TrustedDocumentPolicy } from '../enums.ts';
import { mutation } from '../mutation.ts';
import { RequiredField } from '../values/information.ts';
import { CurrencyType, MoneyType, money } from '../values/money.ts';
import { PaymentRail } from '../values/payment-rail.ts';

/** The settings of the caller's platform, as REST's /config has them (decisions 56 and 73). */

const PlatformCurrency = builder.objectRef<{ readonly code: string }>('PlatformCurrency').implement({
  description: 'A currency in which new customers get internal accounts, and the terms of payments in it.',
  fields: (t) => ({
    currency: t.field({
      type: CurrencyType,
      description: 'The currency.',
      resolve: ({ code }) => requiredCurrency(code),
    }),
    minAmount: t.field({
      type: MoneyType,
      description: 'The smallest amount of a payment.',
      resolve: ({ code }) => money(currencySettings.minAmount, code),
    }),
    maxAmount: t.field({
      type: MoneyType,
      description: 'The largest amount of a payment.',
      resolve: ({ code }) => money(currencySettings.maxAmount, code),
    }),
    enabledTransactionTypes: t.field({
      type: [TransactionType],
      description: 'The enabled directions of payments.',
      resolve: () => [...currencySettings.enabledTransactionTypes],
    }),
    deliveryRail: t.field({
      type: PaymentRail,
      description: 'The rail that usually delivers it outside.',
      resolve: ({ code }) => deliveryRails[requiredCurrency(code).code],
    }),
    requiredCounterpartyFields: t.field({
      type: [RequiredField],
      description: 'What payments ask of the counterparty.',
      resolve: () => [...currencySettings.requiredCounterpartyFields],
    }),
    providerRequiredCustomerFields: t.stringList({
      description: 'The fields that a customer record must have.',
      resolve: () => [...currencySettings.providerRequiredCustomerFields],
    }),
    providerRequiredCounterpartyCustomerFields: t.stringList({
      description: 'The fields of a customer that the counterparty must receive.',
      resolve: () => [...currencySettings.providerRequiredCounterpartyCustomerFields],
    }),
  }),
});

const Platform = builder.objectRef<PlatformRow>('Platform').implement({
  description: 'A platform and its settings (decision 56). Its webhooks are `webhookEndpoints`.',
  fields: (t) => ({
    id: t.id({ description: 'Its public id.', resolve: ({ id }) => publicId('Platform', id) }),
    name: t.exposeString('name', { description: 'What its operator calls it.' }),
    environment: t.expose('environment', { type: Environment, description: 'Sandbox or production.' }),
    umaDomain: t.exposeString('umaDomain', { description: "The domain of new customers' UMA addresses." }),
    supportedCurrencies: t.field({
      type: [PlatformCurrency],
      description: 'The currencies in which new customers get internal accounts.',
      resolve: ({ currencies }) => currencies.filter(currencyOf).map((code) => ({ code })),
    }),
    isRegulatedFinancialInstitution: t.boolean({
      description: 'Whether customers count as verified by the platform itself. Set by the operator.',
      resolve: () => isRegulatedFinancialInstitution,
    }),
    trustedDocuments: t.expose('trustedDocuments', {
      type: TrustedDocumentPolicy,
      description: 'Whose tokens may send registered documents only (decision 74).',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When its settings last changed.' }),
  }),
});

builder.queryField('platform', (t) =>
  t.field({
    type: Platform,
    description: "The caller's platform and its settings.",
    resolve: (_root, _args, { payments, viewer }) => readPlatform(payments, viewer),
  }),
);

mutation('updatePlatform', {
  description:
    "Changes the platform's settings. What is left out or null stays. So do existing accounts and addresses. The platform gets an internal account for each new currency.",
  input: (t) => ({
    umaDomain: t.string({
      description:
        "The domain of new customers' UMA addresses. In production the domain's owner must have published whose it is: the refusal (CONFLICT) says what and where (decision 61).",
    }),
    currencies: t.stringList({
      description: 'The codes of the currencies in which new customers get internal accounts: replaces the list.',
    }),
    trustedDocuments: t.field({
      type: TrustedDocumentPolicy,
      description: 'Whose tokens may send registered documents only. REST undoes what binds all tokens.',
    }),
  }),
  success: { platform: { type: Platform, description: 'The platform with its settings as they are now.' } },
  resolve: async ({ idempotencyKey, ...settings }, { payments, viewer }) => {
    const { platform, replayed } = await updatePlatform(payments, viewer, settings, idempotencyKey);
    return { platform, replayed };
  },
});
