/** The types of public ids. The database and the domain use the bare uuid. */
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
  | 'Policy'
  | 'PlatformConfig'
  | 'Event'
  | 'Webhook'
  | 'WebhookEndpoint'
  | 'WebhookDelivery'
  | 'LedgerEntry'
  | 'Adjustment'
  | 'ReconciliationDifference'
  | 'Deposit';

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns a row's public id, which is the same in all APIs: `Type:uuid`. */
export function publicId(type: IdType, uuid: string): string {
  return `${type}:${uuid}`;
}

/** Returns the uuid in a public id of one of the given types; undefined for any other id, including a malformed one. */
export function uuidOf(id: string, ...types: readonly IdType[]): string | undefined {
  const separator = id.indexOf(':');
  const uuid = id.slice(separator + 1);
  return types.some((type) => type === id.slice(0, separator)) && uuidForm.test(uuid) ? uuid : undefined;
}

export interface AccountName {
  readonly kind: 'INTERNAL' | 'EXTERNAL';
  readonly id: string;
}

/** Returns the kind and the uuid in an account's public id. An internal and an external account never share a uuid. */
export function accountNameIn(id: string): AccountName | undefined {
  const uuid = uuidOf(id, 'InternalAccount', 'ExternalAccount');
  return uuid === undefined ? undefined : { kind: id.startsWith('Internal') ? 'INTERNAL' : 'EXTERNAL', id: uuid };
}

/** Returns a row's creation time, which its UUIDv7 contains in milliseconds. */
export function creationTime(uuid: string): Date {
  return new Date(Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16));
}

export function accountPublicId(kind: 'INTERNAL' | 'EXTERNAL', uuid: string): string {
  return publicId(kind === 'INTERNAL' ? 'InternalAccount' : 'ExternalAccount', uuid);
}

/** Returns a payment's reference, which is derived from its id. Sender and recipient can use it to find the payment. */
export function paymentReference(uuid: string): string {
  return `PAY-${uuid.slice(-12).toUpperCase()}`;
}

/** Returns the smallest (fill: 0) or largest (fill: f) uuid that a row created in the given millisecond can have. */
export function idAtMoment(moment: Date, fill: '0' | 'f'): string {
  const ms = Math.min(Math.max(moment.getTime(), 0), 2 ** 48 - 1);
  return hyphenated(ms.toString(16).padStart(12, '0').padEnd(32, fill));
}

export function hyphenated(digits: string): string {
  const part = (from: number, to?: number) => digits.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20)}`;
}
