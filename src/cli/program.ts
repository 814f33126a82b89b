import { Command, CommanderError } from 'commander';
import { addActs } from './acts.ts';
import { addAdjustments } from './adjustments.ts';
import { addAudit } from './audit.ts';
import { addCases } from './cases.ts';
import { answered } from './command-line.ts';
import { addConfig } from './config.ts';
import { addDeposits } from './deposits.ts';
import { addDoctor } from './doctor.ts';
import { addFreezing } from './freezing.ts';
import { addKeys } from './keys.ts';
import { addMigrate } from './migrate.ts';
import { addOrders } from './orders.ts';
import { addPlatforms } from './platforms.ts';
import { addRails } from './rails.ts';
import { addReconcile } from './reconcile.ts';
import { addRestored } from './restored.ts';
import { addStatement } from './statement.ts';
import { addSuspense } from './suspense.ts';
import { addTokens } from './tokens.ts';
import { addWebhooks } from './webhooks.ts';

/** Adds each command to the command line, in the order of its help. */
const commands = [
  ...[addDoctor, addConfig, addMigrate, addRestored, addKeys, addAudit, addActs],
  ...[
    addPlatforms,
    addTokens,
    addFreezing,
    addOrders,
    addWebhooks,
    addSuspense,
    addAdjustments,
    addCases,
    addDeposits,
    addRails,
    addReconcile,
    addStatement,
  ],
];

/** The exit code for arguments that are wrong. */
const usageCode = 2;

/**
 * Runs a command line of operators, and prints its answer.
 * @returns the exit code: 0 when all is well, 1 when something is wrong or was refused, 2 for wrong arguments
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const program = new Command('npm run ops --')
    .description('Runs and repairs the service. The settings are those of the service (see the README).')
    .option('--json', 'print the answer as JSON')
    .showHelpAfterError()
    .exitOverride();
  for (const add of commands) add(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.code === answered || error.exitCode === 0 ? error.exitCode : usageCode;
  }
}
