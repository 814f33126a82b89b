import { pino } from 'pino';
import { openPayments } from '../gateway.ts';
import { basicAuthorization } from '../graphql/server/graphiql.ts';
import { createPlatform } from '../payments/platforms/platforms.ts';
import { runOnDatabase } from './command-line.ts';

const usage = `Usage: npm run platform -- create NAME [--sandbox]

Makes a platform and prints its first API token, once. With --sandbox its payments are simulated.`;

// `npm run platform -- create NAME [--sandbox]` makes the first credential on any database.
const [action, ...rest] = process.argv.slice(2);
const names = rest.filter((argument) => !argument.startsWith('--'));
const flags = rest.filter((argument) => argument.startsWith('--'));
const [name] = names;

if (action !== 'create' || name === undefined || names.length > 1 || flags.some((flag) => flag !== '--sandbox')) {
  console.error(usage);
  process.exitCode = 2;
} else {
  await runOnDatabase(async (database, config) => {
    const payments = openPayments(database, config, pino({ level: 'silent' }));
    const environment = flags.includes('--sandbox') ? 'SANDBOX' : 'PRODUCTION';
    try {
      const { clientId, secret, platformId } = await createPlatform(payments, { name, environment });
      console.log(`Platform ${name} (${environment}), Platform:${platformId}

  clientId       ${clientId}
  secret         ${secret}
  Authorization  ${basicAuthorization({ clientId, secret })}

The secret is shown only here and is not stored.`);
      return 0;
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      return 1;
    }
  });
}
