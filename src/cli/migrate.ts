import { readConfig } from '../config.ts';
import { migrate } from '../database/migrations/migrate.ts';
import { printError } from '../print-error.ts';
import { ownerUrl } from '../start/prepare-database.ts';

// `npm run migrate` applies the migrations with the login of the tables' owner: DATABASE_OWNER_URL, or else DATABASE_URL.
try {
  const { applied } = await migrate(ownerUrl(readConfig(process.env)));
  console.log(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database has all migrations.');
} catch (error) {
  printError(error);
  process.exitCode = 1;
}
