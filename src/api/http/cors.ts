import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv4 } from 'node:net';
import type { Logger } from 'pino';
import { boundedCache } from '../../core/bounded-cache.ts';

/** Which pages from other origins may call this server. The server never accepts cookies as credentials. */
interface OriginOptions {
  /** The origins in the CORS_ORIGINS setting, or `*` for all. */
  readonly origins: readonly string[];
  /** Whether pages that this machine serves on any port, such as apps in development, may call the server. */
  readonly loopback: boolean;
  readonly log: Logger;
}

/** The response to a preflight. Any requested header is allowed; only origins are restricted. */
const allowed = {
  'access-control-allow-methods': 'GET, POST, QUERY, PATCH, DELETE, OPTIONS',
  'access-control-max-age': '600',
} as const;

/** Within `ttlMs` milliseconds, at most `max` refused origins are logged, each only once. */
const logging = { max: 200, ttlMs: 600_000 } as const;

/** Decides whether the page that sends a request may read the response, and logs refused origins. */
export class Origins {
  readonly #options: OriginOptions;
  readonly #logged = boundedCache<true>(logging.max, logging.ttlMs);

  constructor(options: OriginOptions) {
    this.#options = options;
  }

  /** Returns whether a request comes from one of our pages, a page with an allowed origin, or no page at all. */
  accepts({ headers: { origin, host } }: IncomingMessage): boolean {
    if (origin === undefined) return true;
    const { origins, loopback } = this.#options;
    if (origins.includes('*') || origins.includes(origin)) return true;
    if (origin === `http://${host}` || origin === `https://${host}`) return true;
    if (loopback && URL.canParse(origin) && isThisMachine(new URL(origin).hostname)) return true;
    this.#logRefusal(origin);
    return false;
  }

  /** Sets the headers for pages from other origins. Responds to a preflight request, and returns whether it was one. */
  answer(response: ServerResponse): boolean {
    const { req: request } = response;
    const { origin } = request.headers;
    response.setHeader('vary', 'Origin, Accept, Accept-Encoding');
    const isAllowed = origin !== undefined && this.accepts(request);
    if (isAllowed) {
      response.setHeader('access-control-allow-origin', origin);
      response.setHeader(
        'access-control-expose-headers',
        'etag, retry-after, ratelimit, ratelimit-policy, idempotency-replayed',
      );
    }
    if (request.method !== 'OPTIONS') return false;
    if (isAllowed) {
      for (const [name, value] of Object.entries(allowed)) response.setHeader(name, value);
      response.setHeader('access-control-allow-headers', request.headers['access-control-request-headers'] ?? '');
    }
    response.writeHead(204).end();
    return true;
  }

  #logRefusal(origin: string): void {
    this.#logged.purgeStale();
    if (this.#logged.has(origin) || this.#logged.size >= logging.max) return;
    this.#logged.set(origin, true);
    // All pages without a web address, such as files, have the origin null, so no setting can tell them apart.
    const wanted = /^https?:\/\/[^\s/]+$/.test(origin) ? [...this.#options.origins, origin] : ['*'];
    this.#options.log.warn(
      { origin: origin.slice(0, 300), setting: `CORS_ORIGINS=${wanted.join(',')}`.slice(0, 1_000) },
      'refused a web page from an origin that is not allowed; the setting in this line would allow it',
    );
  }
}

/** Forbids sniffing, framing, scripts and caching. Pages override these headers. */
export function protectResponse(response: ServerResponse): void {
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  response.setHeader('cache-control', 'no-store');
}

/**
 * Returns whether a request names this machine in its Host header. A page from another site can make its host name
 * resolve to this machine (DNS rebinding). The page then counts as same-origin, but its requests name its own host.
 */
export function namesThisMachine({ headers: { host = '' } }: IncomingMessage): boolean {
  return isThisMachine(URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : '');
}

/** Returns whether a host name, in the form used in URLs, always refers to the local machine. */
function isThisMachine(name: string): boolean {
  if (isIPv4(name)) return name.startsWith('127.');
  return name === '[::1]' || name === 'localhost' || name.endsWith('.localhost');
}
