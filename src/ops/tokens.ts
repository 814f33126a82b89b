import { Option } from 'commander';
import { type Answer, listed } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import { publicId } from '../core/ids.ts';
import { platformItself } from '../domain/access/platform-itself.ts';
import { issueApiToken } from '../domain/access/tokens/issue-tokens.ts';
import { revokeApiToken } from '../domain/access/tokens/revoke-tokens.ts';
import { Permission } from '../infra/database/generated/client/client.ts';
import { platformNamed, secretOnce } from './platforms.ts';
import { actOf, operatorOf, type Said, type Tools, withDatabase } from './tools.ts';

export function addTokens(program: Program): void {
  const token = program.command('token').description('the API tokens of a platform');
  const platform = ['<platform>', 'the name of the platform'] as const;
  token
    .command('list')
    .description("list a platform's API tokens that have not been revoked")
    .argument(...platform)
    .action(withDatabase(list));
  actOf(token.command('issue'))
    .description('create a token and print its secret, once')
    .argument(...platform)
    .requiredOption('--name <name>', 'what the token is for')
    .addOption(
      new Option('--permissions <permission...>', 'its permissions')
        .choices(Object.values(Permission))
        .makeOptionMandatory(),
    )
    .action(withDatabase(issue));
  actOf(token.command('revoke'))
    .description(
      'revoke a token, with all tokens and webhook endpoints that it created; the last token with MANAGE cannot be revoked',
    )
    .argument(...platform)
    .argument('<token>', 'its id: ApiToken:…')
    .option('--keep-descendants', 'keep the tokens and webhook endpoints that it created')
    .action(withDatabase(revoke));
}

async function list({ database }: Tools, name: string): Promise<Answer> {
  const { platformId } = await platformNamed(database, name);
  const tokens = await database.prisma.apiToken.findMany({
    where: { platformId, revokedAt: null },
    orderBy: { id: 'asc' },
  });
  const rows = tokens.map((token) => ({
    id: publicId('ApiToken', token.id),
    name: token.name,
    permissions: token.permissions,
    clientId: token.clientId,
    createdAt: token.createdAt,
    createdById: token.createdById && publicId('ApiToken', token.createdById),
    lastUsedAt: token.lastUsedAt,
  }));
  return listed(rows, `The platform ${name} has no token.`);
}

interface NewToken extends Said {
  readonly name: string;
  readonly permissions: Permission[];
}

async function issue({ payments }: Tools, platform: string, { name, permissions, ...said }: NewToken): Promise<Answer> {
  const operator = { ...operatorOf('token issue', said), after: { name, permissions } };
  const caller = platformItself(await platformNamed(payments.database, platform), operator);
  const { apiToken, secret } = await issueApiToken(payments.database, caller, { name, permissions });
  const id = publicId('ApiToken', apiToken.id);
  const about = { id, name, permissions: apiToken.permissions };
  return secretOnce(about, `${id} of the platform ${platform}`, { clientId: apiToken.clientId, secret });
}

async function revoke(
  { database }: Tools,
  platform: string,
  tokenId: string,
  { keepDescendants = false, ...said }: Said & { keepDescendants?: boolean },
): Promise<Answer> {
  const caller = platformItself(await platformNamed(database, platform), operatorOf('token revoke', said));
  const ended = await revokeApiToken(database, caller, { tokenId, revokeDescendants: !keepDescendants });
  const { endedApiTokens, endedClientTokens, disabledEndpoints } = ended;
  return {
    data: { revokedId: tokenId, endedApiTokens, endedClientTokens, disabledEndpoints },
    lines: [
      `${tokenId} is revoked, with ${endedApiTokens} API tokens, ${endedClientTokens} client tokens and ${disabledEndpoints} webhook endpoints that it created.`,
    ],
  };
}
