/**
 * The public ids: `<Type>:<uuid>`, the same string in GraphQL, REST, events and webhooks (specification 2).
 * Inside, a row is known by its bare uuid.
 */
export type IdType =
  | 'Quote'
  | 'Transaction'
  | 'Customer'
  | 'InternalAccount'
  | 'ExternalAccount'
  | 'Lookup'
  | 'ApiToken'
  | 'ClientToken'
  | 'Platform'
  | 'PlatformConfig'
  | 'Event'
  | 'Webhook'
  | 'WebhookEndpoint'
  | 'WebhookDelivery'
  | 'LedgerEntry';

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The public id of a row. */
export function publicId(type: IdType, uuid: string): string {
  return `${type}:${uuid}`;
}

/** The uuid inside a public id of one of the given types, or undefined when it is not one: malformed is unknown. */
export function uuidOf(id: string, ...types: readonly IdType[]): string | undefined {
  const separator = id.indexOf(':');
  const uuid = id.slice(separator + 1);
  return types.some((type) => type === id.slice(0, separator)) && uuidForm.test(uuid) ? uuid : undefined;
}

/** The moment inside a UUIDv7: when the row was made, in milliseconds. */
export function madeAt(uuid: string): Date {
  return new Date(Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16));
}

/** The public id of an account, whose type is told by its kind. */
export function accountPublicId(kind: 'INTERNAL' | 'EXTERNAL', uuid: string): string {
  return publicId(kind === 'INTERNAL' ? 'InternalAccount' : 'ExternalAccount', uuid);
}

/** What both sides write on a payment to find it again, made from its id. */
export function paymentReference(uuid: string): string {
  return `PAY-${uuid.slice(-12).toUpperCase()}`;
}

/** The least uuid that a row made at this millisecond can have. */
export function firstIdAt(moment: Date): string {
  return idAtMoment(moment, '0');
}

/** The greatest uuid that a row made at this millisecond can have. */
export function lastIdAt(moment: Date): string {
  return idAtMoment(moment, 'f');
}

function idAtMoment(moment: Date, fill: '0' | 'f'): string {
  const ms = Math.min(Math.max(moment.getTime(), 0), 2 ** 48 - 1);
  const digits = ms.toString(16).padStart(12, '0').padEnd(32, fill);
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
