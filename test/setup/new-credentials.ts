import { basicAuthorization } from '../../src/domain/access/tokens/api-tokens.ts';
import { mint, succeed } from './acts.ts';
import { connect, type TestPlatform } from './gateway.ts';

/** A platform as the bearer of one of its tokens. */
export interface Bearer extends TestPlatform {
  /** The public id of the token. */
  readonly tokenId: string;
}

/** Creates an API token with these permissions. */
export async function serverOf(platform: TestPlatform, ...permissions: readonly string[]): Promise<Bearer> {
  const input = { name: 'made', permissions };
  const { apiToken, secret } = await succeed(platform, 'createApiToken', input, 'secret apiToken { id clientId }');
  const { id: tokenId, clientId } = apiToken;
  return { ...connect(platform.url, platform.platformId, basicAuthorization({ clientId, secret })), tokenId };
}

/** Creates a client token. */
export async function appOf(platform: TestPlatform, input: object): Promise<Bearer> {
  const { token, tokenId } = await mint(platform, input);
  return { ...connect(platform.url, platform.platformId, `Bearer ${token}`), tokenId };
}

/** Creates the token of an app that pays: for a customer, or for a payment. */
export const payingApp = (platform: TestPlatform, bound: object): Promise<Bearer> =>
  appOf(platform, { permissions: ['VIEW', 'TRANSACT'], ...bound });

/** Returns the platform with a new token that has just been used: a gateway then caches it for a second. */
export async function withNewCredentials(platform: TestPlatform, url: string): Promise<TestPlatform> {
  const renewed = await serverOf({ ...platform, url }, 'VIEW', 'TRANSACT', 'MANAGE');
  await renewed.ask('{ viewer { kind } }');
  return renewed;
}
