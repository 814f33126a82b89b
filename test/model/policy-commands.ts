import fc from 'fast-check';
import type { Model } from './model.ts';
import { always, command, ends, pick, position, send } from './play.ts';
import { deletePolicy, expectUsage, passHours, type Real, reserve, setPolicy, subjects, terms } from './policies.ts';

type Verdict = 'approve' | 'reject' | 'neither';

/** Decides on a payment that waits for a second person. */
export async function decideHeld(
  model: Model,
  real: Real,
  at: number,
  verdict: Verdict | 'approve oneself',
): Promise<void> {
  const { world } = real;
  const held = pick(model.held, at);
  const input = { transactionId: held.id };
  if (verdict === 'approve oneself') return void (await send(model, real, 'approveTransaction', input, 'FORBIDDEN'));
  const code = verdict === 'approve' ? held.obstacle(!held.isReserved) : undefined;
  const quote = model.quotes.find(({ transactionId, isHeld }) => isHeld && transactionId === held.id);
  if (verdict !== 'neither') await send(model, real, `${verdict}Transaction`, input, code, world.boss);
  else if (quote) await world.passExpiry(quote.id);
  else await world.passApproval(held.id);
  if (code !== undefined) return;
  model.held.splice(model.held.indexOf(held), 1);
  reserve(model.balances, held, 1n);
  if (verdict === 'approve') return held.go();
  const status = verdict === 'reject' ? 'REJECTED' : 'EXPIRED';
  await ends(model, real, held.id, status);
  held.end(status);
}

const decisionOnHeld = fc
  .tuple(
    position,
    fc.constantFrom<Parameters<typeof decideHeld>[3]>(
      'approve',
      'approve',
      'approve',
      'reject',
      'neither',
      'approve oneself',
    ),
  )
  .map(([at, verdict]) =>
    command(
      `${verdict} what a policy holds #${at}`,
      (model) => model.held.length > 0,
      (model, real) => decideHeld(model, real, at, verdict),
    ),
  );

const limitPayments = fc
  .tuple(fc.constantFrom(...subjects), terms)
  .map(([subject, given]) =>
    command(`the policy of the ${subject} becomes ${fc.stringify(given)}`, always, (model, real) =>
      setPolicy(model.policies, real, subject, given),
    ),
  );

const unlimitPayments = fc.constantFrom(...subjects).map((subject) =>
  command(
    `the ${subject} has no policy any more`,
    ({ policies }) => policies.has(subject),
    (model, real) => deletePolicy(model.policies, real, subject),
  ),
);

const hoursPass = fc.constant(
  command(
    'hours pass',
    ({ policies }) => policies.size > 0,
    (model, real) => passHours(model.policies, real),
  ),
);

const usage = fc.constant(
  command(
    'look at what is used',
    ({ policies }) => policies.size > 0,
    (model, real) => expectUsage(model.policies, real),
  ),
);

/** The commands about policies, and what they hold. */
export const policyCommands = [
  ...Array<typeof limitPayments>(8).fill(limitPayments),
  ...Array<typeof decisionOnHeld>(4).fill(decisionOnHeld),
  unlimitPayments,
  hoursPass,
  usage,
];
