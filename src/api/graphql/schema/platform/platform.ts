import { publicId } from '../../../../core/ids.ts';
import { ownPlatform } from '../../../../domain/access/visible.ts';
import {
  type PlatformCurrency as CurrencyTerms,
  isRegulatedFinancialInstitution,
  platformCurrencies,
  updatePlatform,
} from '../../../../domain/platforms/platform-config.ts';
import { fromTable, rowSeen } from '../../reading/kinds.ts';
import { stockNode } from '../../reading/stock.ts';
import { builder } from '../builder.ts';
import { Environment, TransactionType, TrustedDocumentPolicy } from '../enums.ts';
import { mutation } from '../mutation.ts';
import { RequiredField } from '../values/information.ts';
import { PaymentRail } from '../values/payment-rail.ts';
import { made, node } from '../words.ts';

/** The settings of the caller's platform, as REST's /config has them (decisions 56 and 73). */

const PlatformCurrency = builder.objectRef<CurrencyTerms>('PlatformCurrency').implement({
  description: 'A currency in which new customers get internal accounts, and the terms of payments in it.',
  fields: (t) => ({
    currency: t.currency('code', { description: 'The currency.' }),
    minAmount: t.money('minAmount', 'code', { description: 'The smallest amount of a payment.' }),
    maxAmount: t.money('maxAmount', 'code', { description: 'The largest amount of a payment.' }),
    enabledTransactionTypes: t.json('enabledTransactionTypes', [TransactionType], {
      description: 'The enabled directions of payments.',
    }),
    deliveryRail: t.expose('deliveryRail', {
      type: PaymentRail,
      description: 'The rail that usually delivers it outside.',
    }),
    requiredCounterpartyFields: t.json('requiredCounterpartyFields', [RequiredField], {
      description: 'What payments ask of the counterparty.',
    }),
    providerRequiredCustomerFields: t.json('providerRequiredCustomerFields', ['String'], {
      description: 'The fields that a customer record must have.',
    }),
    providerRequiredCounterpartyCustomerFields: t.json('providerRequiredCounterpartyCustomerFields', ['String'], {
      description: 'The fields of a customer that the counterparty must receive.',
    }),
  }),
});

export const Platform = builder.prismaNode('Platform', {
  ...node(ownPlatform, 'Platform:…'),
  description: 'A platform and its settings. Its webhooks are `webhookEndpoints`.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What its operator calls it.' }),
    environment: t.expose('environment', { type: Environment, description: 'Sandbox or production.' }),
    umaDomain: t.exposeString('umaDomain', { description: "The domain of new customers' UMA addresses." }),
    supportedCurrencies: t.field({
      type: [PlatformCurrency],
      description: 'The currencies in which new customers get internal accounts.',
      ...made(fromTable('currencies', platformCurrencies)),
      resolve: ({ currencies }) => currencies.flatMap((code) => platformCurrencies.get(code) ?? []),
    }),
    isRegulatedFinancialInstitution: t.boolean({
      description: 'Whether customers count as verified by the platform itself. Set by the operator.',
      select: {},
      resolve: () => isRegulatedFinancialInstitution,
    }),
    trustedDocuments: t.expose('trustedDocuments', {
      type: TrustedDocumentPolicy,
      description: 'Whose tokens may send registered documents only.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When its settings last changed.' }),
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
    "Changes the platform's settings. What is left out or null stays. So do existing accounts and addresses. The platform gets an internal account for each new currency.",
  input: (t) => ({
    umaDomain: t.string({
      description:
        "The domain of new customers' UMA addresses. In production the operator of the service gives a platform its domain; any other is refused (CONFLICT).",
    }),
    currencies: t.field({
      type: ['CurrencyCode'],
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
