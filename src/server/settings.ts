import { z } from 'zod';
import { enteredRange } from '../core/address-ranges.ts';
import { parseRate, type Rate } from '../domain/access/rates.ts';
import { faultOfAddress, serversOf } from '../infra/database/connections/address.ts';
import { parseRailSettings } from '../rails/rail-settings.ts';

/** The kinds of settings: parsers that report what is wrong with a given value. */

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be between ${min} and ${max}`);

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

const parts = (separator: string) =>
  z.string().transform((list) =>
    list
      .split(separator)
      .map((text) => text.trim())
      .filter((text) => text !== ''),
  );

const listOf = <Key extends z.ZodType<unknown, string>>(kind: Key) => parts(';').pipe(z.array(kind));

const address = z.string().superRefine((text, context) => {
  const fault = faultOfAddress(text);
  if (fault !== undefined) context.addIssue(fault);
});

/** Returns whether a browser could send this origin. Any other would never match. */
const isOrigin = (text: string) =>
  /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;

/** Headers in OpenTelemetry's notation: `name=value`, separated by commas, with escapes as in URLs. */
const headers = z.string().transform((text, context): Readonly<Record<string, string>> => {
  const pairs = text.split(',').map((pair) => /^\s*([\w-]+)\s*=\s*((?:[^%\s]|%[0-9a-f]{2})+)\s*$/i.exec(pair));
  if (pairs.every((pair) => pair !== null))
    return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, decodeURIComponent(value)]));
  context.addIssue('must be headers such as authorization=Bearer%20secret, separated by commas');
  return z.NEVER;
});

const onOff = z.enum(['on', 'off'], { error: 'must be on or off' }).transform((value) => value === 'on');

const rate = z.string().transform((text, context): Rate | null => {
  if (text === 'off') return null;
  const parsed = parseRate(text);
  if (parsed) return parsed;
  context.addIssue('must be off, or requests per second and burst such as 100/500, each from 1 to 1000000');
  return z.NEVER;
});

/** Unsafe settings, which production refuses unless the operator allows them. */
export const unsafeThings = ['any-origin', 'loopback-webhooks', 'owner-login', 'unverified-tls', 'weak-keys'] as const;
export type Unsafe = (typeof unsafeThings)[number];

const unsafe = parts(',').pipe(
  z.array(z.enum(unsafeThings, { error: `must be some of ${unsafeThings.join(', ')}, separated by commas` })),
);

const addressRanges = parts(',').transform((list, context) => {
  try {
    return list.map(enteredRange);
  } catch {
    context.addIssue('must be addresses or ranges such as 10.0.0.0/8, separated by commas');
    return z.NEVER;
  }
});

/** Declares every setting, with format, default and description. `npm run schema` writes docs/settings.md from it. */
export const settings = {
  NODE_ENV: z
    .enum(['development', 'production', 'test'], { error: 'must be development, production or test' })
    .default('development')
    .meta({
      description:
        '`development`, `production` or `test`. Production needs `DATABASE_URL`, turns GraphiQL and introspection off, and reports the cost of a document only on request',
    }),
  HOST: z.string().min(1).default('127.0.0.1').meta({ description: 'the interface to listen on' }),
  PORT: wholeNumber(0, 65_535)
    .default(4000)
    .meta({ description: 'the port to listen on, 0 to 65535; 0 picks a free one' }),
  METRICS_PORT: wholeNumber(0, 65_535)
    .optional()
    .meta({ description: 'the port of `/metrics` for Prometheus, 0 to 65535. If unset, there are no metrics' }),
  METRICS_HOST: z.string().min(1).default('127.0.0.1').meta({
    description:
      'the interface that the metrics port listens on. Metrics need no credentials, so restrict access to Prometheus',
  }),
  DATABASE_URL: address.optional().meta({
    description:
      "the address of a Postgres server, version 15 or newer; if unset, the service uses the embedded one. It may name several hosts, separated by commas; the service uses the primary. `options` in the address (`?options=-c%20work_mem%3D8MB`) are added to the service's session settings, but override none of them. `application_name` in the address replaces `payments-gateway` at the start of the names of connections",
  }),
  DATABASE_DIRECT_URL: address.optional().meta({
    description:
      'the address of the server behind a connection pooler, with the same login. `DATABASE_URL` may then be a PgBouncer in transaction mode: requests go through it, and connections that need their own session bypass it ([docs/operating.md](operating.md#connection-pooler))',
  }),
  DATABASE_READ_URL: listOf(
    address.refine((url) => serversOf(url).length === 1, 'must name one host each: separate replicas by semicolons'),
  )
    .default([])
    .meta({
      description:
        'standbys that serve reads of nodes and lists, separated by semicolons, with the same login. A read always includes everything written before it ([docs/operating.md](operating.md#read-replicas))',
    }),
  DATA_DIR: z.string().min(1).default('.data').meta({
    description:
      'the folder of the embedded Postgres and, outside production, of the keys generated on first startup. Not needed if `DATABASE_URL`, `CLIENT_TOKEN_KEY` and `SECRET_KEY` are set',
  }),
  DATABASE_OWNER_URL: address.optional().meta({
    description: 'the same database, with the login that owns its tables: for migrations only',
    shownDefault: '`DATABASE_DIRECT_URL`, else `DATABASE_URL`',
  }),
  MIGRATE: z.enum(['on', 'off', 'verify'], { error: 'must be on, off or verify' }).optional().meta({
    description: '`on` applies migrations at startup, `verify` refuses to start if one is missing, `off` does neither',
    shownDefault: '`on`, in production `verify`',
  }),
  ALLOW_UNSAFE: unsafe.optional().meta({
    description:
      'unsafe settings to allow, separated by commas: `any-origin` (`CORS_ORIGINS=*`), `loopback-webhooks` (sandbox platforms may use webhook endpoints on the loopback interface), `owner-login` (the login of `DATABASE_URL` is a superuser, bypasses row-level security or owns the tables), `unverified-tls` (no verified TLS to a database on another machine, or `NODE_TLS_REJECT_UNAUTHORIZED=0`), `weak-keys` (keys that can be guessed)',
    shownDefault: 'all of these; none in production',
  }),
  DATABASE_POOL: wholeNumber(1, 200).default(10).meta({
    description:
      'how many connections for requests may be open at the same time, 1 to 200. Background work opens up to half as many more, and the feed up to seven more',
  }),
  MAX_IN_FLIGHT: wholeNumber(1, 100_000).default(256).meta({
    description:
      'how many requests are processed at the same time, 1 to 100000. A request counts from the arrival of its whole body until its response is ready, except while it waits for an external service, such as the receiver of a webhook test. A request beyond the limit gets 503 with Retry-After, unless its platform uses less than its share: no platform is refused because another one sends too much. While answers take longer than 200 ms on average, the limit is an eighth of this value',
  }),
  MAX_ANSWER_BYTES: wholeNumber(1_024, 100_000_000).default(8_388_608).meta({
    description:
      'how many bytes one read of a GraphQL operation may return, 1024 to 100000000. A larger response is refused with COST_LIMIT_EXCEEDED and never leaves the database',
  }),
  RATE_LIMIT_PLATFORM: rate.default({ perSecond: 20_000, burst: 40_000 }).meta({
    description:
      'how many requests a platform may send to this instance: requests per second and burst, each 1 to 1000000, or `off`. A request beyond that gets 429 with Retry-After. [docs/limits.md](limits.md) lists all limits, and explains how to set those of one platform',
  }),
  RATE_LIMIT_API_TOKEN: rate
    .default({ perSecond: 20_000, burst: 40_000 })
    .meta({ description: 'how many requests each API token may send, in the same form as for a platform' }),
  RATE_LIMIT_CLIENT_TOKEN: rate
    .default({ perSecond: 100, burst: 500 })
    .meta({ description: 'how many requests each client token may send, in the same form as for a platform' }),
  WRONG_CREDENTIALS_PER_MINUTE: wholeNumber(1, 1_000_000).default(100).meta({
    description:
      'how many wrong credentials one IP address may send per minute, 1 to 1000000. Beyond that, unknown credentials from the address get 429',
  }),
  TRUSTED_PROXIES: addressRanges.default([]).meta({
    description:
      'the proxies in front of the service, as addresses or ranges such as `10.0.0.0/8`, separated by commas. Only their `X-Forwarded-For` is trusted',
  }),
  SOCKETS_PER_API_TOKEN: wholeNumber(1, 1_000_000)
    .default(20_000)
    .meta({ description: 'how many WebSockets each API token may have open, 1 to 1000000' }),
  SOCKETS_PER_CLIENT_TOKEN: wholeNumber(1, 1_000_000)
    .default(20)
    .meta({ description: 'how many WebSockets each client token may have open, 1 to 1000000' }),
  STREAMS_PER_API_TOKEN: wholeNumber(1, 1_000_000)
    .default(50_000)
    .meta({ description: 'how many subscriptions each API token may have open on all transports, 1 to 1000000' }),
  STREAMS_PER_CLIENT_TOKEN: wholeNumber(1, 1_000_000)
    .default(100)
    .meta({ description: 'how many subscriptions each client token may have open on all transports, 1 to 1000000' }),
  COMPRESS_STREAMS: onOff.default(false).meta({
    description:
      '`on` or `off`: whether messages on WebSockets (permessage-deflate) and event streams (gzip) are compressed for clients that accept it. [docs/streams.md](streams.md#compression) shows the cost',
  }),
  KEEP_ALIVE_MS: wholeNumber(1_000, 120_000).default(12_000).meta({
    description:
      'the interval of pings on sockets and of keep-alives on event streams, 1000 to 120000. A socket that does not respond before the next ping is closed. Longer intervals save battery on phones ([docs/mobile.md](mobile.md))',
  }),
  SHUTDOWN_DELAY_MS: wholeNumber(0, 60_000).optional().meta({
    description:
      'how long the service accepts requests after SIGTERM, while readiness already responds with 503: 0 to 60000. It should be longer than your load balancer takes to notice',
    shownDefault: '`0`, in production `2000`',
  }),
  ROLE: z
    .enum(['all', 'serve', 'work'], { error: 'must be all, serve or work' })
    .default('all')
    .meta({ description: '`serve` only handles requests, `work` only does background work, `all` does both' }),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
      error: 'must be fatal, error, warn, info, debug or silent',
    })
    .default('info')
    .meta({ description: '`fatal`, `error`, `warn`, `info`, `debug` or `silent`' }),
  ACCESS_LOG: onOff.default(false).meta({
    description:
      '`on` or `off`: whether each request gets a log line with its id, method, path, operation, status, time, platform, token, address and the rows that it created or changed, and so does each attempt to deliver a webhook',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .optional()
    .meta({
      description:
        "the address of an OpenTelemetry collector (OTLP over HTTP), such as `http://127.0.0.1:4318`. If unset, there are no traces ([docs/operating.md](operating.md#traces)). OpenTelemetry's other exporter settings apply as well",
    }),
  OTEL_EXPORTER_OTLP_HEADERS: headers.optional().meta({
    description: 'the headers that the collector requires, such as `authorization=Bearer%20…`, separated by commas',
  }),
  OTEL_SERVICE_NAME: z
    .string()
    .min(1)
    .default('payments-graphql-gateway')
    .meta({ description: 'the name of the service in its traces' }),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .refine((text) => text.trim() !== '' && Number(text) >= 0 && Number(text) <= 1, 'must be a number from 0 to 1')
    .transform(Number)
    .default(1)
    .meta({
      description: 'the share of traces to send, 0 to 1. A sampled `traceparent` from the caller takes precedence',
    }),
  SECURITY_CONTACT: z
    .string()
    .regex(/^(mailto:|https:\/\/)\S+$/, 'must be a mailto: or https: address')
    .optional()
    .meta({
      description:
        'where to report a vulnerability of this deployment, such as `mailto:security@example.com`; it is served at `/.well-known/security.txt` (RFC 9116), which does not exist if this is unset',
    }),
  GRAPHIQL: onOff.optional().meta({
    description: '`on` or `off`: whether `/lab` shows GraphiQL, and `/graphql` redirects browsers to it',
    shownDefault: 'on with the embedded Postgres, else off',
  }),
  CORS_ORIGINS: parts(',')
    .refine((list) => list.every((origin) => origin === '*' || isOrigin(origin)), {
      error:
        'must be origins as browsers send them, such as https://app.example.com, separated by commas, or *: without a path, a default port, capital letters and wildcards',
    })
    .default([])
    .meta({
      description:
        "the origins whose web pages may use HTTP, SSE and WebSocket, separated by commas, or `*`. The service's own origin is always allowed, and in the local sandbox every origin on this machine. If an origin is refused, the log names it and the value that would allow it",
    }),
  CLIENT_TOKEN_KEY: textKey.optional().meta({
    description:
      'signs client tokens: at least 32 characters and no semicolon, the same on all instances. In production, no client tokens can be created without it',
    shownDefault: 'generated once in `DATA_DIR`; none in production',
  }),
  CLIENT_TOKEN_KEY_FALLBACKS: listOf(textKey).default([]).meta({
    description:
      'other keys whose client tokens are accepted, separated by semicolons ([how to rotate keys](operating.md#rotate-a-key))',
  }),
  EVENT_RETENTION_DAYS: wholeNumber(1, 36_500).default(30).meta({
    description:
      'how many days of events a stream can replay, 1 to 36500. Resuming fails with CURSOR_EXPIRED if an older event would have to be replayed. Events are not deleted: lists of events still show them',
  }),
  PUBLIC_CONTRACT: onOff.optional().meta({
    description:
      '`on` or `off`: whether the API is described publicly: introspection of the schema and, without credentials, the OpenAPI document with its console and the documentation at `/docs`',
    shownDefault: 'on, in production off',
  }),
  STOCK_READS: onOff.default(false).meta({
    description:
      '`on` or `off`: whether graphql-js and Prisma execute GraphQL queries instead of the reader that compiles a query to one SQL statement. Only for debugging and comparison, because it sends a statement for each parent; refused in production',
  }),
  PAYMENT_APPROVAL_MS: wholeNumber(1, 60_000)
    .default(5_000)
    .meta({ description: 'how many milliseconds a platform has to approve or reject an incoming payment, 1 to 60000' }),
  RECONCILE_HOUR: wholeNumber(0, 23).default(2).meta({
    description:
      "the hour (UTC, 0 to 23) after which the service reconciles the previous day with the rails' providers ([docs/rails.md](rails.md#reconciliation))",
  }),
  RAILS: z
    .string()
    .transform((text, context) => {
      try {
        return parseRailSettings(text);
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
        return z.NEVER;
      }
    })
    .optional()
    .meta({
      description:
        'the rails: JSON such as `{"PRODUCTION": {"module": "./acme-rail.ts", "settings": {…}}}`, or the path of a JSON file ([docs/rails.md](rails.md))',
      shownDefault: 'the sandbox for sandbox platforms',
    }),
  SANDBOX_QUOTE_SECONDS: wholeNumber(1, 86_400)
    .default(300)
    .meta({ description: 'how many seconds a quote locks its rate, 1 to 86400' }),
  SANDBOX_PACE_MS: wholeNumber(0, 600_000)
    .default(500)
    .meta({ description: 'how many milliseconds one settlement step takes in the sandbox, 0 to 600000' }),
  SECRET_KEY: key.optional().meta({
    description:
      'encrypts stored signing secrets and cursors: 32 bytes in base64 or hex, the same on all instances. An instance that serves requests needs it, and without it no webhooks are sent',
    shownDefault: 'generated once in `DATA_DIR`; none in production',
  }),
  SECRET_KEY_FALLBACKS: listOf(key).default([]).meta({
    description:
      'other keys that can decrypt stored secrets and cursors, separated by semicolons ([how to rotate keys](operating.md#rotate-a-key))',
  }),
  WEBHOOK_TIME_SCALE: wholeNumber(1, 1_000_000)
    .default(1)
    .meta({ description: 'how many times faster webhooks are retried, for tests: 1 to 1000000' }),
} as const;
