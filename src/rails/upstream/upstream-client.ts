import { Agent, request } from 'undici';
import { z } from 'zod';
import { InexactJson, parseJson } from '../../core/json.ts';
import {
  BeneficiaryVerificationStatus,
  ExternalAccountStatus,
  KycStatus,
  TransactionStatus,
} from '../../infra/database/generated/client/enums.ts';

/** The fields that the upstream rail reads from the specification's records. Other fields are allowed. */

const wholeAmount = z.number().int().nonnegative();

const amount = z.object({ amount: wholeAmount, currency: z.object({ code: z.string() }) });

const end = z.object({ accountId: z.string().optional(), umaAddress: z.string().optional() });

export const transactionRecord = z.object({
  id: z.string(),
  status: z.enum(TransactionStatus),
  type: z.enum(['INCOMING', 'OUTGOING']).optional(),
  createdAt: z.iso.datetime({ offset: true }).optional(),
  description: z.string().optional(),
  receivedAmount: amount,
  sentAmount: amount.optional(),
  source: end.optional(),
  destination: end.optional(),
  quoteId: z.string().optional(),
  failureReason: z.string().optional(),
  refund: z.object({ settledAt: z.string().nullish() }).optional(),
});
export type TransactionRecord = z.infer<typeof transactionRecord>;

export const transactionPage = z.object({
  data: z.array(transactionRecord),
  hasMore: z.boolean(),
  nextCursor: z.string().optional(),
});

export const externalAccountRecord = z.object({
  id: z.string(),
  status: z.enum(ExternalAccountStatus),
  currency: z.string(),
  /** The details that identify the account are strings. Other details, such as the beneficiary, are not read. */
  accountInfo: z.object({ accountType: z.string() }).catchall(z.string().optional().catch(undefined)),
  beneficiaryVerificationStatus: z.enum(BeneficiaryVerificationStatus).nullish(),
  beneficiaryVerifiedData: z.object({ fullName: z.string().optional() }).nullish(),
});
export type ExternalAccountRecord = z.infer<typeof externalAccountRecord>;

export const externalAccountList = z.object({ data: z.array(externalAccountRecord) });

export const internalAccountList = z.object({ data: z.array(z.object({ id: z.string(), balance: amount })) });

/** Treats an unknown status as PENDING_REVIEW. */
const kycStatus = z.enum(KycStatus).or(z.string().transform(() => KycStatus.PENDING_REVIEW));

export const customerRecord = z.object({ id: z.string(), kycStatus });

export const customerPage = z.object({ data: z.array(customerRecord) });

export const quoteRecord = z.object({
  quoteId: z.string(),
  createdAt: z.iso.datetime({ offset: true }),
  expiresAt: z.iso.datetime({ offset: true }),
  sendingCurrency: z.object({ code: z.string() }),
  receivingCurrency: z.object({ code: z.string() }),
  totalSendingAmount: wholeAmount,
  totalReceivingAmount: wholeAmount,
  exchangeRate: z.number().positive(),
  feesIncluded: wholeAmount,
  transactionId: z.string(),
});
export type QuoteRecord = z.infer<typeof quoteRecord>;

export const paidFromQuote = z.object({
  source: z.object({ accountId: z.string() }),
  sendingCurrency: z.object({ code: z.string() }),
});

export const receiverRecord = z.object({
  id: z.string(),
  receiver: z.object({ vaspName: z.string().optional() }),
  supportedCurrencies: z.array(z.object({ code: z.string(), min: wholeAmount, max: wholeAmount })),
  requiredPayerFields: z.array(z.string()),
});

export const rateList = z.object({
  data: z.array(
    z.object({
      destinationCurrency: z.object({ code: z.string() }),
      exchangeRate: z.number().positive(),
      sendingAmount: wholeAmount,
      minSendingAmount: wholeAmount,
      maxSendingAmount: wholeAmount,
      fees: z.object({ fixed: wholeAmount, total: wholeAmount }),
    }),
  ),
});
export type RateList = z.infer<typeof rateList>;

function isSafeUrl(text: string): boolean {
  const url = URL.parse(text);
  const isLocal = url !== null && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal);
}

export const upstreamConnection = z.object({
  /** The base URL, including the version, such as https://host/2025-10-13. */
  baseUrl: z.string().refine(isSafeUrl, 'must be an https URL, or an http URL on this machine'),
  clientId: z.string().min(1),
  secret: z.string().min(1),
  /** The secret with which the upstream service signs its webhooks for the platform. Without it, they are refused. */
  webhookSecret: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, 'must be the upstream webhook secret: whsec_ followed by base64')
    .optional(),
});
export type UpstreamConnection = z.infer<typeof upstreamConnection>;

const milliseconds = (max: number) =>
  z
    .int({ error: `must be a whole number from 1 to ${max}` })
    .min(1)
    .max(max);

export const upstreamSettings = z
  .strictObject({
    /** The delay before an order in progress is queried again. */
    pollMs: milliseconds(3_600_000).default(1_000),
    /** How long after settlement a payment may still be returned. It is queried once more at the end of this period. */
    watchMs: milliseconds(86_400_000).default(86_400_000),
    expectedMs: milliseconds(86_400_000).default(5_000),
    identityMs: milliseconds(86_400_000).default(60_000),
    lockQuotes: z.boolean({ error: 'must be true or false' }).default(true),
  })
  .prefault({});

/** The error for a failed request, with an error code. */
class UpstreamError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = new.target.name;
    this.code = code;
  }
}

/** The error for a request that was permanently refused upstream. Repeating it is pointless. */
export class UpstreamRefusal extends UpstreamError {}

/** The error for a response that leaves the outcome of the request open. */
export class UpstreamFault extends UpstreamError {}

/** Awaits a request, and returns `otherwise` if it was refused upstream. */
export function unlessRefused<Answer, Other>(request: Promise<Answer>, otherwise: Other): Promise<Answer | Other> {
  return request.catch((error: unknown) => {
    if (error instanceof UpstreamRefusal) return otherwise;
    throw error;
  });
}

/** A command with its idempotency key. Some commands have no body. */
interface Command {
  readonly body?: object;
  readonly key: string;
}

interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
  readonly memo: string;
  readonly key: string;
}

/** The time limit for a request, in milliseconds. It is shorter than the gateway's time limit for a rail. */
const requestMs = 8_000;

const errorSchema = z.object({ code: z.string(), message: z.string() });

/** The statuses of temporary refusals, caused by credentials, limits or a pending attempt, not by the request. */
const temporary: ReadonlySet<number> = new Set([401, 403, 408, 409, 422, 425, 429]);

/** The codes of refusals that are final even though their status is one of the above. */
const finalCodes: ReadonlySet<string> = new Set(['QUOTE_EXPIRED']);

type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

export class UpstreamClient {
  readonly #connection: () => Promise<UpstreamConnection>;
  readonly #agent = new Agent({ connections: 32 });

  /** @param connection reads the connection for each request, so that new credentials are used at once */
  constructor(connection: () => Promise<UpstreamConnection>) {
    this.#connection = connection;
  }

  /** Sends a GET request. @throws UpstreamRefusal for a refusal such as 404, Error if the outcome is unknown */
  get<Schema extends z.ZodType>(path: string, schema: Schema, query: Query = {}): Promise<z.infer<Schema>> {
    const fields = Object.entries(query).flatMap(([name, given = []]) => [given].flat().map((value) => [name, value]));
    return this.#send('GET', fields.length > 0 ? `${path}?${new URLSearchParams(fields)}` : path, schema);
  }

  /** Sends a command with an idempotency key that identifies it. @throws the same errors as `get` */
  post<Schema extends z.ZodType>(path: string, schema: Schema, command: Command): Promise<z.infer<Schema>> {
    return this.#send('POST', path, schema, command);
  }

  /** Moves money between two upstream accounts, with an idempotency key and a memo for operators and reconciliation. */
  transfer(way: 'in' | 'out' | 'internal', { from, to, amount, memo, key }: Transfer) {
    const source = { accountId: from };
    const destination = { accountId: to };
    const body = { source, destination, amount: Number(amount), description: memo };
    return this.post(`/transfer-${way}`, transactionRecord, { body, key });
  }

  close(): Promise<void> {
    return this.#agent.close();
  }

  async #send<Schema extends z.ZodType>(method: 'GET' | 'POST', path: string, schema: Schema, command?: Command) {
    const { baseUrl, clientId, secret } = await this.#connection();
    const credentials = Buffer.from(`${clientId}:${secret}`).toString('base64');
    const { statusCode, body } = await request(`${baseUrl.replace(/\/$/, '')}${path}`, {
      method,
      dispatcher: this.#agent,
      signal: AbortSignal.timeout(requestMs),
      headers: {
        authorization: `Basic ${credentials}`,
        accept: 'application/json',
        ...(command && { 'idempotency-key': command.key }),
        ...(command?.body && { 'content-type': 'application/json' }),
      },
      body: command?.body ? JSON.stringify(command.body) : null,
    });
    const text = await body.text();
    const what = `${method} ${path.replace(/\?.*/, '')}`;
    const content = jsonIn(text, what);
    // These errors omit the response text and the parser's errors, because both could repeat data that was sent.
    if (statusCode >= 200 && statusCode < 300) {
      if (content === undefined) throw new UpstreamFault('UNREADABLE', `upstream's answer to ${what} is not JSON`);
      return schema.parse(content);
    }
    const failure = errorSchema.safeParse(content);
    const { code, message } = failure.success ? failure.data : { code: 'UNKNOWN', message: 'no reason was given' };
    const isTemporary = temporary.has(statusCode) && !finalCodes.has(code);
    if (statusCode >= 500 || isTemporary || statusCode < 400)
      throw new UpstreamFault(code, `upstream answered ${statusCode} ${code} to ${what}`);
    // The message must contain no credentials, because callers and operators may read it.
    const hidden = message.replaceAll(credentials, '[hidden]').replaceAll(secret, '[hidden]');
    throw new UpstreamRefusal(code, hidden);
  }
}

function jsonIn(text: string, what: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof InexactJson)
      throw new UpstreamFault('UNREADABLE', `upstream's answer to ${what} contains inexact numbers`);
    return undefined;
  }
}
