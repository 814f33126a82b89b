import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { composeIBAN } from 'ibantools';
import { expect } from 'vitest';
import type { Data } from './gateway.ts';

/** A response from the REST API. `text` is its body as received; `body` is parsed if JSON, undefined if empty. */
export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Data;
}

export type RestClient = Awaited<ReturnType<typeof restClient>>;

interface RestCall {
  readonly body?: unknown;
  readonly key?: string;
  readonly headers?: Record<string, string>;
  readonly raw?: string | Uint8Array<ArrayBuffer>;
}

export const base = '/2025-10-13';

/** Creates a REST API client that validates every response against the served OpenAPI document. */
export async function restClient(url: string, authorization: string) {
  const { document, validators } = knownDocument(await (await fetch(`${url}${base}/openapi.json`)).text());

  const call = async (method: string, path: string, options: RestCall = {}): Promise<RestAnswer> => {
    const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const response = await fetch(`${url}${base}${path}`, {
      method,
      headers: {
        authorization,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(options.key !== undefined && { 'idempotency-key': options.key }),
        ...options.headers,
      },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const answer = {
      status: response.status,
      headers: response.headers,
      text,
      // The body of an export is text and not JSON.
      body: isJson(response) ? (JSON.parse(text) as Data) : text === '' ? undefined : text,
    };
    const wrong = validators.ofAnswer(method, path.split('?', 1)[0] ?? '', answer, options.body);
    if (wrong !== undefined) throw new Error(`${method} ${path} answered ${answer.status} ${text}: ${wrong}`);
    return answer;
  };
  /** Like `call`, but requires the given status and returns the body. */
  const ask = async (method: string, path: string, body?: unknown, status = 200): Promise<Data> => {
    const answer = await call(method, path, body === undefined ? {} : { body });
    expect({ status: answer.status, body: answer.body }).toMatchObject({ status });
    return answer.body;
  };
  /** Returns how a webhook's body violates the OpenAPI document, or undefined if it does not. */
  const wrongIn = (webhook: Data): string | undefined => {
    const { content } = document.webhooks[webhook.type]?.post.requestBody ?? {};
    return content
      ? validators.fault(content['application/json'].schema.$ref.slice(1), webhook)
      : 'its type is unknown';
  };
  /** Sends a POST that must create something (201), and returns the response's body. */
  const make = (path: string, body: unknown) => ask('POST', path, body, 201);
  return { document, call, ask, wrongIn, make };
}

type KnownDocument = { readonly document: Data; readonly validators: ReturnType<typeof responseValidators> };

const knownDocuments = new Map<string, KnownDocument>();

/** Parses a served OpenAPI document. All gateways serve the same document, so its validators are compiled once. */
function knownDocument(text: string): KnownDocument {
  const document: Data = JSON.parse(text);
  const known = knownDocuments.get(text) ?? { document, validators: responseValidators(document) };
  knownDocuments.set(text, known);
  return known;
}

const isJson = (response: Response) => response.headers.get('content-type')?.startsWith('application/json') ?? false;

/**
 * Returns functions that say how a response or a value violates the OpenAPI document. For a path or method that is not
 * in the document, the response must be an error with the usual body.
 */
function responseValidators(document: Data) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(closed(document), 'document');
  // Ajv compiles each part of the document only once.
  const validator = (pointer: string) =>
    ajv.getSchema(`document#${pointer}`) ?? expect.fail(`the document has nothing at ${pointer}`);
  const paths = Object.keys(document.paths).map((path) => ({
    path,
    form: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+').replace(/[.$]/g, '\\$&')}$`),
  }));
  // Fixed paths are tried first, as in the router.
  paths.sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')));

  const fault = (pointer: string, value: unknown) => {
    const validate = validator(pointer);
    return validate(value) ? undefined : ajv.errorsText(validate.errors);
  };
  const ofAnswer = (method: string, path: string, answer: RestAnswer, sent: unknown): string | undefined => {
    const found = paths.find(({ form }) => form.test(path))?.path;
    const operation = found === undefined ? undefined : document.paths[found][method.toLowerCase()];
    if (operation && !operation.responses[answer.status]) return 'the status is not in the document';
    const type = answer.headers.get('content-type')?.split(';', 1)[0] ?? 'application/json';
    const placeOf = (media: string, ...parts: readonly string[]) =>
      ['', 'paths', found, method.toLowerCase(), ...parts, 'content', media, 'schema']
        .map((part) => encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1')))
        .join('/');
    const place = (...parts: readonly string[]) => placeOf('application/json', ...parts);
    // If the service accepted the request, the document must allow it too.
    if (operation?.requestBody && answer.status < 300 && sent !== undefined) {
      const takes = validator(place('requestBody'));
      if (!takes(sent)) return `the document does not allow this body: ${ajv.errorsText(takes.errors)}`;
    }
    const { $ref, content } = operation?.responses[answer.status] ?? {};
    if (operation && !$ref && !content) {
      return answer.text === '' ? undefined : 'the document defines no body for this response';
    }
    const pointer =
      operation && !$ref ? placeOf(type, 'responses', String(answer.status)) : '/components/schemas/Error';
    return fault(pointer, answer.body);
  };
  return { ofAnswer, fault };
}

/** Forbids additional fields in every object of the document, so that an undocumented field counts as a violation. */
function closed(value: Data): Data {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, closed(item)]));
  const isObjectSchema =
    value.type === 'object' && typeof value.properties === 'object' && !value.properties.type?.type;
  return isObjectSchema && value.additionalProperties === undefined ? { ...copy, additionalProperties: false } : copy;
}

/** A customer created over REST alone, with internal and external accounts. */
export type RestScene = Awaited<ReturnType<typeof restScene>>;

let made = 0;

/** Returns unique account details. */
export function usAccount(suffix = '000') {
  made += 1;
  return {
    accountType: 'US_ACCOUNT',
    accountNumber: `${3_000_000 + made}${suffix}`,
    routingNumber: '021000021',
    accountCategory: 'CHECKING',
    bankName: 'A Bank',
    beneficiary: {
      beneficiaryType: 'INDIVIDUAL',
      fullName: 'Grace Hopper',
      birthDate: '1906-12-09',
      nationality: 'US',
    },
  };
}

/** Builds the request body for a quote. By default, the amount (in the smallest unit) is the sending amount. */
export const restQuote = (from: string, to: string, lockedCurrencyAmount: number, rest: object = {}) => ({
  source: { sourceType: 'ACCOUNT', accountId: from },
  destination: { destinationType: 'ACCOUNT', accountId: to },
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount,
  ...rest,
});

/** Builds the request body for a transfer. The amount is in the currency's smallest unit. */
export const restTransfer = (from: string, to: string, amount: number) => ({
  source: { accountId: from },
  destination: { accountId: to },
  amount,
});

/** Creates a customer whose USD account holds `balance` cents. */
export async function restScene(rest: RestClient, balance = 1_000_000, fullName = 'Grace Hopper') {
  made += 1;
  const customer = await rest.make('/customers', {
    customerType: 'INDIVIDUAL',
    platformCustomerId: `scene-${made}`,
    fullName,
    birthDate: '1906-12-09',
  });
  const usd = await restAccount(rest, customer.id, 'USD');
  if (balance > 0) await rest.ask('POST', `/sandbox/internal-accounts/${usd.id}/fund`, { amount: balance });
  const external = (currency: string, accountInfo: object) =>
    rest.make('/customers/external-accounts', { currency, customerId: customer.id, accountInfo });
  return {
    customer,
    usd: await restAccount(rest, customer.id, 'USD'),
    eur: await restAccount(rest, customer.id, 'EUR'),
    outsideUsd: await external('USD', usAccount()),
    outsideEur: await external('EUR', {
      accountType: 'IBAN',
      iban: composeIBAN({ countryCode: 'DE', bban: `37040044${3_000_000 + made}000` }),
      swiftBic: 'COBADEFF',
      beneficiary: {
        beneficiaryType: 'BUSINESS',
        legalName: 'Acme GmbH',
        address: { line1: 'Weg 1', postalCode: '10115', country: 'DE' },
      },
    }),
  };
}

/** Reads a customer's internal account in a currency. */
export async function restAccount(rest: RestClient, customerId: string, currency: string): Promise<Data> {
  const page = await rest.ask('GET', `/customers/internal-accounts?customerId=${customerId}&currency=${currency}`);
  return page.data[0];
}
