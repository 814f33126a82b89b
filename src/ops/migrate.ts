import type { Answer } from '../apps/terminal/answer.ts';
import type { Program, Screen } from '../apps/terminal/program.ts';
import { migrate } from '../infra/database/migrations/migrate.ts';
import { ownerUrl, preparePooledLogin } from '../server/start/prepare-database.ts';
import { reachDatabase } from '../server/start/reach-database.ts';
import { type Settings, withSettings } from './tools.ts';

export function addMigrate(program: Program): void {
  program
    .command('migrate')
    .description('apply the migrations, with the login of DATABASE_OWNER_URL, or else DATABASE_URL')
    .action(withSettings(apply, asOwner));
}

/** Uses the owner's address as DATABASE_URL if that is unset: migrations need no other login. */
function asOwner(environment: Screen['environment']): Screen['environment'] {
  const { DATABASE_URL, DATABASE_URL_FILE, DATABASE_OWNER_URL, DATABASE_OWNER_URL_FILE } = environment;
  if (DATABASE_URL || DATABASE_URL_FILE) return environment;
  return { ...environment, DATABASE_URL: DATABASE_OWNER_URL, DATABASE_URL_FILE: DATABASE_OWNER_URL_FILE };
}

async function apply({ config, screen }: Settings): Promise<Answer> {
  await reachDatabase(config, config.DATABASE_DIRECT_URL ? ['owner', 'direct', 'pooled'] : ['owner']);
  const { applied } = await migrate(ownerUrl(config), { log: screen.err, signal: screen.untilStopped() });
  const pooled = await preparePooledLogin(config);
  return {
    data: { applied, pooled },
    lines: [
      applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database has all migrations.',
      ...(pooled
        ? ['The login of DATABASE_URL now has the session settings that it needs behind a connection pooler.']
        : []),
    ],
  };
}
