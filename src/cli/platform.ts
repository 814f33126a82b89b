import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { formatRate, parseRate, type Rate, type Rates } from '../access/rates.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import { openPayments } from '../gateway.ts';
import { basicAuthorization } from '../graphql/server/graphiql.ts';
import { changeRates, type RateChanges } from '../payments/platforms/platform-rates.ts';
import { createPlatform } from '../payments/platforms/platforms.ts';
import { runOnDatabase } from './command-line.ts';

const usage = `Usage: npm run platform -- create NAME [--sandbox]
       npm run platform -- limits NAME [--platform RATE] [--api-token RATE] [--client-token RATE]

create makes a platform and prints its first API token, once. With --sandbox its payments are simulated.

limits changes how many requests a platform may send, in all, with each of its API tokens and with each of its client
tokens, and prints the limits. RATE is requests a second and at once, such as 100/500, or default: as the settings say.`;

type Command = (database: Database, config: Config) => Promise<void>;

/** Returns the command of `npm run platform`; undefined where the arguments are wrong. */
function commandOf(args: string[]): Command | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      sandbox: { type: 'boolean' },
      platform: { type: 'string' },
      'api-token': { type: 'string' },
      'client-token': { type: 'string' },
    },
  });
  const { sandbox, ...limits } = values;
  const [action, name, ...others] = positionals;
  if (name === undefined || others.length > 0) return undefined;
  if (action === 'create' && Object.keys(limits).length === 0) {
    return (database, config) => create(database, config, name, sandbox ? 'SANDBOX' : 'PRODUCTION');
  }
  if (action !== 'limits' || sandbox) return undefined;
  const changes = {
    ...changeOf('platform', limits.platform),
    ...changeOf('apiToken', limits['api-token']),
    ...changeOf('clientToken', limits['client-token']),
  };
  return (database, config) => changeLimits(database, config, name, changes);
}

/** @throws Error for a text that is no rate */
function changeOf(limit: keyof Rates, text: string | undefined): RateChanges {
  if (text === undefined) return {};
  if (text === 'default') return { [limit]: null };
  const rate = parseRate(text);
  if (!rate) throw new Error(`${text} is no rate`);
  return { [limit]: rate };
}

async function create(
  database: Database,
  config: Config,
  name: string,
  environment: 'SANDBOX' | 'PRODUCTION',
): Promise<void> {
  const payments = await openPayments(database, config, pino({ level: 'silent' }));
  const { clientId, secret, platformId } = await createPlatform(payments, { name, environment });
  console.log(`Platform ${name} (${environment}), Platform:${platformId}

  clientId       ${clientId}
  secret         ${secret}
  Authorization  ${basicAuthorization({ clientId, secret })}

The secret is shown only here and is not stored.`);
}

async function changeLimits(database: Database, config: Config, name: string, changes: RateChanges): Promise<void> {
  const own = await changeRates(database, name, changes);
  const row = (rate: Rate | null, setting: Rate | null) =>
    rate ? formatRate(rate) : `${setting ? formatRate(setting) : 'off'} (as the settings say)`;
  console.log(`Platform ${name} may send, in requests a second and at once:

  in all             ${row(own.platform, config.RATE_LIMIT_PLATFORM)}
  each API token     ${row(own.apiToken, config.RATE_LIMIT_API_TOKEN)}
  each client token  ${row(own.clientToken, config.RATE_LIMIT_CLIENT_TOKEN)}`);
}

/** Returns the command of the command line. Prints why there is none. */
function readCommand(): Command | undefined {
  try {
    const command = commandOf(process.argv.slice(2));
    if (!command) console.error(usage);
    return command;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    return undefined;
  }
}

const command = readCommand();
if (!command) process.exitCode = 2;
else {
  await runOnDatabase(async (database, config) => {
    try {
      await command(database, config);
      return 0;
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      return 1;
    }
  });
}
