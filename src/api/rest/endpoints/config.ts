import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { publicId } from '../../../core/ids.ts';
import type { PathTable } from '../../../core/refusal.ts';
import type { Caller } from '../../../domain/access/caller.ts';
import {
  currencySettings,
  isRegulatedFinancialInstitution,
  type PlatformSettings,
  readPlatform,
  updatePlatform,
} from '../../../domain/platforms/platforms.ts';
import { TransactionType, TrustedDocumentPolicy } from '../../../infra/database/generated/client/client.ts';
import { findConfigEndpoint } from '../../webhooks/endpoints/endpoint-queries.ts';
import { checkConfigEndpoint, checkUrl, setConfigEndpoint, stateOf } from '../../webhooks/endpoints/endpoints.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import { demandedTag, type RestEnvironment, setTag, versionIn } from '../context.ts';
import { type Endpoints, ifMatchParameter, withRequestPaths } from '../endpoint.ts';
import { RestError } from '../errors.ts';
import {
  amount,
  boolean,
  changed,
  id,
  listOf,
  oneOf,
  requestObject,
  responseObject,
  string,
  time,
  whole,
} from '../schemas/fields.ts';

/** The settings that all currencies share, as JSON. */
const settings = {
  ...currencySettings,
  minAmount: Number(currencySettings.minAmount),
  maxAmount: Number(currencySettings.maxAmount),
  requiredCounterpartyFields: [...currencySettings.requiredCounterpartyFields],
  enabledTransactionTypes: [...currencySettings.enabledTransactionTypes],
  providerRequiredCustomerFields: [...currencySettings.providerRequiredCustomerFields],
  providerRequiredCounterpartyCustomerFields: [...currencySettings.providerRequiredCounterpartyCustomerFields],
};

const currencyCode = string('The currency code.', 'USD');

/** The currency settings that a request must either omit or repeat as GET returned them. */
const terms = {
  requiredCounterpartyFields: listOf(
    z.object({
      name: string('The name of the field: FULL_NAME, BIRTH_DATE, …'),
      mandatory: boolean('Whether a payment is refused without this information.'),
    }),
  ).describe('The counterparty information that is required or accepted for payments in this currency.'),
  enabledTransactionTypes: listOf(z.enum(TransactionType)).describe('The enabled payment directions.'),
  providerRequiredCustomerFields: listOf(z.string()).describe(
    'The names of the fields that a customer record must have for payments in this currency.',
  ),
  providerRequiredCounterpartyCustomerFields: listOf(z.string()).describe(
    'The names of the customer fields that are sent to the counterparty of a payment in this currency.',
  ),
};

const urlDescription =
  'The URL to which events are posted: https with a public host, on port 443 or 8443. In the sandbox, http or https to the loopback interface is also accepted. Setting it requires TRANSACT as well as MANAGE and VIEW, because the responses from this URL can approve payments.';
const webhookEndpoint = string(urlDescription, 'https://example.com/webhooks');

const trustedDocuments = oneOf(
  TrustedDocumentPolicy,
  'Which tokens are limited to registered documents over GraphQL: none (OPTIONAL), client tokens (APPS) or all tokens (ALL).',
);

const ConfigSchema = responseObject('PlatformConfig', {
  id: id('PlatformConfig', 'The id of the settings.'),
  umaDomain: string("The domain for new customers' UMA addresses."),
  webhookEndpoint: webhookEndpoint.optional(),
  webhookTokenId: id(
    'ApiToken',
    "The API token that set the webhookEndpoint. Revoking the token disables the endpoint. Absent if the service's operator set it.",
  ).optional(),
  supportedCurrencies: listOf(
    z.object({
      currencyCode,
      minAmount: amount("The smallest payment amount, in the currency's smallest unit."),
      maxAmount: amount("The largest payment amount, in the currency's smallest unit."),
      ...terms,
    }),
  ).describe('The currencies in which new customers get internal accounts.'),
  trustedDocuments,
  isRegulatedFinancialInstitution: boolean(
    "Whether the platform verifies its customers itself, in which case they all count as verified. The service's operator sets this.",
  ),
  createdAt: time('When the platform was created.'),
  updatedAt: time('When the settings last changed.'),
}).describe("The platform's settings.");

const ChangedConfigSchema = responseObject('ChangedPlatformConfig', {
  ...ConfigSchema.shape,
  webhookSecret: string(
    'The secret (whsec_…) that signs the events for a new webhookEndpoint. It is shown only once and stays the same when the URL changes.',
  ).optional(),
}).describe('The settings, with the secret of a new webhookEndpoint.');

const fixed = whole('Fixed: only the value that GET returns is accepted; any other is refused with 501.').optional();

const UpdateConfigBody = requestObject('UpdatePlatformConfig', {
  umaDomain: string(
    "The domain for new customers' UMA addresses. In production, only a domain that the service's operator has assigned to the platform is accepted; any other is refused with 409.",
  ).nullish(),
  webhookEndpoint: webhookEndpoint
    .nullish()
    .describe(`${urlDescription} A TEST event is sent to a new URL; null removes the URL.`),
  supportedCurrencies: changed(
    listOf(
      z.strictObject({ currencyCode, minAmount: fixed, maxAmount: fixed, ...z.object(terms).partial().shape }),
    ).min(1),
  ).describe('The currencies in which new customers get internal accounts. The list replaces the current one.'),
  trustedDocuments: trustedDocuments.nullish(),
});

type CurrencySetting = NonNullable<z.infer<typeof UpdateConfigBody>['supportedCurrencies']>[number];

/** Refuses currency settings that differ from those that GET returns. */
function checkOffered({ currencyCode: _code, ...given }: CurrencySetting, position: number): void {
  for (const [name, value] of Object.entries(given)) {
    const offered = settings[name as keyof typeof settings];
    if (value === undefined || JSON.stringify(value) === JSON.stringify(offered)) continue;
    const field = `supportedCurrencies.${position}.${name}`;
    const message = `must be ${JSON.stringify(offered)}: other values are not offered`;
    throw new RestError('NOT_IMPLEMENTED', `${field}: ${message}`, {
      errors: [{ field, constraint: 'unsupported', message }],
    });
  }
}

/** Reads the settings and their entity tag, which also covers the webhook endpoint. */
async function readConfig({ payments }: Webhooks, caller: Caller) {
  const [platform, endpoint] = await Promise.all([
    readPlatform(payments, caller),
    findConfigEndpoint(payments.database.prisma, caller),
  ]);
  const record = {
    id: publicId('PlatformConfig', platform.id),
    umaDomain: platform.umaDomain,
    ...(endpoint && { webhookEndpoint: endpoint.url }),
    ...(endpoint?.tokenId && { webhookTokenId: publicId('ApiToken', endpoint.tokenId) }),
    supportedCurrencies: platform.currencies.map((code) => ({ currencyCode: code, ...settings })),
    trustedDocuments: platform.trustedDocuments,
    isRegulatedFinancialInstitution,
    createdAt: platform.createdAt.toISOString(),
    updatedAt: platform.updatedAt.toISOString(),
  };
  return { record, tag: `${platform.version}-${stateOf(endpoint)}` };
}

const platformPaths: PathTable<PlatformSettings & { readonly url: string }> = [
  [['currencies'], ['supportedCurrencies']],
  [['url'], ['webhookEndpoint']],
];

/** Adds the endpoints for platform settings. */
export function configEndpoints(endpoints: Endpoints, webhooks: Webhooks): void {
  const answer = async (context: Context<RestEnvironment>) => {
    const { record, tag } = await readConfig(webhooks, context.get('viewer'));
    setTag(context, tag);
    return record;
  };

  endpoints.serve('getConfig', {
    summary: "Get the platform's settings",
    description: "The settings of the caller's platform.",
    at: '/config',
    answer: [ConfigSchema, 'The settings.'],
    isTagged: true,
    run: (_given, context) => answer(context),
  });

  // This is not a command, so it takes no idempotency key.
  endpoints.serve('updateConfig', {
    summary: "Change the platform's settings",
    description: 'Omitted fields stay unchanged, and so do existing accounts and addresses.',
    at: 'patch /config',
    operation: 'updatePlatform',
    body: UpdateConfigBody,
    parameters: [ifMatchParameter],
    answer: [ChangedConfigSchema, 'The changed settings.'],
    isTagged: true,
    errors: [409, 412, 413, 415, 501, 504],
    run: async (body, context) => {
      const viewer = context.get('viewer');
      const { umaDomain, supportedCurrencies, trustedDocuments, webhookEndpoint: url } = body;
      supportedCurrencies?.forEach(checkOffered);
      const demanded = demandedTag(context);
      const isEmpty = url === undefined && Object.values(body).every((value) => value == null);
      if (demanded === undefined && isEmpty) return answer(context);
      const [version = '', state = ''] = demanded?.split('-') ?? [];
      let webhookSecret: string | undefined;
      const change = async () => {
        if (typeof url === 'string') checkUrl(webhooks, viewer, url);
        const currencies = supportedCurrencies?.map((entry) => entry.currencyCode);
        const expectedVersion = demanded === undefined ? undefined : versionIn(version);
        const changes = { umaDomain, currencies, trustedDocuments, expectedVersion };
        await updatePlatform(webhooks.payments, viewer, changes, undefined, async (transaction) => {
          if (demanded !== undefined) await checkConfigEndpoint(transaction, viewer, state);
          if (url !== undefined) webhookSecret = await setConfigEndpoint(webhooks, transaction, viewer, url);
          return url !== undefined;
        });
      };
      await withRequestPaths(platformPaths, change());
      return { ...(await answer(context)), ...(webhookSecret && { webhookSecret }) };
    },
  });
}
