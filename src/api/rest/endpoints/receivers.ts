import { z } from '@hono/zod-openapi';
import { byId } from '../../../core/conditions.ts';
import { publicId } from '../../../core/ids.ts';
import { withoutNulls } from '../../../core/json.ts';
import { invalid, type PathTable, Refusal } from '../../../core/refusal.ts';
import type { Viewer } from '../../../domain/access/caller.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { whereCustomers } from '../../../domain/commands/filters.ts';
import {
  type LookUpReceiver,
  lookUpReceiver,
  lookupCurrencies,
  lookupFields,
} from '../../../domain/receivers/lookups.ts';
import { readRows } from '../../../infra/database/read-rows.ts';
import type { Lookup } from '../../../infra/database/rows.ts';
import { amountRecord, currencyRecord, jsonInteger, jsonNumber } from '../../records/fields.ts';
import { type Endpoints, withRequestPaths } from '../endpoint.ts';
import {
  AmountSchema,
  amount,
  boolean,
  CurrencySchema,
  id,
  listOf,
  rate,
  responseObject,
  string,
  time,
} from '../schemas/fields.ts';

const ReceiverCurrencySchema = responseObject('ReceiverCurrency', {
  ...CurrencySchema.shape,
  estimatedExchangeRate: rate(
    "Units of the platform's first currency per unit of this currency, in major units. This is an estimate; only a quote locks a rate.",
  ).optional(),
  min: amount("The smallest amount that can be received, in the currency's smallest unit."),
  max: amount("The largest amount that can be received, in the currency's smallest unit."),
}).describe('A currency that a receiver accepts.');

const supportedCurrencies = 'The currencies that the receiver accepts, starting with the preferred one.';

const LookupSchema = responseObject('Lookup', {
  id: id('Lookup', 'The id of the lookup.'),
  lookupId: id(
    'Lookup',
    'The same as `id`. A quote to the receiver must contain it and be created within ten minutes.',
  ),
  receiverUmaAddress: string("The receiver's UMA address: $name@domain, in lower case."),
  receiver: z
    .object({
      handle: string('The same as `receiverUmaAddress`.'),
      vaspName: string("The name of the receiver's institution.").optional(),
      network: string('The network of the receiver: UMA.').optional(),
    })
    .describe('The receiver.'),
  supportedCurrencies: listOf(ReceiverCurrencySchema).describe(supportedCurrencies),
  requiredPayerFields: listOf(z.string()).describe('The names of the required sender fields, such as FULL_NAME.'),
  constraints: z
    .object({ minAmount: AmountSchema, maxAmount: AmountSchema })
    .optional()
    .describe('The smallest and largest amounts in the preferred currency.'),
  createdAt: time('When the lookup was made.'),
}).describe('The currencies and limits for payments to a UMA address, and the sender fields that are required.');

const UmaLookupSchema = responseObject('UmaLookup', {
  ...LookupSchema.shape,
  supportedCurrencies: listOf(
    responseObject('UmaReceiverCurrency', { ...ReceiverCurrencySchema.shape, currency: CurrencySchema }).describe(
      'A currency that a receiver accepts, with its details in `currency`.',
    ),
  ).describe(supportedCurrencies),
  requiredPayerDataFields: listOf(
    z.object({
      name: string('The name of the field, such as FULL_NAME.'),
      mandatory: boolean('Whether the payment fails without this information.'),
    }),
  ).describe('All sender information that the receiver requests.'),
}).describe('A lookup with additional fields for clients that use the older form of the lookup request.');

const query = z.strictObject({
  customerId: string('The customer who would send the money.').optional(),
  platformUserId: string(
    "The platform's own id for the customer who would send the money; refused if several customers have that id.",
  ).optional(),
  senderUmaAddress: string('The UMA address of the customer who would send the money.').optional(),
});

const paths: PathTable<LookUpReceiver> = [[['umaAddress'], ['receiverUmaAddress']]];

/** Adds the receiver lookup under two paths, one of them for older clients. */
export function receiverEndpoints(endpoints: Endpoints, payments: Payments): void {
  const shared = {
    description: 'Looks up the receiver at a UMA address. The result is valid for ten minutes.',
    access: 'LOOKUP',
    params: z.object({
      receiverUmaAddress: string('The UMA address: $name@domain.', '$success.eur@sandbox.uma.money'),
    }),
    query,
    errors: [404],
  } as const;
  const about = "The receiver's currencies and limits.";
  const lookUp = async (
    viewer: Viewer,
    { receiverUmaAddress: umaAddress, ...sender }: z.infer<typeof query> & { readonly receiverUmaAddress: string },
  ) => {
    const customerId = await senderOf(payments, viewer, sender);
    const input = { umaAddress, customerId, senderUmaAddress: sender.senderUmaAddress };
    return (await withRequestPaths(paths, lookUpReceiver(payments, viewer, input))).row;
  };

  endpoints.serve('getUmaReceiver', {
    summary: 'Look up a UMA receiver',
    at: '/receiver/uma/{receiverUmaAddress}',
    answer: [UmaLookupSchema, about],
    run: async (given, context) => umaLookupRecord(await lookUp(context.get('viewer'), given)),
    ...shared,
  });
  endpoints.serve('getReceiver', {
    summary: 'Look up a receiver',
    at: '/receiver/{receiverUmaAddress}',
    answer: [LookupSchema, about],
    run: async (given, context) => lookupRecord(await lookUp(context.get('viewer'), given)),
    ...shared,
  });
}

/** Returns the sender's id. Throws USER_NOT_FOUND, or INVALID_INPUT if several customers have that `platformUserId`. */
async function senderOf({ database }: Payments, viewer: Viewer, { customerId, platformUserId }: z.infer<typeof query>) {
  if (platformUserId === undefined) return customerId;
  const named = byId(customerId, (id) => ({ id }), 'Customer');
  const where = { AND: [whereCustomers(viewer, { platformCustomerId: platformUserId }), named] };
  const [customer, another] = await readRows(database, 'Customer', { where, take: 2 });
  const problem = 'several customers have this platformCustomerId: use customerId instead';
  if (another) throw invalid(problem, ['platformUserId']);
  if (!customer) throw new Refusal('USER_NOT_FOUND', 'no such customer', { path: ['platformUserId'] });
  return publicId('Customer', customer.id);
}

/** Converts a row to a lookup record, with the specification's fields and our own. Throws UnrepresentableAmount. */
function lookupRecord(row: Lookup) {
  const currencies = lookupCurrencies(row);
  const [preferred] = currencies;
  const id = publicId('Lookup', row.id);
  return {
    id,
    lookupId: id,
    receiverUmaAddress: row.umaAddress,
    receiver: withoutNulls({ handle: row.umaAddress, vaspName: row.vaspName, network: row.network }),
    supportedCurrencies: currencies.map(({ code, estimatedExchangeRate: rate, minAmount, maxAmount }) => ({
      ...currencyRecord(code),
      ...(rate !== null && { estimatedExchangeRate: jsonNumber(rate) }),
      min: jsonInteger(BigInt(minAmount)),
      max: jsonInteger(BigInt(maxAmount)),
    })),
    requiredPayerFields: lookupFields(row).flatMap(({ name, mandatory }) => (mandatory ? [name] : [])),
    constraints: preferred && {
      minAmount: amountRecord(BigInt(preferred.minAmount), preferred.code),
      maxAmount: amountRecord(BigInt(preferred.maxAmount), preferred.code),
    },
    createdAt: row.createdAt.toISOString(),
  };
}

/** Adds the fields that clients of the older request form expect. */
function umaLookupRecord(row: Lookup) {
  const { supportedCurrencies, ...record } = lookupRecord(row);
  return {
    ...record,
    supportedCurrencies: supportedCurrencies.map((one) => ({ ...one, currency: currencyRecord(one.code) })),
    requiredPayerDataFields: lookupFields(row).map(({ name, mandatory }) => ({ name, mandatory })),
  };
}
