import type { Program } from '../apps/terminal/program.ts';
import { addActs } from './acts.ts';
import { addAdjustments } from './adjustments.ts';
import { addAudit } from './audit.ts';
import { addBlocked } from './blocked.ts';
import { addCases } from './cases.ts';
import { addConfig } from './config.ts';
import { addDeposits } from './deposits.ts';
import { addDoctor } from './doctor.ts';
import { addFreezing } from './freezing.ts';
import { addKeys } from './keys.ts';
import { addMigrate } from './migrate.ts';
import { addOrders } from './orders.ts';
import { addPlatforms } from './platforms.ts';
import { addPolicies } from './policies.ts';
import { addRails } from './rails.ts';
import { addReconcile } from './reconcile.ts';
import { addRestored } from './restored.ts';
import { addSchema } from './schema.ts';
import { addStatement } from './statement.ts';
import { addSuspense } from './suspense.ts';
import { addTokens } from './tokens.ts';
import { addWebhooks } from './webhooks.ts';

const commands = [
  ...[addDoctor, addConfig, addMigrate, addRestored, addKeys, addAudit, addActs, addBlocked],
  ...[addPlatforms, addTokens, addPolicies, addFreezing, addOrders, addWebhooks, addSuspense],
  ...[addAdjustments, addCases, addDeposits, addRails, addReconcile, addStatement, addSchema],
];

export function addOperators(group: Program): void {
  for (const add of commands) add(group);
}
