import { z } from 'zod';
import { enteredRange } from '../core/address-ranges.ts';
import { parseRate } from '../domain/access/rates.ts';
import { faultOfAddress, serversOf } from '../infra/database/connections/address.ts';
import { parseRailSettings } from '../rails/rail-settings.ts';

/** The kinds of settings: parsers that report what is wrong with a given value. */

const withDefault = z._default;

/** If the default depends on other settings, `shownDefault` describes it in docs/settings.md. */
const optional = <Kind extends z.ZodType>(kind: Kind, shownDefault?: string) => z.optional(kind).meta({ shownDefault });

const numberBetween = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be between ${min} and ${max}`);

const wholeNumber = (min: number, max: number, value: number) => withDefault(numberBetween(min, max), value);

const text = (value: string) => withDefault(z.string().min(1), value);

const choices = new Intl.ListFormat('en-GB', { type: 'disjunction' });
const oneOf = <const Name extends string>(names: readonly Name[]) =>
  z.enum(names, { error: `must be ${choices.format(names)}` });

/** Parses text with a function that throws or returns undefined for invalid text. `fault` replaces a thrown message. */
const parsed = <Value>(parse: (text: string) => Value | undefined, fault?: string) =>
  z.string().transform((text, context): Value => {
    let found = '';
    try {
      const value = parse(text);
      if (value !== undefined) return value;
    } catch (error) {
      found = error instanceof Error ? error.message : String(error);
    }
    context.addIssue(fault ?? found);
    return z.NEVER;
  });

const key = z
  .string()
  .regex(
    /^([0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$/,
    'must be 32 bytes, in base64 (44 characters) or hex (64 characters)',
  )
  .transform((text): Buffer => Buffer.from(text, text.length === 64 ? 'hex' : 'base64'));

/** A key for client tokens. It must not contain a semicolon, which separates the keys in a list. */
const textKey = z
  .string()
  .min(32, 'must have at least 32 characters')
  .refine((text) => !text.includes(';'), 'must not contain a semicolon');

const split = (list: string, separator: string) =>
  list
    .split(separator)
    .map((text) => text.trim())
    .filter((text) => text !== '');
const parts = (separator: string) => z.string().transform((list) => split(list, separator));

const listOf = <Key extends z.ZodType<unknown, string>>(kind: Key) => parts(';').pipe(z.array(kind));

const address = z.string().superRefine((text, context) => {
  const fault = faultOfAddress(text);
  if (fault !== undefined) context.addIssue(fault);
});

/** Returns whether a browser could send this origin. An origin that no browser sends would never match. */
const isOrigin = (text: string) =>
  /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;

/** Headers in OpenTelemetry notation: `name=value` pairs, separated by commas, with percent-encoded values. */
const headers = parsed((text): Readonly<Record<string, string>> | undefined => {
  const pairs = text.split(',').map((pair) => /^\s*([\w-]+)\s*=\s*((?:[^%\s]|%[0-9a-f]{2})+)\s*$/i.exec(pair));
  if (pairs.includes(null)) return undefined;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1], decodeURIComponent(pair?.[2] ?? '')]));
}, 'must be headers such as authorization=Bearer%20secret, separated by commas');

const onOff = oneOf(['on', 'off']).transform((value) => value === 'on');

const rate = parsed(
  (text) => (text === 'off' ? null : parseRate(text)),
  'must be off, or requests per second and burst, such as 100/500, each from 1 to 1000000',
);

/** Unsafe settings, which production refuses unless the operator allows them. */
export const unsafeThings = ['any-origin', 'loopback-webhooks', 'owner-login', 'unverified-tls', 'weak-keys'] as const;
export type Unsafe = (typeof unsafeThings)[number];

const unsafe = parts(',').pipe(
  z.array(z.enum(unsafeThings, { error: `must be one or more of ${unsafeThings.join(', ')}, separated by commas` })),
);

const addressRanges = parsed(
  (text) => split(text, ',').map(enteredRange),
  'must be addresses or ranges such as 10.0.0.0/8, separated by commas',
);

/** Every setting, with its format, default and description. `npm run schema` writes docs/settings.md from them. */
export const settings = {
  NODE_ENV: withDefault(oneOf(['development', 'production', 'test']), 'development').describe(
    '`development`, `production` or `test`. Production needs `DATABASE_URL`, turns GraphiQL and introspection off, and reports the cost of a document only on request',
  ),
  HOST: text('127.0.0.1').describe('the interface to listen on'),
  PORT: wholeNumber(0, 65_535, 4000).describe('the port to listen on, 0 to 65535; 0 picks a free one'),
  METRICS_PORT: optional(numberBetween(0, 65_535)).describe(
    'the port of `/metrics` for Prometheus, 0 to 65535. If unset, there are no metrics',
  ),
  METRICS_HOST: text('127.0.0.1').describe(
    'the interface that the metrics port listens on. Metrics need no credentials, so let only Prometheus reach the port',
  ),
  DATABASE_URL: optional(address).describe(
    "the address of a Postgres server, version 15 or newer; if unset, the service uses the embedded one. It may name several hosts, separated by commas; the service uses the primary. `options` in the address (`?options=-c%20work_mem%3D8MB`) are added to the service's session settings, but override none of them. `application_name` in the address replaces `payments-gateway` at the start of connection names",
  ),
  DATABASE_DIRECT_URL: optional(address).describe(
    'the address of the server behind a connection pooler, with the same login. `DATABASE_URL` may then be a PgBouncer in transaction mode: requests go through it, and connections that need their own session bypass it ([docs/operating.md](operating.md#connection-pooler))',
  ),
  DATABASE_READ_URL: withDefault(
    listOf(
      address.refine((url) => serversOf(url).length === 1, 'must each name one host: separate hosts with semicolons'),
    ),
    [],
  ).describe(
    'the addresses of standbys that serve reads of nodes and lists, separated by semicolons and with the same login. A read always includes everything written before it ([docs/operating.md](operating.md#read-replicas))',
  ),
  DATA_DIR: text('.data').describe(
    'the folder of the embedded Postgres and, outside production, of the keys generated on first startup. Not needed if `DATABASE_URL`, `CLIENT_TOKEN_KEY` and `SECRET_KEY` are set',
  ),
  DATABASE_OWNER_URL: optional(address, '`DATABASE_DIRECT_URL`, else `DATABASE_URL`').describe(
    'the same database with the login that owns its tables, used only for migrations',
  ),
  MIGRATE: optional(oneOf(['on', 'off', 'verify']), '`on`, in production `verify`').describe(
    '`on` applies migrations at startup, `verify` prevents startup if one is missing, `off` does neither',
  ),
  ALLOW_UNSAFE: optional(unsafe, 'all of these; none in production').describe(
    'unsafe settings to allow, separated by commas: `any-origin` (`CORS_ORIGINS=*`), `loopback-webhooks` (sandbox platforms may use webhook endpoints on the loopback interface), `owner-login` (the login in `DATABASE_URL` is a superuser, bypasses row-level security or owns the tables), `unverified-tls` (no verified TLS to a database on another machine, or `NODE_TLS_REJECT_UNAUTHORIZED=0`), `weak-keys` (keys that can be guessed)',
  ),
  DATABASE_POOL: wholeNumber(1, 200, 10).describe(
    'how many connections for requests may be open at the same time, 1 to 200. Background work opens up to half as many more, and the feed up to seven more',
  ),
  MAX_IN_FLIGHT: wholeNumber(1, 100_000, 256).describe(
    "how many requests are processed at the same time, 1 to 100000. A request counts from the arrival of its whole body until its response is ready, except while it waits for an external service, such as the receiver of a webhook test. A request beyond the limit gets 503 with Retry-After, unless its platform uses less than its share: a platform's requests are never refused because another platform sends too many. While answers take longer than 200 ms on average, the limit is an eighth of this value",
  ),
  MAX_ANSWER_BYTES: wholeNumber(1_024, 100_000_000, 8_388_608).describe(
    'how many bytes one read in a GraphQL operation may return, 1024 to 100000000. A larger response is refused with COST_LIMIT_EXCEEDED and never leaves the database',
  ),
  RATE_LIMIT_PLATFORM: withDefault(rate, { perSecond: 20_000, burst: 40_000 }).describe(
    'how many requests a platform may send to this instance: requests per second and burst, each 1 to 1000000, or `off`. A request beyond that gets 429 with Retry-After. [docs/limits.md](limits.md) lists all limits, and explains how to set the limits of a single platform',
  ),
  RATE_LIMIT_API_TOKEN: withDefault(rate, { perSecond: 20_000, burst: 40_000 }).describe(
    'how many requests each API token may send, in the same form as for a platform',
  ),
  RATE_LIMIT_CLIENT_TOKEN: withDefault(rate, { perSecond: 100, burst: 500 }).describe(
    'how many requests each client token may send, in the same form as for a platform',
  ),
  WRONG_CREDENTIALS_PER_MINUTE: wholeNumber(1, 1_000_000, 100).describe(
    'how many wrong credentials one IP address may send per minute, 1 to 1000000. Beyond that, unknown credentials from the address get 429',
  ),
  TRUSTED_PROXIES: withDefault(addressRanges, []).describe(
    'the proxies in front of the service, as addresses or ranges such as `10.0.0.0/8`, separated by commas. Only their `X-Forwarded-For` is trusted',
  ),
  SOCKETS_PER_API_TOKEN: wholeNumber(1, 1_000_000, 20_000).describe(
    'how many WebSockets each API token may have open, 1 to 1000000',
  ),
  SOCKETS_PER_CLIENT_TOKEN: wholeNumber(1, 1_000_000, 20).describe(
    'how many WebSockets each client token may have open, 1 to 1000000',
  ),
  STREAMS_PER_API_TOKEN: wholeNumber(1, 1_000_000, 50_000).describe(
    'how many subscriptions each API token may have open on all transports, 1 to 1000000',
  ),
  STREAMS_PER_CLIENT_TOKEN: wholeNumber(1, 1_000_000, 100).describe(
    'how many subscriptions each client token may have open on all transports, 1 to 1000000',
  ),
  COMPRESS_STREAMS: withDefault(onOff, false).describe(
    '`on` or `off`: whether messages on WebSockets (permessage-deflate) and event streams (gzip) are compressed for clients that accept it. [docs/streams.md](streams.md#compression) shows the cost',
  ),
  KEEP_ALIVE_MS: wholeNumber(1_000, 120_000, 12_000).describe(
    'the interval of pings on sockets and of keep-alives on event streams, 1000 to 120000. A socket that does not respond before the next ping is closed. Longer intervals save battery on phones ([docs/mobile.md](mobile.md))',
  ),
  SHUTDOWN_DELAY_MS: optional(numberBetween(0, 60_000), '`0`, in production `2000`').describe(
    'how long the service accepts requests after SIGTERM, while its readiness check already returns 503: 0 to 60000. It should be longer than your load balancer takes to notice',
  ),
  ROLE: withDefault(oneOf(['all', 'serve', 'work']), 'all').describe(
    '`serve` only handles requests, `work` only does background work, `all` does both',
  ),
  LOG_LEVEL: withDefault(oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'silent']), 'info').describe(
    '`fatal`, `error`, `warn`, `info`, `debug` or `silent`',
  ),
  ACCESS_LOG: withDefault(onOff, false).describe(
    '`on` or `off`: whether each request and each attempt to deliver a webhook is logged. The line for a request has its id, method, path, operation, status, time, platform, token, address and the rows that it created or changed',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
  ).describe(
    "the address of an OpenTelemetry collector (OTLP over HTTP), such as `http://127.0.0.1:4318`. If unset, there are no traces ([docs/operating.md](operating.md#traces)). OpenTelemetry's other exporter settings apply as well",
  ),
  OTEL_EXPORTER_OTLP_HEADERS: optional(headers).describe(
    'the headers that the collector requires, such as `authorization=Bearer%20…`, separated by commas',
  ),
  OTEL_SERVICE_NAME: text('payments-graphql-gateway').describe('the name of the service in its traces'),
  OTEL_TRACES_SAMPLER_ARG: withDefault(
    z
      .string()
      .refine((text) => text.trim() !== '' && Number(text) >= 0 && Number(text) <= 1, 'must be a number from 0 to 1')
      .transform(Number),
    1,
  ).describe('the share of traces to send, 0 to 1. A sampled `traceparent` from the caller takes precedence'),
  SECURITY_CONTACT: optional(
    z.string().regex(/^(mailto:|https:\/\/)\S+$/, 'must be a mailto: or https: address'),
  ).describe(
    'where to report a vulnerability in this deployment, such as `mailto:security@example.com`; it is served at `/.well-known/security.txt` (RFC 9116), which does not exist if this is unset',
  ),
  GRAPHIQL: optional(onOff, 'on with the embedded Postgres, else off').describe(
    '`on` or `off`: whether `/lab` shows GraphiQL, and `/graphql` redirects browsers to it',
  ),
  CORS_ORIGINS: withDefault(
    parts(',').refine((list) => list.every((origin) => origin === '*' || isOrigin(origin)), {
      error:
        'must be origins as browsers send them (such as https://app.example.com, without a path, default port, capital letters or wildcards), separated by commas, or *',
    }),
    [],
  ).describe(
    "the origins whose web pages may use the API over HTTP, SSE and WebSocket, separated by commas, or `*`. The service's own origin is always allowed. In the local sandbox, so is every origin on this machine. If an origin is refused, the log names it and the value that would allow it",
  ),
  CLIENT_TOKEN_KEY: optional(textKey, 'generated once in `DATA_DIR`; none in production').describe(
    'the key that signs client tokens: at least 32 characters without a semicolon, the same on all instances. In production, no client tokens can be created without it',
  ),
  CLIENT_TOKEN_KEY_FALLBACKS: withDefault(listOf(textKey), []).describe(
    'other keys whose client tokens are accepted, separated by semicolons ([how to rotate keys](operating.md#rotate-a-key))',
  ),
  EVENT_RETENTION_DAYS: wholeNumber(1, 36_500, 30).describe(
    'how many days of events a stream can replay, 1 to 36500. Resuming fails with CURSOR_EXPIRED if an older event would have to be replayed. Events are not deleted: lists of events still show them',
  ),
  PUBLIC_CONTRACT: optional(onOff, 'on, in production off').describe(
    '`on` or `off`: whether the schema can be introspected, and whether the OpenAPI document, its console and the documentation at `/docs` are public',
  ),
  STOCK_READS: withDefault(onOff, false).describe(
    '`on` or `off`: whether GraphQL queries are executed by graphql-js and Prisma instead of by the reader, which compiles a query to one SQL statement. Only for debugging and comparison, because this takes one statement for each parent; refused in production',
  ),
  PAYMENT_APPROVAL_MS: wholeNumber(1, 60_000, 5_000).describe(
    'how many milliseconds a platform has to approve or reject an incoming payment, 1 to 60000',
  ),
  RECONCILE_HOUR: wholeNumber(0, 23, 2).describe(
    "the hour (UTC, 0 to 23) after which the service reconciles the previous day with the rails' providers ([docs/rails.md](rails.md#reconciliation))",
  ),
  RAILS: optional(parsed(parseRailSettings), 'the sandbox for sandbox platforms').describe(
    'the rails: JSON such as `{"PRODUCTION": {"module": "./acme-rail.ts", "settings": {…}}}`, or the path of a JSON file ([docs/rails.md](rails.md))',
  ),
  SANDBOX_QUOTE_SECONDS: wholeNumber(1, 86_400, 300).describe(
    'for how many seconds a quote locks its rate, 1 to 86400',
  ),
  SANDBOX_PACE_MS: wholeNumber(0, 600_000, 500).describe(
    'how many milliseconds one settlement step takes in the sandbox, 0 to 600000',
  ),
  SECRET_KEY: optional(key, 'generated once in `DATA_DIR`; none in production').describe(
    'the key that encrypts stored signing secrets and cursors: 32 bytes in base64 or hex, the same on all instances. An instance that serves requests needs it, and without it no webhooks are sent',
  ),
  SECRET_KEY_FALLBACKS: withDefault(listOf(key), []).describe(
    'other keys that can decrypt stored secrets and cursors, separated by semicolons ([how to rotate keys](operating.md#rotate-a-key))',
  ),
  WEBHOOK_TIME_SCALE: wholeNumber(1, 1_000_000, 1).describe(
    'how many times faster webhooks are retried, for tests: 1 to 1000000',
  ),
} as const;
