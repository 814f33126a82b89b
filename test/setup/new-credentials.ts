import { basicAuthorization } from '../../src/access/tokens/basic-authorization.ts';
import { succeed } from './acts.ts';
import { connect, type TestPlatform } from './gateway.ts';

/** The platform with a token of its own, which was used just now: a gateway remembers it for two seconds from then on. */
export async function withNewCredentials(platform: TestPlatform, url: string): Promise<TestPlatform> {
  const input = { name: 'new', permissions: ['VIEW', 'TRANSACT', 'MANAGE'] };
  const { apiToken, secret } = await succeed(platform, 'createApiToken', input, 'secret apiToken { clientId }');
  const clientId: string = apiToken.clientId;
  const renewed = connect(url, platform.platformId, basicAuthorization({ clientId, secret }));
  await renewed.ask('{ viewer { kind } }');
  return renewed;
}
