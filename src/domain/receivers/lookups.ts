import { maxAmount } from '../../core/checks.ts';
import { type Currency, currencyOf } from '../../core/currencies.ts';
import { publicId, uuidOf } from '../../core/ids.ts';
import { type FieldPath, invalid, pathsIn, Refusal } from '../../core/refusal.ts';
import type { Prisma } from '../../infra/database/generated/client/client.ts';
import { type Lookup, trustedJson } from '../../infra/database/rows.ts';
import { statement } from '../../infra/database/statement.ts';
import type { RequiredField, UmaReceiver } from '../../rails/rail.ts';
import type { Caller } from '../access/caller.ts';
import { authorize } from '../access/operations.ts';
import { runIdempotent } from '../access/run-idempotent.ts';
import { forCaller, seesLookups, visibleLookups, visibleRow } from '../access/visible.ts';
import { type Payments, type RailWith, type Runs, railOf } from '../commands/command.ts';
import { customerNotFound, customerUuid } from '../commands/parties.ts';
import { lookupExpired } from '../commands/plan-refusals.ts';
import { checkUmaAddress } from '../commands/uma-addresses.ts';
import { neededOf } from '../orders/orders.ts';
import { narrowest, receivingLimits } from '../pricing/pricing.ts';

export interface LookUpReceiver {
  readonly umaAddress: string;
  /** The prospective sender, who must be a customer of the platform. */
  readonly customerId?: string | null | undefined;
  /** The same customer, identified by UMA address. */
  readonly senderUmaAddress?: string | null | undefined;
}

/** A currency in a lookup, as stored. Amounts are strings of digits, in the currency's smallest unit. */
export type LookupCurrency = Record<'code' | 'minAmount' | 'maxAmount', string> & {
  estimatedExchangeRate: string | null;
};

/** The maximum number of unexpired lookups per token. Each lasts ten minutes, so this allows over 16 per second. */
export const maxLookups = 10_000;

const receiverStatement = forCaller(
  statement<{
    id: string;
    baseCurrency: string;
    senderId: string | null;
    receiverPlatformId: string | null;
    receiverCustomerId: string | null;
    umaDomain: string | null;
    currencies: string[] | null;
    depositCurrency: string | null;
    sendingCurrencies: SendingCurrency[] | null;
    isFull: boolean;
  }>(
    'receiver_by_uma_address',
    `select uuid_v7() as id, p.currencies[1] as base_currency,
     (select count(*) >= $8 from (select from lookup l where l.platform_id = $1 and l.token_id = $7
        and l.expires_at > clock_timestamp() limit $8) unexpired) as is_full,
     s.id as sender_id,
     r.platform_id as receiver_platform_id, r.id as receiver_customer_id, r.uma_domain, r.currencies, r.deposit_currency,
     (select json_agg(json_build_object('code', c.code, 'fixedFee', coalesce(f.fixed_fee, 0)::text,
        'variableFeeRate', coalesce(f.variable_fee_rate, 0)::text))
      from unnest(coalesce(
        (select array_agg(a.currency) from account a
         where a.platform_id = p.id and a.customer_id = s.id and a.kind = 'INTERNAL'), p.currencies)) as c (code)
      left join platform_fee f on f.platform_id = p.id and f.sending_currency = c.code) as sending_currencies
   from platform p
   left join lateral (
     select s.id from customer s where ${visibleRow('customer', 's')} and not s.is_deleted
       and ($5::uuid is not null or $6::text is not null)
       and (s.id = $5 or $5::uuid is null) and (lower(s.uma_address) = $6 or $6::text is null)) s on true
   left join find_receiver($4, p.environment) r on true
   where p.id = $1`,
  ),
);

const at = pathsIn<LookUpReceiver>();

/**
 * Looks up how the receiver at a UMA address can be paid. The receiver is either a customer of this installation or
 * found through the rail. The lookup is valid for ten minutes.
 * @throws Refusal FORBIDDEN, INVALID_UMA_ADDRESS, UMA_NOT_FOUND, USER_NOT_FOUND, RATE_LIMITED (the caller's token has
 *   too many lookups), SERVICE_UNAVAILABLE (the rail does not answer), IDEMPOTENCY_MISMATCH
 */
export const lookUpReceiver: Runs<LookUpReceiver, Lookup> = async (payments, caller, input, idempotencyKey) => {
  authorize(caller, 'lookUpReceiver');
  const { platformId } = caller;
  const readData = () => findReceiver(payments, caller, input);
  // Without a key to store, one statement is enough. A transaction around it would take twice as long.
  if (idempotencyKey === null || idempotencyKey === undefined) {
    return { row: await payments.database.prisma.lookup.create({ data: await readData() }), replayed: false };
  }
  return runIdempotent(payments.database, caller, {
    operation: 'lookUpReceiver',
    input,
    idempotencyKey,
    prepare: async () => {
      const data = await readData();
      return async ({ prisma }) => {
        const row = await prisma.lookup.create({ data: { ...data, keyed: true } });
        return { result: { type: 'Lookup', row: { platform_id: platformId, id: row.id } }, answer: { row } };
      };
    },
    // A lookup never changes, and is kept longer than the idempotency key with which it was created.
    repeat: async ({ row }) => {
      if (!row) throw new Error('the stored result of a lookup has no row');
      const where = { AND: [visibleLookups(caller), { id: row.id }] };
      return { row: await payments.database.prisma.lookup.findFirstOrThrow({ where }) };
    },
  });
};

/** Finds the receiver, and returns the lookup's row. */
async function findReceiver(
  payments: Payments,
  caller: Caller,
  input: LookUpReceiver,
): Promise<Prisma.LookupUncheckedCreateInput> {
  const umaAddress = checkUmaAddress(input.umaAddress, at('umaAddress'));
  const named = input.customerId == null ? null : customerUuid(input.customerId, at('customerId'));
  // A customer's app looks up receivers for that customer.
  const customer = named ?? (caller.bound.kind === 'CUSTOMER' ? caller.bound.customerId : null);
  const sender =
    input.senderUmaAddress == null ? null : checkUmaAddress(input.senderUmaAddress, at('senderUmaAddress'));
  const asked = [umaAddress, customer, sender, caller.tokenId, maxLookups] as const;
  const [found] = await receiverStatement(payments.database.pool, caller, ...asked);
  if (!found) throw new Error(`no platform ${caller.platformId}`);
  if (found.isFull) {
    const message = `this token has ${maxLookups} unexpired lookups, the maximum; try again when some have expired`;
    throw new Refusal('RATE_LIMITED', message, { retryAfter: 60 });
  }
  if ((customer || sender) && !found.senderId) customerNotFound(customer ? at('customerId') : at('senderUmaAddress'));

  const rail = railOf(payments, caller, 'rate');
  const { id, receiverPlatformId, receiverCustomerId, senderId: senderCustomerId } = found;
  const receiver =
    receiverCustomerId === null
      ? await neededOf(payments, railOf(payments, caller, 'lookUp').lookUp(umaAddress))
      : ownReceiver(found.umaDomain ?? '', found.currencies ?? [], found.depositCurrency);
  if (!receiver) {
    const details = { path: at('umaAddress'), value: umaAddress };
    throw new Refusal('UMA_NOT_FOUND', `nobody has the UMA address ${umaAddress}`, details);
  }
  const pricing = pricedCurrencies(rail, receiver, found.baseCurrency, found.sendingCurrencies ?? []);
  return {
    ...{ platformId: caller.platformId, id, tokenId: caller.tokenId, umaAddress },
    ...{ senderCustomerId, receiverPlatformId, receiverCustomerId },
    vaspName: receiver.vaspName,
    network: 'UMA',
    currencies: await neededOf(payments, pricing),
    requiredFields: receiver.requiredFields.map((field) => ({ ...field })),
    information: { ...receiver.information },
  };
}

/** A currency in which the sender can pay, with the platform's own fee for it. */
type SendingCurrency = Readonly<Record<'code' | 'fixedFee' | 'variableFeeRate', string>>;

/**
 * Returns the receiver's currencies, each with its price in the platform's first currency (`base`), and with the range
 * of amounts that can arrive regardless of the sending currency.
 */
function pricedCurrencies(
  rail: RailWith<'rate'>,
  receiver: UmaReceiver,
  base: string,
  senders: readonly SendingCurrency[],
): Promise<LookupCurrency[]> {
  const from = currencyOf(base);
  return Promise.all(
    receiver.currencies.map(async ({ code, minAmount, maxAmount: limit }) => {
      const to = currencyOf(code);
      const own = { min: minAmount, max: limit };
      // All rates are requested at the same time, so that the rail can combine the requests to its provider.
      const [terms, ...limits] = await Promise.all([
        from && to && rail.rate(from, to),
        ...senders.map((sender) => to && sendingLimit(rail, sender, to)),
      ]);
      const { min, max } = narrowest([own, ...limits.filter((one) => one !== undefined)]) ?? own;
      return { code, estimatedExchangeRate: terms?.rate ?? null, minAmount: String(min), maxAmount: String(max) };
    }),
  );
}

/** Returns the range of amounts that can arrive from a sending currency; undefined if the rail does not convert it. */
async function sendingLimit(rail: RailWith<'rate'>, sender: SendingCurrency, receiving: Currency) {
  const sending = currencyOf(sender.code);
  const rate = sending && (await rail.rate(sending, receiving));
  if (!rate) return undefined;
  const platformFee = { fixedFee: BigInt(sender.fixedFee), variableFeeRate: sender.variableFeeRate };
  return receivingLimits({ sending, receiving, rate, platformFee });
}

const lookupStatement = forCaller(
  statement<{ lookup: Lookup; expired: boolean }>(
    'lookup_for_quote',
    `select to_jsonb(l) as lookup, l.expires_at <= clock_timestamp() as expired from lookup l
   where ${visibleRow('lookup', 'l')} and l.id = $4`,
    { lookup: 'Lookup' },
  ),
);

/**
 * Reads the lookup that a quote to a UMA address refers to.
 * @throws Refusal INVALID_INPUT (missing, or for a different address), LOOKUP_REQUEST_NOT_FOUND (unknown or expired)
 */
export async function readLookup(
  payments: Payments,
  caller: Caller,
  lookupId: string | null | undefined,
  umaAddress: string,
): Promise<Lookup> {
  const path: FieldPath = ['lookupId'];
  if (!lookupId) throw invalid('a quote to a UMA address needs a lookup of the receiver', path);
  const uuid = uuidOf(lookupId, 'Lookup');
  const [found] = uuid && seesLookups(caller) ? await lookupStatement(payments.database.pool, caller, uuid) : [];
  if (!found) throw new Refusal('LOOKUP_REQUEST_NOT_FOUND', 'no such lookup', path);
  // The database checks this again under the quote's locks. This check only saves a needless call to the rail.
  if (found.expired) throw new Refusal('LOOKUP_REQUEST_NOT_FOUND', lookupExpired, path);
  const { lookup } = found;
  if (lookup.umaAddress !== umaAddress) {
    throw invalid(`the lookup is for ${lookup.umaAddress}, not for ${umaAddress}`, path);
  }
  return lookup;
}

export function lookupCurrencies(lookup: Pick<Lookup, 'currencies'>): readonly LookupCurrency[] {
  return trustedJson<readonly LookupCurrency[]>(lookup.currencies);
}

export function lookupFields(lookup: Pick<Lookup, 'requiredFields'>): readonly RequiredField[] {
  return trustedJson<readonly RequiredField[]>(lookup.requiredFields);
}

/** The fields that every receiver of this installation requests from a sender. */
const payerFields: readonly RequiredField[] = [
  { name: 'FULL_NAME', mandatory: true },
  { name: 'BIRTH_DATE', mandatory: false },
  { name: 'NATIONALITY', mandatory: false },
];

/** Describes a receiver of this installation, with the currency of its default deposit account first. */
function ownReceiver(umaDomain: string, currencies: readonly string[], depositCurrency: string | null): UmaReceiver {
  const isDeposit = (code: string) => code === depositCurrency;
  const codes = currencies.toSorted((one, other) => Number(isDeposit(other)) - Number(isDeposit(one)));
  return {
    vaspName: umaDomain,
    currencies: codes.map((code) => ({ code, minAmount: 1n, maxAmount })),
    requiredFields: payerFields,
    information: {},
  };
}

const inQuote = pathsIn<{ readonly lookupId: string; readonly source: object; readonly currency: string }>();

/**
 * Returns the destination and the source account that a quote takes from its receiver lookup. The lookup determines
 * both, so a repeated request always means the same thing. The lookup's expiry is checked when the quote is created.
 * @param currency the sending currency; undefined if the quote names its source itself
 * @throws Refusal FORBIDDEN, LOOKUP_REQUEST_NOT_FOUND, INVALID_INPUT (the lookup named no sender: `source`),
 *   INVALID_CURRENCY (the sender has no account in the currency: `currency`)
 */
export async function partiesOfLookup(
  payments: Payments,
  caller: Caller,
  lookupId: string,
  currency: string | undefined,
): Promise<{ readonly umaAddress: string; readonly accountId: string | undefined }> {
  authorize(caller, 'createQuote');
  const uuid = uuidOf(lookupId, 'Lookup');
  const accounts = { where: { kind: 'INTERNAL', currency: currency ?? '' }, select: { id: true } } as const;
  const lookup =
    uuid &&
    (await payments.database.prisma.lookup.findFirst({
      where: { AND: [visibleLookups(caller), { id: uuid }] },
      select: { umaAddress: true, senderCustomerId: true, sender: { select: { accounts } } },
    }));
  if (!lookup) throw new Refusal('LOOKUP_REQUEST_NOT_FOUND', 'no such lookup', inQuote('lookupId'));
  const { umaAddress, senderCustomerId: senderId } = lookup;
  if (currency === undefined) return { umaAddress, accountId: undefined };
  const accountId = lookup.sender?.accounts[0]?.id;
  if (senderId === null) throw invalid('the lookup has no sender, so the quote needs a source', inQuote('source'));
  if (accountId === undefined) {
    const message = `${publicId('Customer', senderId)} has no account in ${JSON.stringify(currency)}`;
    throw new Refusal('INVALID_CURRENCY', message, { path: inQuote('currency'), value: currency });
  }
  return { umaAddress, accountId: publicId('InternalAccount', accountId) };
}
