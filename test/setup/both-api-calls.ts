import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Operation } from '../../src/domain/access/operations.ts';
import type { results } from './both-apis.ts';
import type { Data, TestPlatform } from './gateway.ts';
import type { RestClient } from './rest.ts';

/** The result of a call: the record in its REST form, or the refusal's code and field. */
export type Outcome =
  | { readonly record: Data; readonly replayed: boolean }
  | { readonly code: string; readonly field: string };

export interface Call {
  readonly rest: { readonly method?: 'PATCH' | 'DELETE'; readonly path: string; readonly body?: object };
  readonly mutation: Operation;
  readonly input: object;
  readonly result: (typeof results)[keyof typeof results];
}

/** Makes the call over both APIs with the same key. Expects a single effect, and the same result from both. */
export async function madeOnBoth(
  { platform, rest }: { readonly platform: TestPlatform; readonly rest: RestClient },
  call: Call,
  restFirst: boolean,
): Promise<Outcome> {
  const key = randomUUID();
  const overRest = () => askRest(rest, call, key);
  const overGraphql = () => askGraphql(platform, call, key);
  const first = restFirst ? await overRest() : await overGraphql();
  const second = restFirst ? await overGraphql() : await overRest();
  if ('record' in first) {
    expect(first.replayed).toBe(false);
    expect(second).toEqual({ ...first, replayed: true });
  } else {
    expect({ call, ...second }).toEqual({ call, ...first });
  }
  return first;
}

async function askRest(rest: RestClient, { rest: { method, path, body } }: Call, key: string): Promise<Outcome> {
  const { status, body: answer, headers } = await rest.call(method ?? 'POST', path, { body, key });
  if (status >= 300) return { code: answer.code, field: answer.details.field };
  const { paymentInstructions, ...transaction } = answer;
  const isTransaction = 'settledAt' in answer;
  return { record: isTransaction ? transaction : answer, replayed: headers.get('idempotency-replayed') === 'true' };
}

async function askGraphql(platform: TestPlatform, { mutation, input, result }: Call, key: string): Promise<Outcome> {
  const answer = await platform.act(mutation, { ...input, idempotencyKey: key }, `${result.name} { ${result.fields} }`);
  if (answer.code) return { code: answer.code, field: asRestField(mutation, answer.path, input) };
  return { record: result.asRest(answer[result.name]), replayed: answer.replayed };
}

interface Entry {
  readonly key: string;
  readonly value: string;
}

/** Converts metadata from a REST map to the entries of a GraphQL input. */
export const entriesOf = (metadata: Readonly<Record<string, string>> | undefined): Entry[] | undefined =>
  metadata && Object.entries(metadata).map(([key, value]) => ({ key, value }));

/** Metadata for calls to both APIs: none, some, an empty map, and invalid maps. */
export const anyMetadata = fc.constantFrom<Readonly<Record<string, string>> | undefined>(
  undefined,
  undefined,
  { order: '42', 'b.c-d_E': 'Überweisung €' },
  {},
  { 7: 'seven', __proto: 'x' },
);

/** The REST names of top-level input fields of sandbox mutations, where they differ from the GraphQL names. */
const namesInRest: { readonly [Name in Operation]?: Readonly<Record<string, string>> } = {
  sandboxSend: { amount: 'currencyAmount', currency: 'currencyCode' },
  sandboxReceiveUma: { amount: 'receivingCurrencyAmount', currency: 'receivingCurrencyCode' },
};

/** Returns the REST path of a field of a GraphQL input. The field may have a different name in REST. */
function asRestField(
  mutation: Operation,
  [, first = '', ...path]: readonly string[],
  { metadata }: { readonly metadata?: readonly Entry[] },
): string {
  return [namesInRest[mutation]?.[first] ?? first, ...path]
    .join('.')
    .replace(/^receiver\.umaAddress$/, 'receiverUmaAddress')
    .replace(/^receiver\./, '')
    .replace(/^(\w*[aA]mount)\.units$/, '$1')
    .replace(/^metadata\.(\d+)$/, (_field, position) => `metadata.${metadata?.[Number(position)]?.key}`)
    .replace(/^(source|destination)\.(account|realtimeFunding|uma)(?=\.|$)/, '$1')
    .replace(/^(source|destination)AccountId$/, '$1.accountId')
    .replace(/^details\.individual\./, '')
    .replace(/^details\.business\.(legalName|registrationNumber|taxId)/, 'businessInfo.$1')
    .replace(/^details\.business\./, '')
    .replace(/^details(\.(individual|business))?$/, 'customerType')
    .replace(/^accountInfo\.(usAccount|iban)(?=\.|$)/, 'accountInfo')
    .replace(/^beneficiary\.(individual|business)(?=\.|$)/, 'accountInfo.beneficiary')
    .replace(/^beneficiary/, 'accountInfo.beneficiary');
}
