import { createRoute, z } from '@hono/zod-openapi';
import type { Viewer } from '../../access/viewer.ts';
import { publicId, uuidOf } from '../../core/ids.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Payments } from '../../payments/command.ts';
import { lookUpReceiver } from '../../payments/receivers/lookups.ts';
import { lookupRecord } from '../../records/lookup-record.ts';
import type { RestApp } from '../app.ts';
import { answers, inRequest, readErrors, reading } from '../endpoint.ts';
import { lookupPaths } from '../input-paths.ts';
import { AmountSchema, amount, CurrencySchema, id, time } from '../schemas/money.ts';

const LookupSchema = z
  .object({
    id: id('Lookup', 'Its id.'),
    lookupId: id('Lookup', 'The same: what a quote to the receiver names, for ten minutes.'),
    receiverUmaAddress: z.string().openapi({ description: '$name@domain, in lower case.' }),
    receiver: z
      .object({
        handle: z.string().openapi({ description: 'The UMA address again.' }),
        vaspName: z.string().optional().openapi({ description: "The receiver's institution." }),
        network: z.string().optional().openapi({ description: 'UMA.' }),
      })
      .openapi({ description: 'Who receives.' }),
    supportedCurrencies: z
      .array(
        z
          .object({
            ...CurrencySchema.shape,
            estimatedExchangeRate: z.number().optional().openapi({
              description:
                "Units of the platform's first currency per unit of this one. Not locked: a quote locks a rate.",
            }),
            min: amount('The least that can be received, in its smallest unit.'),
            max: amount('The most that can be received, in its smallest unit.'),
          })
          .openapi('ReceiverCurrency', { description: 'A currency that a receiver takes.' }),
      )
      .openapi({ description: 'What the receiver takes, the preferred one first.' }),
    requiredPayerFields: z.array(z.string()).openapi({ description: 'What must be told of the sender: FULL_NAME, …' }),
    constraints: z
      .object({ minAmount: AmountSchema, maxAmount: AmountSchema })
      .optional()
      .openapi({ description: 'The least and the most in the preferred currency.' }),
    createdAt: time('When it was made.'),
  })
  .openapi('Lookup', { description: 'What the receiver behind a UMA address can be paid (specification 2.10).' });

const query = z.strictObject({
  customerId: id('Customer', 'The customer who would send.').optional(),
  platformUserId: z.string().optional().openapi({ description: "The same customer, by the platform's own id." }),
  senderUmaAddress: z.string().optional().openapi({ description: 'The same customer, by its UMA address.' }),
});

function lookup<Path extends string>(operationId: string, summary: string, path: Path) {
  return createRoute({
    ...reading({ operationId, tags: ['Receivers'], summary, description: 'The answer is good for ten minutes.' }),
    method: 'get',
    path,
    request: {
      params: z.object({
        receiverUmaAddress: z.string().openapi({ description: '$name@domain.', example: '$grace@example.com' }),
      }),
      query,
    },
    responses: { 200: answers(LookupSchema, 'What the receiver takes.'), ...readErrors(404) },
  });
}

const byAddress = lookup('getReceiver', 'Look up a receiver', '/receiver/{receiverUmaAddress}');
const byUmaAddress = lookup('getUmaReceiver', 'Look up a UMA receiver', '/receiver/uma/{receiverUmaAddress}');

/** Adds the lookups of receivers: both paths answer the same (specification 4.14, decision 11). */
export function receiverEndpoints(app: RestApp, payments: Payments): void {
  const answer = async (viewer: Viewer, umaAddress: string, parameters: z.infer<typeof query>) => {
    const customerId = await senderOf(payments, viewer, parameters);
    const { senderUmaAddress } = parameters;
    const input = { umaAddress, customerId, senderUmaAddress };
    return lookupRecord((await inRequest(lookupPaths, lookUpReceiver(payments, viewer, input))).row);
  };
  app.openapi(byUmaAddress, async (context) => {
    const { receiverUmaAddress } = context.req.valid('param');
    return context.json(await answer(context.get('viewer'), receiverUmaAddress, context.req.valid('query')), 200);
  });
  app.openapi(byAddress, async (context) => {
    const { receiverUmaAddress } = context.req.valid('param');
    return context.json(await answer(context.get('viewer'), receiverUmaAddress, context.req.valid('query')), 200);
  });
}

/** The sending customer's id. Several customers may share a platform's id; any of them does. */
async function senderOf(
  payments: Payments,
  viewer: Viewer,
  { customerId, platformUserId }: z.infer<typeof query>,
): Promise<string | undefined> {
  if (platformUserId === undefined) return customerId;
  const uuid = customerId === undefined ? undefined : (uuidOf(customerId, 'Customer') ?? null);
  const found =
    uuid === null
      ? null
      : await payments.database.prisma.customer.findFirst({
          where: {
            platformId: viewer.platformId,
            platformCustomerId: platformUserId,
            isDeleted: false,
            ...(uuid && { id: uuid }),
          },
          select: { id: true },
        });
  if (!found) throw new Refusal('USER_NOT_FOUND', 'no such customer', { path: ['platformUserId'] });
  return publicId('Customer', found.id);
}
