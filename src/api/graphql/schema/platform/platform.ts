import { publicId } from '../../../../core/ids.ts';
import { ownPlatform } from '../../../../domain/access/visible.ts';
import {
  type PlatformCurrency as CurrencyTerms,
  isRegulatedFinancialInstitution,
  platformCurrencies,
  updatePlatform,
} from '../../../../domain/platforms/platforms.ts';
import { fromTable, rowSeen } from '../../reading/kinds.ts';
import { stockNode } from '../../reading/stock.ts';
import { made, node } from '../../reading/words.ts';
import { builder } from '../builder.ts';
import { PaymentRail, TransactionType, TrustedDocumentPolicy } from '../enums.ts';
import { mutation } from '../mutation.ts';
import { RequiredField } from '../values/information.ts';

/** The settings of the caller's platform, as in REST's /config. */

const PlatformCurrency = builder.objectRef<CurrencyTerms>('PlatformCurrency').implement({
  description:
    "One of the platform's currencies, with the terms for payments in it. New customers get an internal account in each of these currencies.",
  fields: (t) => ({
    currency: t.currency('code', { description: 'The currency that these terms are for.' }),
    minAmount: t.money('minAmount', 'code', { description: 'The smallest payment amount in this currency.' }),
    maxAmount: t.money('maxAmount', 'code', { description: 'The largest payment amount in this currency.' }),
    enabledTransactionTypes: t.json('enabledTransactionTypes', [TransactionType], {
      description: 'The payment directions that are enabled for this currency.',
    }),
    deliveryRail: t.expose('deliveryRail', {
      type: PaymentRail,
      description: 'The network that usually delivers payments in this currency.',
    }),
    requiredCounterpartyFields: t.json('requiredCounterpartyFields', [RequiredField], {
      description: 'The counterparty information that is required or accepted for payments in this currency.',
    }),
    providerRequiredCustomerFields: t.json('providerRequiredCustomerFields', ['String'], {
      description: 'The names of the fields that a customer record must have for payments in this currency.',
    }),
    providerRequiredCounterpartyCustomerFields: t.json('providerRequiredCounterpartyCustomerFields', ['String'], {
      description: 'The names of the customer fields that are sent to the counterparty of a payment in this currency.',
    }),
  }),
});

export const Platform = builder.prismaNode('Platform', {
  ...node(ownPlatform, "The platform's public id (`Platform:…`)."),
  description: "The caller's platform and its settings. Webhooks are configured separately (see `webhookEndpoints`).",
  fields: (t) => ({
    ...t.columns({
      name: "The platform's name, which the service's operator chose.",
      environment: "Whether the platform's payments are simulated or real.",
      umaDomain: "The domain for new customers' UMA addresses.",
      trustedDocuments: 'Which tokens are limited to registered documents.',
      createdAt: 'When the platform was created.',
      updatedAt: "When the platform's settings last changed.",
      version: "Increases with each change to the platform's settings.",
    }),
    supportedCurrencies: t.field({
      type: [PlatformCurrency],
      description: 'The currencies in which new customers get internal accounts, with the terms for payments in each.',
      ...made(fromTable('currencies', platformCurrencies)),
      resolve: ({ currencies }) => currencies.flatMap((code) => platformCurrencies.get(code) ?? []),
    }),
    isRegulatedFinancialInstitution: t.boolean({
      description:
        "Whether the platform verifies its customers itself, in which case they all count as verified. The service's operator sets this.",
      select: {},
      resolve: () => isRegulatedFinancialInstitution,
    }),
  }),
});

builder.queryField('platform', (t) =>
  t.fromQuery(Platform, rowSeen(ownPlatform), {
    description: "The caller's platform and its settings.",
    resolve: (_root, _args, context, info) =>
      stockNode(publicId('Platform', context.viewer.platformId), ['Platform'], context, info),
  }),
);

mutation('updatePlatform', {
  description:
    "Changes the platform's settings. Settings that are omitted or null do not change. Existing accounts and addresses do not change either. The platform itself gets an internal account in each new currency.",
  input: (t) => ({
    umaDomain: t.string({
      description:
        "The domain for new customers' UMA addresses. In production, only a domain that the service's operator has assigned to the platform is accepted; any other is refused with CONFLICT.",
    }),
    currencies: t.field({
      type: ['CurrencyCode'],
      description:
        'The codes of the currencies in which new customers get internal accounts. They replace the current list.',
    }),
    trustedDocuments: t.field({
      type: TrustedDocumentPolicy,
      description:
        'Which tokens are limited to registered documents. ALL also limits the token that sets it. To undo ALL, use PATCH /config in REST, which the setting does not affect.',
    }),
  }),
  success: { platform: { type: Platform, description: 'The platform with its new settings.' } },
  namesNothing: true,
  resolve: (settings, { payments, viewer }, key) => updatePlatform(payments, viewer, settings, key),
});
