import { createRoute, z } from '@hono/zod-openapi';
import { type Platform, TransactionType } from '../database/generated/client/client.ts';
import type { Payments } from '../payments/command.ts';
import { publicId } from '../payments/ids.ts';
import { readPlatform, updatePlatform } from '../payments/platform-config.ts';
import { maxAmount } from '../payments/pricing.ts';
import { Refusal } from '../payments/refusal.ts';
import type { RestApp } from './app.ts';
import { answers, body, managing, noQuery, readErrors, reading, renamed } from './endpoint.ts';
import { RestError } from './errors.ts';
import { amount, id, time } from './money.ts';

const tags = ['Platform'];

/** What holds for every currency: the limits of payments, no field demanded of counterparties, both ways open. */
const everyCurrency = {
  minAmount: 1,
  maxAmount: Number(maxAmount),
  requiredCounterpartyFields: [] as { name: string; mandatory: boolean }[],
  enabledTransactionTypes: [TransactionType.INCOMING, TransactionType.OUTGOING],
};

const currencyCode = z.string().openapi({ description: 'Currency code.', example: 'USD' });
const requiredField = z.object({
  name: z.string().openapi({ description: 'FULL_NAME, BIRTH_DATE, …' }),
  mandatory: z.boolean().openapi({ description: 'Whether a payment is refused without it.' }),
});

const ConfigSchema = z
  .object({
    id: id('PlatformConfig', 'Its id.'),
    umaDomain: z.string().openapi({ description: "The domain of new customers' UMA addresses." }),
    supportedCurrencies: z
      .array(
        z.object({
          currencyCode,
          minAmount: amount('The least of a payment, in the smallest unit.'),
          maxAmount: amount('The most of a payment, in the smallest unit.'),
          requiredCounterpartyFields: z
            .array(requiredField)
            .openapi({ description: 'What must be known of the other side.' }),
          enabledTransactionTypes: z
            .array(z.enum(TransactionType))
            .openapi({ description: 'Which ways money may go.' }),
        }),
      )
      .openapi({ description: 'The currencies in which new customers get internal accounts.' }),
    isRegulatedFinancialInstitution: z
      .boolean()
      .openapi({ description: 'Whether customers count as checked by the platform itself. Set by the operator.' }),
    createdAt: time('When the platform was made.'),
  })
  .openapi('PlatformConfig', { description: "The platform's settings (domain-facts 9)." });

const UpdateConfigBody = z
  .strictObject({
    umaDomain: z.string().optional().openapi({ description: "The domain of new customers' UMA addresses." }),
    supportedCurrencies: z
      .array(
        z.strictObject({
          currencyCode,
          minAmount: z.int().min(0).optional().openapi({ description: 'As GET shows it; another one is 501.' }),
          maxAmount: z.int().min(0).optional().openapi({ description: 'As GET shows it; another one is 501.' }),
          requiredCounterpartyFields: z
            .array(requiredField)
            .openapi({ description: 'What must be known of the other side.' })
            .optional(),
          enabledTransactionTypes: z
            .array(z.enum(TransactionType))
            .openapi({ description: 'Which ways money may go.' })
            .optional(),
        }),
      )
      .min(1)
      .optional()
      .openapi({ description: 'Replaces the list.' }),
  })
  .openapi('UpdatePlatformConfig');

const get = createRoute({
  ...reading({ operationId: 'getConfig', tags, summary: "Get the platform's settings" }),
  method: 'get',
  path: '/config',
  request: { query: noQuery },
  responses: { 200: answers(ConfigSchema, 'The settings.'), ...readErrors() },
});

const update = createRoute({
  ...managing({
    operationId: 'updateConfig',
    tags,
    summary: "Change the platform's settings",
    description: 'What is left out stays. Accounts and addresses that are there stay too.',
  }),
  method: 'patch',
  path: '/config',
  request: { query: noQuery, body: body(UpdateConfigBody) },
  responses: { 200: answers(ConfigSchema, 'The settings as they are now.'), ...readErrors(409, 413, 415, 501) },
});

type CurrencySetting = NonNullable<z.infer<typeof UpdateConfigBody>['supportedCurrencies']>[number];

/** Settings per currency can be repeated as they are shown; others are not offered. */
function checkOffered({ currencyCode: _code, ...given }: CurrencySetting, position: number): void {
  for (const [name, value] of Object.entries(given)) {
    const offered = everyCurrency[name as keyof typeof everyCurrency];
    if (value === undefined || JSON.stringify(value) === JSON.stringify(offered)) continue;
    const field = `supportedCurrencies.${position}.${name}`;
    const message = `must be ${JSON.stringify(offered)}: other values are not offered`;
    throw new RestError('NOT_IMPLEMENTED', `${field} ${message}`, {
      errors: [{ field, constraint: 'unsupported', message }],
    });
  }
}

function configRecord(platform: Platform): z.infer<typeof ConfigSchema> {
  return {
    id: publicId('PlatformConfig', platform.id),
    umaDomain: platform.umaDomain,
    supportedCurrencies: platform.currencies.map((code) => ({ currencyCode: code, ...everyCurrency })),
    isRegulatedFinancialInstitution: false,
    createdAt: platform.createdAt.toISOString(),
  };
}

/** Adds the endpoints of the platform's settings (domain-facts 9). */
export function configEndpoints(app: RestApp, payments: Payments): void {
  app.openapi(get, async (context) =>
    context.json(configRecord(await readPlatform(payments, context.get('viewer'))), 200),
  );

  app.openapi(update, async (context) => {
    const { umaDomain, supportedCurrencies } = context.req.valid('json');
    supportedCurrencies?.forEach(checkOffered);
    const settings = { umaDomain, currencies: supportedCurrencies?.map((entry) => entry.currencyCode) };
    try {
      return context.json(configRecord(await updatePlatform(payments, context.get('viewer'), settings)), 200);
    } catch (error) {
      throw error instanceof Refusal ? renamed(error, { currencies: 'supportedCurrencies' }) : error;
    }
  });
}
