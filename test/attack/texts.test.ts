import { randomUUID } from 'node:crypto';
import type { GraphQLInputType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/api/graphql/server/schema.ts';
import { accountTypes } from '../../src/core/account-types.ts';
import { Slots } from '../../src/core/slots.ts';
import { longest } from '../../src/core/texts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { placesIn, putAt } from '../setup/inputs.ts';
import { base as restBase, restClient } from '../setup/rest.ts';
import { restTexts } from '../setup/rest-inputs.ts';
import { longTexts, type StrangeText, strangeTexts } from '../setup/strange-texts.ts';
import { calls, type Variables } from './matrix/graphql-calls.ts';
import { makeThings } from './matrix/things.ts';

// Every string field of both APIs, as found in the schema and the OpenAPI document, is tested with a table of awkward
// strings.

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const own = await makeThings(t.platform, 'http://127.0.0.1:9/hook');
const rest = await restClient(t.url, t.platform.authorization);
const details = { business: { legalName: 'Engines Ltd' } };
const made = await t.platform.act('createCustomer', { platformCustomerId: 'business', details }, 'customer { id }');
const business: string = made.customer.id;

/** The maximum lengths of human-readable strings, by field name. */
const texts: Readonly<Record<string, number>> = {
  ...{ fullName: longest.name, legalName: longest.name, line1: longest.line, line2: longest.line },
  ...{ city: longest.word, state: longest.word, title: longest.word, postalCode: longest.postalCode },
  ...{ registrationNumber: longest.number, taxId: longest.number, emailAddress: longest.email },
  ...{ description: longest.memo, reason: longest.memo, value: longest.memo, '*': longest.memo },
};
const keys = new Set(['platformCustomerId', 'platformAccountId']);
/** Fields whose strings are read by programs and must have a certain format. */
const machine = new Set(
  `umaAddress senderUmaAddress receiverUmaAddress currency currencies currencyCode sendingCurrencyCode receivingCurrencyCode
  receivingCurrency country nationality phoneNumber url idempotencyKey umaDomain eventTypes key code webhookEndpoint
  requiredCounterpartyFields accountId customerId quoteId lookupId transactionId birthDate operation decimal name requestedReceiverFields after before providerRequiredCustomerFields providerRequiredCounterpartyCustomerFields
  sourceCurrency destinationCurrency id receiverCountries receiverUmaAddresses hoursFrom hoursTo timeZone addresses
  documents`.split(/\s+/),
);
/** Input types whose strings are account details. They are tested in account-types.test.ts. */
const accountInputs = new Set(
  Object.values(accountTypes).map(({ graphql }) => `${graphql.type.replace(/Info$/, '')}Input`),
);
const restAccounts = new Set(Object.values(accountTypes).map(({ graphql }) => `${graphql.type}Input`));

interface Place {
  readonly owner: string;
  readonly path: readonly string[];
  /** Returns the value `around` with the string inserted at this place. */
  put(around: unknown, text: string): unknown;
}

type Kind = { readonly most: number; readonly isKey: boolean } | 'machine';

function kindOf({ owner, path }: Pick<Place, 'owner' | 'path'>): Kind {
  const name = path.findLast((part) => !/^\d+$/.test(part)) ?? '';
  // People read a token's name, but programs read a fact's name.
  if (name === 'name' && /token/i.test(owner)) return { most: longest.memo, isKey: false };
  if (keys.has(name)) return { most: longest.key, isKey: true };
  if (machine.has(name) || /Ids?$/.test(name)) return 'machine';
  const most = texts[name];
  if (most === undefined) throw new Error(`test/attack/texts.test.ts does not know the text ${owner}.${name}`);
  return { most, isKey: false };
}

/** Returns the places of strings in an input, each with a function that inserts a string there. */
function textsIn(field: string, type: GraphQLInputType): Place[] {
  const all = [...placesIn(field, type)];
  const details = all.filter(({ type: inner }) => 'name' in inner && accountInputs.has(inner.name));
  const isInDetails = (path: readonly string[]) =>
    details.some((one) => one.path.every((step, at) => path[at] === step));
  return all.flatMap(({ owner, path, type: inner }) => {
    if (!('name' in inner) || !['String', 'ID'].includes(inner.name) || isInDetails(path)) return [];
    return [{ owner, path, put: (around, text) => putAt(type, around, path, text) }];
  });
}

const baseOf = (made: readonly Variables[], field: string): Variables | undefined =>
  made.find((variables) => field in { ...variables, ...(variables.input as Variables) }) ?? made[0];

const known = new Set<string>();

/** Returns the strings to try at a place: all of them the first time its field occurs, and only a few after that. */
function tried(
  api: string,
  { owner, path }: Pick<Place, 'owner' | 'path'>,
  kind: Exclude<Kind, 'machine'>,
): readonly StrangeText[] {
  const all = [...strangeTexts, ...longTexts(kind.most)];
  const name = `${api} ${owner}.${path.at(-1)}`;
  if (known.has(name)) return all.filter(({ what }) => /marks apart|the end$|one character more/.test(what));
  known.add(name);
  return all;
}

const stored = (strange: StrangeText, isKey: boolean) => (isKey ? (strange.key ?? null) : strange.text);
const isUnstorable = (text: string) => !text.isWellFormed() || text.includes('\0');

const turns = new Slots(8);
const inTurns = (tasks: readonly (() => Promise<void>)[]) => Promise.all(tasks.map((task) => turns.run(task)));

test("every string in a mutation's input is refused or stored as the table of awkward strings says", async () => {
  const wrong: string[] = [];
  let texts = 0;
  const tasks = calls
    .filter(({ kind }) => kind === 'mutation')
    .flatMap(({ field, query, bases }) => {
      const input = schema
        .getMutationType()
        ?.getFields()
        [field]?.args.find(({ name }) => name === 'input');
      if (!input) throw new Error(`${field} has no input`);
      const inputAround = (place: Place): Variables =>
        baseOf(
          bases.map((make) => make(own)),
          place.path[0] ?? '',
        ) ?? {};
      const refuses = async (place: Place, text: string) => {
        const base = inputAround(place);
        const answer = await t.platform.send(query, { input: place.put(base.input ?? base, text) });
        const code = answer.data?.[field]?.code ?? answer.errors?.[0]?.extensions?.code;
        if (!/^INVALID_|_NOT_FOUND$/.test(code)) wrong.push(`${field} ${place.path.join('.')}: ${code}`);
      };
      return textsIn(field, input.type).flatMap((place) => {
        const kind = kindOf(place);
        if (kind === 'machine') return ['a\0b', 'a\ud800b', ''].map((text) => () => refuses(place, text));
        texts += 1;
        // Metadata may be empty, because only programs read it.
        const mayBeEmpty = place.path.includes('metadata');
        return tried('GraphQL', place, kind).map((strange) => async () => {
          const base = inputAround(place);
          const input = place.put(base.input ?? base, strange.given);
          const isBusiness = field === 'updateCustomer' && place.path.includes('business');
          const isKeyed = 'idempotencyKey' in (input as object);
          const variables = {
            input: {
              ...(input as object),
              ...(isBusiness && { customerId: business }),
              ...(isKeyed && { idempotencyKey: randomUUID() }),
            },
          };
          const answer = await t.platform.send(
            query.replace('{ code message }', '{ code message fields { path } }'),
            variables,
          );
          const result = answer.data?.[field];
          const expected = mayBeEmpty && strange.given.trim() === '' ? '' : stored(strange, kind.isKey);
          // If a string in a metadata entry or a fact is refused, the error names the whole entry or fact.
          const places = [place.path, place.path.slice(0, -1)].map((one) => ['input', ...one].join('.'));
          const isRefused = result?.fields?.some(({ path }: Data) => places.includes(path.join('.'))) ?? false;
          const says = (what: string) => wrong.push(`${field} ${place.path.join('.')} ${strange.what}: ${what}`);
          if (isUnstorable(strange.given) && !result) {
            if (answer.status >= 500) says(`status ${answer.status}`);
          } else if (!result) says(JSON.stringify(answer.errors));
          else if (isRefused !== (expected === null)) says(`${result.code ?? 'taken'}: ${result.message ?? ''}`);
          else if (
            expected !== null &&
            expected !== strange.given &&
            JSON.stringify(result).includes(JSON.stringify(strange.given).slice(1, -1))
          )
            says('it is stored as it was given');
        });
      });
    });
  await inTurns(tasks);
  expect(texts).toBeGreaterThan(50);
  expect(wrong).toEqual([]);
});

function spoilt(value: unknown, text: string): unknown[] {
  if (typeof value === 'string') return [text];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    spoilt(part, text).map((other) =>
      Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other },
    ),
  );
}

test('a query for a string that cannot be stored finds nothing or is refused', async () => {
  const wrong: unknown[] = [];
  const queries = calls.filter(({ kind }) => kind === 'query');
  const tasks = queries.flatMap(({ field, query, bases }) =>
    bases.flatMap((make) =>
      ['a\0b', 'a\ud800b'].flatMap((text) =>
        spoilt(make(own), text).map((variables) => async () => {
          const { errors = [] } = await t.platform.send(query, variables as object);
          const faults = errors.filter(({ extensions }) => !/^INVALID_/.test(extensions?.code));
          if (faults.length > 0) wrong.push({ field, variables, faults });
        }),
      ),
    ),
  );
  for (const [path, { get }] of Object.entries<Data>(rest.document.paths))
    for (const { name, in: place } of (get?.parameters ?? []).filter(({ in: place }: Data) => place !== 'header'))
      for (const text of ['a%00b', 'a%ED%A0%80b'])
        tasks.push(async () => {
          const at = path.replace(/\{(\w+)\}/g, (_whole, part) => (part === name ? text : own.Customer));
          const { status } = await rest.call('GET', place === 'query' ? `${at}?${name}=${text}` : at);
          if (status >= 500) wrong.push({ at, name, text, status });
        });
  expect(tasks.length).toBeGreaterThan(200);
  await inTurns(tasks);
  expect(wrong).toEqual([]);
});

test('every REST string has a maximum length in the OpenAPI document, and awkward strings are refused as the table specifies', async () => {
  const wrong: string[] = [];
  let texts = 0;
  const tasks = Object.entries<Data>(rest.document.paths).flatMap(([path, methods]) =>
    Object.entries<Data>(methods).flatMap(([method, operation]) => {
      const body = operation.requestBody?.content['application/json']?.schema;
      if (!body || operation.operationId === 'registerTrustedDocuments') return [];
      return restTexts(rest.document, operation.operationId, body, restAccounts).flatMap(
        ({ owner, path: place, put, schema: found }) => {
          const kind = kindOf({ owner, path: place });
          if (kind === 'machine') return [];
          texts += 1;
          expect({ place: `${owner} ${place.join('.')}`, most: found.maxLength }).toEqual({
            place: `${owner} ${place.join('.')}`,
            most: kind.most,
          });
          // The domain checks the values in maps only after the whole body has been validated.
          if (place.includes('*')) return [];
          const address = path.replace(/\{(\w+)\}/g, (_whole, id) => encodeURIComponent(idOf(id)));
          return tried('REST', { owner, path: place }, kind).map((strange) => async () => {
            // The client that validates requests against the OpenAPI document is not used here, because it counts
            // characters before Unicode composition.
            const response = await fetch(`${t.url}${restBase}${address}`, {
              method: method.toUpperCase(),
              headers: { authorization: t.platform.authorization, 'content-type': 'application/json' },
              body: JSON.stringify(put(strange.given)),
            });
            const answer = (await response.json()) as Data;
            const fields: string[] = answer.details?.errors?.map(({ field }: Data) => field) ?? [];
            const isRefused = fields.includes(place.join('.'));
            if (response.status >= 500 || isRefused !== (stored(strange, kind.isKey) === null)) {
              wrong.push(
                `${operation.operationId} ${place.join('.')} ${strange.what}: ${response.status} ${JSON.stringify(answer)}`,
              );
            }
          });
        },
      );
    }),
  );
  await inTurns(tasks);
  expect(texts).toBeGreaterThan(30);
  expect(wrong).toEqual([]);
});

const idOf = (name: string) =>
  ({
    customerId: own.Customer,
    accountId: own.ExternalAccount,
    transactionId: own.IncomingTransaction,
    quoteId: own.Quote,
  })[name] ?? 'x1';
