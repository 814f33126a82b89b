import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { migrate } from '../database/migrations/migrate.ts';
import { ownerUrl, preparePooledLogin } from '../start/prepare-database.ts';
import type { Answer } from './answer.ts';
import { withSettings } from './command-line.ts';

/** Adds the command that applies migrations, with the login of the tables' owner. No other command does. */
export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('apply the migrations, as the owner of the tables: DATABASE_OWNER_URL, or else DATABASE_URL')
    .action(withSettings(apply, asOwner));
}

/** Lets the owner's address be the only one: whoever migrates need not have the other. */
function asOwner(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { DATABASE_URL, DATABASE_URL_FILE, DATABASE_OWNER_URL, DATABASE_OWNER_URL_FILE } = environment;
  if (DATABASE_URL || DATABASE_URL_FILE) return environment;
  return { ...environment, DATABASE_URL: DATABASE_OWNER_URL, DATABASE_URL_FILE: DATABASE_OWNER_URL_FILE };
}

async function apply(config: Config): Promise<Answer> {
  const { applied } = await migrate(ownerUrl(config), { log: (line) => console.error(line) });
  const pooled = await preparePooledLogin(config);
  return {
    data: { applied, pooled },
    lines: [
      applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database has all migrations.',
      ...(pooled ? ['The login of DATABASE_URL has the settings that it needs behind a connection pooler.'] : []),
    ],
  };
}
