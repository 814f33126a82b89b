import { currencies, currencyOf, requiredCurrency } from '../../../../core/currencies.ts';
import { publicId } from '../../../../core/ids.ts';
import { ownPlatform } from '../../../../domain/access/visible.ts';
import {
  currencySettings,
  isRegulatedFinancialInstitution,
  updatePlatform,
} from '../../../../domain/platforms/platform-config.ts';
import { deliveryRails } from '../../../../domain/pricing/delivery-rails.ts';
import { conditionsOf } from '../../../../infra/database/conditions.ts';
import type { Platform as PlatformRow } from '../../../../infra/database/generated/client/client.ts';
import { planned } from '../../reading/planned.ts';
import { jsonList, leaf, type Read, reads, typeReads } from '../../reading/reads.ts';
import { literal } from '../../reading/sql.ts';
import { builder } from '../builder.ts';
import { Environment, TransactionType, TrustedDocumentPolicy } from '../enums.ts';
import { mutation } from '../mutation.ts';
import { RequiredField } from '../values/information.ts';
import { CurrencyType, currencyRead, MoneyType, money, moneyReadOf } from '../values/money.ts';
import { PaymentRail } from '../values/payment-rail.ts';

/** The settings of the caller's platform, as REST's /config has them (decisions 56 and 73). */

/** A fact that is the same for every currency, as JSON in SQL. */
const same = (value: unknown) => `${literal(JSON.stringify(value))}::text`;

const railCases = currencies
  .map(({ code }) => `when ${literal(code)} then ${literal(JSON.stringify(deliveryRails[code]))}`)
  .join(' ');

const PlatformCurrency = builder.objectRef<{ readonly code: string }>('PlatformCurrency').implement({
  description: 'A currency in which new customers get internal accounts, and the terms of payments in it.',
  fields: (t) => ({
    currency: t.field({
      type: CurrencyType,
      description: 'The currency.',
      ...reads(currencyRead((env) => env.code ?? '')),
      resolve: ({ code }) => requiredCurrency(code),
    }),
    minAmount: t.field({
      type: MoneyType,
      description: 'The smallest amount of a payment.',
      ...reads(termRead(currencySettings.minAmount)),
      resolve: ({ code }) => money(currencySettings.minAmount, code),
    }),
    maxAmount: t.field({
      type: MoneyType,
      description: 'The largest amount of a payment.',
      ...reads(termRead(currencySettings.maxAmount)),
      resolve: ({ code }) => money(currencySettings.maxAmount, code),
    }),
    enabledTransactionTypes: t.field({
      type: [TransactionType],
      description: 'The enabled directions of payments.',
      ...reads(leaf.of(() => [same(currencySettings.enabledTransactionTypes)])),
      resolve: () => [...currencySettings.enabledTransactionTypes],
    }),
    deliveryRail: t.field({
      type: PaymentRail,
      description: 'The rail that usually delivers it outside.',
      ...reads(leaf.of((env) => [`case ${env.code} ${railCases} end`])),
      resolve: ({ code }) => deliveryRails[requiredCurrency(code).code],
    }),
    requiredCounterpartyFields: t.field({
      type: [RequiredField],
      description: 'What payments ask of the counterparty.',
      ...reads(jsonList(() => `${literal(JSON.stringify(currencySettings.requiredCounterpartyFields))}::jsonb`)),
      resolve: () => [...currencySettings.requiredCounterpartyFields],
    }),
    providerRequiredCustomerFields: t.stringList({
      description: 'The fields that a customer record must have.',
      ...reads(leaf.of(() => [same(currencySettings.providerRequiredCustomerFields)])),
      resolve: () => [...currencySettings.providerRequiredCustomerFields],
    }),
    providerRequiredCounterpartyCustomerFields: t.stringList({
      description: 'The fields of a customer that the counterparty must receive.',
      ...reads(leaf.of(() => [same(currencySettings.providerRequiredCounterpartyCustomerFields)])),
      resolve: () => [...currencySettings.providerRequiredCounterpartyCustomerFields],
    }),
  }),
});

/** Reads an amount that is the same number of smallest units in every currency. */
function termRead(amount: bigint): Read {
  return moneyReadOf(
    () => `${amount}::bigint`,
    (env) => env.code ?? '',
  );
}

const knownCodes = currencies.map(({ code }) => literal(code)).join(', ');

const Platform = builder.objectRef<PlatformRow>('Platform').implement({
  description: 'A platform and its settings. Its webhooks are `webhookEndpoints`.',
  interfaces: [builder.nodeInterfaceRef()],
  ...typeReads({ model: 'Platform', visible: ownPlatform }),
  fields: (t) => ({
    id: t.id({
      description: 'Platform:…',
      ...reads(leaf.id('Platform')),
      resolve: ({ id }) => publicId('Platform', id),
    }),
    name: t.exposeString('name', { description: 'What its operator calls it.' }),
    environment: t.expose('environment', { type: Environment, description: 'Sandbox or production.' }),
    umaDomain: t.exposeString('umaDomain', { description: "The domain of new customers' UMA addresses." }),
    supportedCurrencies: t.field({
      type: [PlatformCurrency],
      description: 'The currencies in which new customers get internal accounts.',
      ...reads({
        kind: 'values',
        from: ({ row }, alias) => ({
          from: [
            `(select * from unnest(${row}.currencies) with ordinality as c(code, position) where c.code in (${knownCodes})) ${alias}`,
          ],
          orderBy: `${alias}.position`,
          env: { code: `${alias}.code` },
        }),
      }),
      resolve: ({ currencies: codes }) => codes.filter(currencyOf).map((code) => ({ code })),
    }),
    isRegulatedFinancialInstitution: t.boolean({
      description: 'Whether customers count as verified by the platform itself. Set by the operator.',
      ...reads(leaf.of(() => [same(isRegulatedFinancialInstitution)])),
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
  t.field({
    type: Platform,
    description: "The caller's platform and its settings.",
    ...planned({
      kind: 'row',
      from: (_env, alias) => [
        `platform ${alias} where `,
        (run) => conditionsOf('Platform', alias, ownPlatform(run.viewer), run),
      ],
    }),
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
