import { Cursors } from '../src/core/cursors.ts';
import { servingUrl } from '../src/infra/database/embedded/serving-login.ts';
import { type Server, startServer } from './measure.ts';

const secretKey = Buffer.alloc(32, 1);

/** The gateway's cursors. */
export const cursors = new Cursors([secretKey]);

/** Starts the gateway as in production, with every feature enabled. */
export function startGateway(
  databaseUrl: string,
  role: 'all' | 'serve' | 'work' = 'all',
  more: Readonly<Record<string, string>> = {},
): Promise<Server> {
  return startServer('src/main.ts', {
    DATABASE_URL: servingUrl(databaseUrl),
    PORT: '0',
    LOG_LEVEL: 'error',
    ROLE: role,
    SANDBOX_QUOTE_SECONDS: '86400',
    SECRET_KEY: secretKey.toString('base64'),
    // A list with several conditions counts as up to 20 requests (docs/limits.md), so the default limit would cap the
    // measured rate.
    RATE_LIMIT_PLATFORM: '1000000',
    RATE_LIMIT_API_TOKEN: '1000000',
    ALLOW_UNSAFE: 'loopback-webhooks,weak-keys',
    ...more,
  });
}
