import { InvalidArgumentError } from 'commander';
import { type Answer, Failure, listed } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import { publicId } from '../core/ids.ts';
import type { Tenant } from '../core/tenant.ts';
import { formatRate, parseRate, type Rate, type RateChanges } from '../domain/access/rates.ts';
import { basicAuthorization } from '../domain/access/tokens/api-tokens.ts';
import { changeRates, createPlatform, findPlatform, giveUmaDomain } from '../domain/platforms/platforms.ts';
import type { Database } from '../infra/database/database.ts';
import { actOf, operatorOf, type Said, type Tools, withDatabase } from './tools.ts';

export function addPlatforms(program: Program): void {
  const platform = program.command('platform').description('the platforms of this installation');
  platform.command('list').description('list all platforms').action(withDatabase(list));
  actOf(platform.command('create'))
    .description('create a platform and print its first API token, once')
    .argument('<name>', 'the name of the platform; it must be unique')
    .option('--sandbox', "simulate the platform's payments")
    .action(withDatabase(create));
  actOf(platform.command('domain'))
    .description(
      'give a platform a UMA domain, for the addresses of its new customers; check first that the platform owns the domain',
    )
    .argument('<name>', 'the name of the platform')
    .argument('<domain>', 'a domain name such as pay.example.com, which is reserved for the platform from then on')
    .action(withDatabase(giveDomain));
  actOf(platform.command('limits'))
    .description('change and show how many requests a platform may send')
    .argument('<name>', 'the name of the platform')
    .option('--platform <rate>', 'in total', rateIn)
    .option('--api-token <rate>', 'with each of its API tokens', rateIn)
    .option('--client-token <rate>', 'with each of its client tokens', rateIn)
    .addHelpText(
      'after',
      '\nA rate is requests per second and burst, such as 100/500, or default for the value of the settings.',
    )
    .action(withDatabase(limits));
}

/** Returns the platform with the given name. @throws Failure */
export async function platformNamed(database: Database, name: string): Promise<Tenant> {
  const platform = await findPlatform(database, name);
  if (!platform) throw new Failure(`There is no platform named ${JSON.stringify(name)}.`);
  return platform;
}

function rateIn(text: string): Rate | null {
  if (text === 'default') return null;
  const rate = parseRate(text);
  if (!rate) throw new InvalidArgumentError(`${text} is not a rate.`);
  return rate;
}

async function list({ database }: Tools): Promise<Answer> {
  const platforms = await database.prisma.platform.findMany({ orderBy: { name: 'asc' } });
  const rows = platforms.map(({ id, name, environment, umaDomain, createdAt }) => ({
    name,
    environment,
    id: publicId('Platform', id),
    umaDomain,
    createdAt,
  }));
  return listed(rows, 'There is no platform yet.');
}

async function create({ payments }: Tools, name: string, { sandbox, ...said }: Said & { sandbox?: true }) {
  const environment = sandbox ? 'SANDBOX' : 'PRODUCTION';
  const { clientId, secret, platformId } = await createPlatform(payments, {
    name,
    environment,
    operator: operatorOf('platform create', said),
  });
  const id = publicId('Platform', platformId);
  return secretOnce({ id, name, environment }, `Platform ${name} (${environment}), ${id}`, { clientId, secret });
}

/** Returns the credentials of a newly created token. */
export function secretOnce(about: object, head: string, credentials: { clientId: string; secret: string }): Answer {
  const authorization = basicAuthorization(credentials);
  const { clientId, secret } = credentials;
  return {
    data: { ...about, clientId, secret, authorization },
    lines: [
      head,
      '',
      `  clientId       ${clientId}`,
      `  secret         ${secret}`,
      `  Authorization  ${authorization}`,
      '',
      'The secret is shown only here and is not stored.',
    ],
  };
}

async function giveDomain({ database }: Tools, name: string, written: string, said: Said): Promise<Answer> {
  const { platformId } = await platformNamed(database, name);
  const operator = operatorOf('platform domain', said);
  const umaDomain = await giveUmaDomain(database, platformId, operator, written);
  return {
    data: { id: publicId('Platform', platformId), name, umaDomain },
    lines: [`New customers of ${name} get their UMA addresses in ${umaDomain}.`],
  };
}

async function limits({ database, config }: Tools, name: string, given: Said & RateChanges): Promise<Answer> {
  const { platformId } = await platformNamed(database, name);
  const own = await changeRates(database, platformId, operatorOf('platform limits', given), given);
  const row = (rate: Rate | null, setting: Rate | null) =>
    rate ? formatRate(rate) : `${setting ? formatRate(setting) : 'off'} (from the settings)`;
  return {
    data: own,
    lines: [
      `Rate limits of platform ${name}, as requests per second/burst:`,
      '',
      `  in total           ${row(own.platform, config.RATE_LIMIT_PLATFORM)}`,
      `  each API token     ${row(own.apiToken, config.RATE_LIMIT_API_TOKEN)}`,
      `  each client token  ${row(own.clientToken, config.RATE_LIMIT_CLIENT_TOKEN)}`,
    ],
  };
}
