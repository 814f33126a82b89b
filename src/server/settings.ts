import { z } from 'zod';
import { serversOf } from '../infra/database/connections/address.ts';
import { parseRailSettings } from '../rails/rail-settings.ts';
import { parseRateOverrides } from '../rails/sandbox/rates.ts';
import {
  address,
  addressRanges,
  headers,
  key,
  listOf,
  onOff,
  rate,
  textKey,
  unsafe,
  wholeNumber,
} from './setting-kinds.ts';

/** Every setting: its form, its default and its description. docs/settings.md is printed from this (`npm run schema`). */
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
    .meta({ description: 'the port of `/metrics` for Prometheus, 0 to 65535. Without it there are no metrics' }),
  METRICS_HOST: z.string().min(1).default('127.0.0.1').meta({
    description:
      'the interface that the metrics port listens on. Metrics need no credentials, so restrict access to Prometheus',
  }),
  DATABASE_URL: address.optional().meta({
    description:
      "a Postgres 15 or newer; without it the service uses the embedded one. It may name several hosts, separated by commas: that of the primary is used. `options` in the address (`?options=-c%20work_mem%3D8MB`) are added to the settings of the service's sessions, and override none. `application_name` there is the first word of its connections' names, instead of `payments-gateway`",
  }),
  DATABASE_DIRECT_URL: address.optional().meta({
    description:
      'the address of the server behind a connection pooler, with the same login. Then `DATABASE_URL` may be a PgBouncer in transaction mode: requests go through it, and connections that need a session of their own do not ([docs/operating.md](operating.md#connection-pooler))',
  }),
  DATABASE_READ_URL: listOf(
    address.refine((url) => serversOf(url).length === 1, 'must name one host each: separate replicas by semicolons'),
  )
    .default([])
    .meta({
      description:
        'standbys of the database that answer reads of nodes and lists, separated by semicolons, with the same login. No read is older than what was written before it ([docs/operating.md](operating.md#read-replicas))',
    }),
  DATABASE_READ_LAG_MS: wholeNumber(100, 3_600_000)
    .default(10_000)
    .meta({ description: 'how far a replica may lag; one that lags more gets no reads' }),
  DATA_DIR: z.string().min(1).default('.data').meta({
    description:
      'the folder of the embedded Postgres and, outside production, of the keys that the first start makes. Not needed with `DATABASE_URL`, `CLIENT_TOKEN_KEY` and `SECRET_KEY`',
  }),
  DATABASE_OWNER_URL: address.optional().meta({
    description: 'the same database, with the login that owns its tables: for migrations only',
    shownDefault: '`DATABASE_DIRECT_URL`, else `DATABASE_URL`',
  }),
  MIGRATE: z.enum(['on', 'off', 'verify'], { error: 'must be on, off or verify' }).optional().meta({
    description: '`on` applies migrations at the start, `verify` refuses to start without one, `off` does neither',
    shownDefault: '`on`, in production `verify`',
  }),
  ALLOW_UNSAFE: unsafe.optional().meta({
    description:
      'what would otherwise stop the start, separated by commas: `any-origin` (`CORS_ORIGINS=*`), `loopback-webhooks` (`WEBHOOK_LOOPBACK=on`), `owner-login` (the login of `DATABASE_URL` is a superuser, bypasses row-level security or owns the tables), `unverified-tls` (no verified TLS to a database on another machine, or `NODE_TLS_REJECT_UNAUTHORIZED=0`), `weak-keys` (keys that can be guessed)',
    shownDefault: 'all of these; in production none',
  }),
  DATABASE_POOL: wholeNumber(1, 200).default(10).meta({
    description:
      'how many connections for requests may be open at once, 1 to 200. Background work opens up to half as many more, and the feed up to seven more',
  }),
  MAX_IN_FLIGHT: wholeNumber(1, 100_000).default(256).meta({
    description:
      'how many requests are answered at once, 1 to 100000. A request counts from the arrival of its whole body until its answer is made. It does not count while it waits for an external service, such as the receiver of a webhook test. A request beyond that gets 503 with Retry-After, unless its platform uses less than its share of the limit: nobody is refused because another platform sends too much. While answers take longer than 200 ms on average, the limit is an eighth of this',
  }),
  MAX_ANSWER_BYTES: wholeNumber(1_024, 100_000_000).default(8_388_608).meta({
    description:
      'how many bytes one read of a GraphQL operation may return, 1024 to 100000000. A larger answer is refused with COST_LIMIT_EXCEEDED and never leaves the database',
  }),
  RATE_LIMIT_PLATFORM: rate.default({ perSecond: 20_000, burst: 40_000 }).meta({
    description:
      'how many requests a platform may send to this instance: a second on average, and at once after a pause, each 1 to 1000000; or `off`. A request beyond that gets 429 with Retry-After. [docs/limits.md](limits.md) has all limits, and how to set those of one platform',
  }),
  RATE_LIMIT_API_TOKEN: rate
    .default({ perSecond: 20_000, burst: 40_000 })
    .meta({ description: 'the same for each API token' }),
  RATE_LIMIT_CLIENT_TOKEN: rate
    .default({ perSecond: 100, burst: 500 })
    .meta({ description: 'the same for each client token' }),
  WRONG_CREDENTIALS_PER_MINUTE: wholeNumber(1, 1_000_000).default(100).meta({
    description:
      'how many wrong credentials are looked up for one address, 1 to 1000000. Beyond that its unknown credentials get 429',
  }),
  TRUSTED_PROXIES: addressRanges.default([]).meta({
    description:
      'the proxies in front of the service, as addresses or ranges such as `10.0.0.0/8`, separated by commas. Only they say in `X-Forwarded-For` who the client is',
  }),
  SOCKETS_PER_API_TOKEN: wholeNumber(1, 1_000_000)
    .default(20_000)
    .meta({ description: 'how many WebSockets each API token may have open, 1 to 1000000' }),
  SOCKETS_PER_CLIENT_TOKEN: wholeNumber(1, 1_000_000)
    .default(20)
    .meta({ description: 'the same for each client token' }),
  STREAMS_PER_API_TOKEN: wholeNumber(1, 1_000_000)
    .default(50_000)
    .meta({ description: 'how many subscriptions each API token may have open on all transports, 1 to 1000000' }),
  STREAMS_PER_CLIENT_TOKEN: wholeNumber(1, 1_000_000)
    .default(100)
    .meta({ description: 'the same for each client token' }),
  COMPRESS_STREAMS: onOff.default(false).meta({
    description:
      '`on` or `off`: whether messages on WebSockets (permessage-deflate) and of event streams (gzip) are compressed for clients that accept it. [docs/streams.md](streams.md#compression) has the cost',
  }),
  KEEP_ALIVE_MS: wholeNumber(1_000, 120_000).default(12_000).meta({
    description:
      'how often an open socket gets a ping, and an event stream a keep-alive, 1000 to 120000. A socket that does not answer before the next ping is closed. Longer intervals save the batteries of phones: see [docs/mobile.md](mobile.md)',
  }),
  SHUTDOWN_DELAY_MS: wholeNumber(0, 60_000).optional().meta({
    description:
      'how long the service still takes requests after SIGTERM, while readiness already answers 503: 0 to 60000. Choose longer than your load balancer takes to notice',
    shownDefault: '`0`, in production `2000`',
  }),
  ROLE: z
    .enum(['all', 'serve', 'work'], { error: 'must be all, serve or work' })
    .default('all')
    .meta({ description: '`serve` only answers requests, `work` only does background work, `all` does both' }),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
      error: 'must be fatal, error, warn, info, debug or silent',
    })
    .default('info')
    .meta({ description: '`fatal`, `error`, `warn`, `info`, `debug` or `silent`' }),
  ACCESS_LOG: onOff.default(false).meta({
    description:
      '`on` or `off`: whether the log has a line for each request: its id, method, path, operation, status, time, platform, token, address and the rows that it created or changed; and one for each attempt at a webhook',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .optional()
    .meta({
      description:
        "the address of an OpenTelemetry collector (OTLP over HTTP), such as `http://127.0.0.1:4318`. With it, traces go there ([docs/operating.md](operating.md#traces)). Other settings of OpenTelemetry's exporter are read as well",
    }),
  OTEL_EXPORTER_OTLP_HEADERS: headers.optional().meta({
    description: 'the headers that the collector requires, such as `authorization=Bearer%20…`, separated by commas',
  }),
  OTEL_SERVICE_NAME: z
    .string()
    .min(1)
    .default('payments-graphql-gateway')
    .meta({ description: 'the name of the service in its traces' }),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1).meta({
    description: 'the share of traces that are sent, 0 to 1. A sampled `traceparent` of a caller takes precedence',
  }),
  GRAPHIQL: onOff.optional().meta({
    description: '`on` or `off`: whether `/lab` shows GraphiQL, and `/graphql` leads browsers there',
    shownDefault: 'on with the embedded Postgres, else off',
  }),
  CORS_ORIGINS: z
    .string()
    .default('')
    .transform((list) =>
      list
        .split(',')
        .map((origin) => origin.trim())
        .filter((origin) => origin !== ''),
    )
    .refine((list) => list.every((origin) => origin === '*' || /^https?:\/\/[^\s/]+$/.test(origin)), {
      error: 'must be origins such as https://app.example.com, separated by commas, or *',
    })
    .meta({
      description:
        "the origins whose pages may use HTTP, SSE and WebSocket, separated by commas, or `*`. The server's own origin always may, and in the local sandbox every page that this machine serves. The log names an origin that may not, and the setting that would allow it",
    }),
  CLIENT_TOKEN_KEY: textKey.optional().meta({
    description:
      'signs client tokens: at least 32 characters and no semicolon, the same on all instances. A production server without it makes no client tokens',
    shownDefault: 'made once in `DATA_DIR`, in production none',
  }),
  CLIENT_TOKEN_KEY_FALLBACKS: listOf(textKey).default([]).meta({
    description:
      'other keys whose client tokens are valid, separated by semicolons: [how to rotate keys](operating.md#rotate-a-key)',
  }),
  EVENT_RETENTION_DAYS: wholeNumber(1, 36_500).default(30).meta({
    description:
      'how far back a stream replays, 1 to 36500 days. A cursor with older events after it gets CURSOR_EXPIRED. The events themselves are never deleted',
  }),
  PUBLIC_CONTRACT: onOff.optional().meta({
    description:
      '`on` or `off`: whether the contract is public: the schema by introspection, and without credentials the OpenAPI document with its console, and the documentation at `/docs`',
    shownDefault: 'on, in production off',
  }),
  STOCK_READS: onOff.default(false).meta({
    description:
      '`on` or `off`: whether graphql-js and Prisma alone answer GraphQL queries, for developers who compare or debug: a statement for each parent, and not in production. The log says so at the start',
  }),
  AUTOMATIC_PERSISTED_QUERIES: onOff.optional().meta({
    description:
      '`on` or `off`: whether clients may have documents stored under their hashes without registering them ([docs/trusted-documents.md](trusted-documents.md))',
    shownDefault: 'on, in production off',
  }),
  PAYMENT_APPROVAL_MS: wholeNumber(1, 60_000)
    .default(5_000)
    .meta({ description: 'how long a platform has to approve or reject an incoming payment, 1 to 60000' }),
  RECONCILE_HOUR: wholeNumber(0, 23).default(2).meta({
    description:
      'the hour of the day, in UTC, 0 to 23, from which on the service reconciles the day before with the providers of rails ([docs/rails.md](rails.md#reconciliation))',
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
        'the rails: JSON, or the path of a file with it, such as `{"PRODUCTION": {"module": "./acme-rail.ts", "settings": {…}}}` ([docs/rails.md](rails.md))',
      shownDefault: 'the sandbox for sandbox platforms',
    }),
  SANDBOX_QUOTE_SECONDS: wholeNumber(1, 86_400)
    .default(300)
    .meta({ description: 'how long a quote holds its rate, 1 to 86400' }),
  SANDBOX_PACE_MS: wholeNumber(0, 600_000)
    .default(500)
    .meta({ description: 'how long one settlement step of the sandbox takes, 0 to 600000' }),
  SANDBOX_RATES: z
    .string()
    .default('{}')
    .transform((json, context) => {
      try {
        return parseRateOverrides(json);
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
        return z.NEVER;
      }
    })
    .meta({
      description:
        'rates that replace the sandbox\'s table: `{"USD/EUR": {"rate": "1.08695652", "fixedFee": 500, "variableFeeRate": "0"}}`',
      shownDefault: '`{}`',
    }),
  SECRET_KEY: key.optional().meta({
    description:
      'encrypts stored signing secrets and cursors: 32 bytes in base64 or hex, the same on all instances. An instance that serves needs it, and without it no webhooks are sent',
    shownDefault: 'made once in `DATA_DIR`, in production none',
  }),
  SECRET_KEY_FALLBACKS: listOf(key).default([]).meta({
    description:
      'other keys that decrypt them, separated by semicolons: [how to rotate keys](operating.md#rotate-a-key)',
  }),
  WEBHOOK_LOOPBACK: onOff.optional().meta({
    description: '`on` or `off`: whether sandbox platforms may use webhook endpoints on the loopback interface',
    shownDefault: 'on, in production off',
  }),
  WEBHOOK_TIME_SCALE: wholeNumber(1, 1_000_000)
    .default(1)
    .meta({ description: 'how many times faster the schedule of webhook attempts runs, for rehearsals: 1 to 1000000' }),
} as const;
