import { InvalidArgumentError } from 'commander';
import type { SandboxScenarioInput } from '../client/generated/operations.ts';
import { acts } from './acts.ts';
import { Failure, listed } from './answer.ts';
import { schemaName, type Work } from './command.ts';
import { followPayment } from './follow-payment.ts';

/** The options of `trigger`: the fields of a scenario, and its own. */
export interface TriggerOptions extends SandboxScenarioInput {
  readonly amount: string;
  readonly endpoint?: string;
  readonly follow?: true;
}

/** The names of a scenario's fields, which are options of the command. */
const scenarioFields = [
  'step',
  'delayMs',
  'failureReason',
  'reject',
  'approval',
  'deposit',
  'refundFails',
  'returnAfterMs',
] as const satisfies readonly (keyof SandboxScenarioInput)[];

/** Triggers something in the sandbox, so that its events come; without a name it lists what can be triggered. */
export const trigger: Work<[string | undefined, TriggerOptions]> = async (job, name, options) => {
  const { service, screen, json } = job;
  if (name === undefined)
    return listed(
      Object.entries(acts).map(([one, { about }]) => ({ name: one, about })),
      '',
    );
  const act = acts[schemaName(name)];
  if (!act)
    throw new InvalidArgumentError(`${name} cannot be triggered. Choose one of ${Object.keys(acts).join(', ')}.`);
  const given = scenarioFields.filter((field) => options[field] !== undefined);
  if (!act.isPayment && (given.length > 0 || options.follow))
    throw new InvalidArgumentError(`${name} makes no payment: scenarios and --follow apply only to payments.`);
  if ((await service.whoami()).environment !== 'SANDBOX')
    throw new Failure('This token belongs to a PRODUCTION platform. Events can be triggered in a sandbox only.');
  const { amount, endpoint, follow } = options;
  const scenario = given.length > 0 ? Object.fromEntries(given.map((field) => [field, options[field]])) : null;
  const made = await act.run({ service, amount, scenario, endpoint });
  screen.out(
    json
      ? JSON.stringify({ triggered: schemaName(name), ...made })
      : [schemaName(name), made.id, made.status].filter(Boolean).join('  '),
  );
  return follow ? followPayment(job, made.id, 'TERMINAL') : {};
};
