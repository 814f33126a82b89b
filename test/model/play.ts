import fc from 'fast-check';
import { expect } from 'vitest';
import type { Operation } from '../../src/domain/access/operations.ts';
import { act } from '../setup/acts.ts';
import type { Data, TestPlatform } from '../setup/gateway.ts';
import type { Model } from './model.ts';
import {
  count,
  type Held,
  type Payment,
  paidKey,
  type Real,
  release,
  reserve,
  subjects,
  verdictOf,
} from './policies.ts';

/** How a command runs against the service, and what that means to the model. */

type Command = fc.AsyncCommand<Model, Real>;

let calls = 0;

/** A command whose run is followed by the comparison of all balances and the proof that no money was made or lost. */
export function command(
  name: string,
  possible: (model: Model) => boolean,
  run: (model: Model, real: Real) => Promise<void>,
): Command {
  return {
    check: possible,
    toString: () => name,
    async run(model, real) {
      await run(model, real);
      await expectBalances(model, real, `after ${name}`);
    },
  };
}

async function expectBalances({ balances }: Model, { world, pair }: Real, when: string): Promise<void> {
  expect(await world.conserved(pair), when).toEqual(balances);
}

/** Sends a mutation under a key of its own, and expects its success or the refusal with `code`. */
export async function send(
  model: Model,
  real: Real,
  name: Operation,
  input: object,
  code?: string,
  by: TestPlatform = real.world.platform,
): Promise<Data> {
  calls += 1;
  const keyed = { ...input, idempotencyKey: `${real.pair.a.customerId}-${calls}` };
  const selection =
    name.endsWith('Account') || name.endsWith('Status')
      ? ''
      : name.endsWith('Quote')
        ? quoteSelection
        : 'transaction { id }';
  const result = await act(by, name, keyed, selection);
  // What policies refuse, and a decision of the one who asked, is not stored: a repeat may come to something else.
  model.last = code === 'LIMIT_EXCEEDED' || code === 'FORBIDDEN' ? undefined : { by, name, input: keyed, code };
  expect(result.code, `${name}: ${result.message}`).toBe(code);
  return result;
}

const quoteSelection = 'quote { id totalSendingAmount { amount } totalReceivingAmount { amount } transaction { id } }';

export const always = () => true;
export const position = fc.nat({ max: 7 });

export function pick<T>(items: readonly T[], at: number): T {
  const item = items[at % items.length];
  if (item === undefined) throw new Error('there is nothing to pick from');
  return item;
}

/** A command that begins a payment. */
interface Begun extends Pick<Held, 'obstacle'> {
  readonly payment: Payment;
  readonly idOf?: (result: Data) => string;
  /** What it comes to once nothing holds it. */
  readonly go: (id: string, result: Data) => Promise<void> | void;
  /** What it comes to while it waits for an approval. */
  readonly wait?: (id: string, result: Data) => void;
  readonly end?: (status: 'REJECTED' | 'EXPIRED') => void;
}

/** Sends a command that begins a payment: it goes, waits for an approval, or is refused. */
export async function begin(model: Model, real: Real, name: Operation, input: object, begun: Begun): Promise<void> {
  const { payment, obstacle, go, wait, end = () => undefined } = begun;
  const verdict = verdictOf(model.policies, real.pair.paid, payment);
  const isReserved = verdict === 'waits reserved' && payment.source !== undefined;
  // A payment that waits is checked as if it began at once.
  const code = obstacle(true) ?? (verdict === 'is refused' ? 'LIMIT_EXCEEDED' : undefined);
  const result = await send(model, real, name, input, code);
  if (code !== undefined) return;
  const id = (begun.idOf ?? (({ transaction }: Data) => transaction.id))(result);
  model.payments.set(id, payment);
  count(model.policies, id, payment);
  if (verdict === 'goes') return go(id, result);
  await real.world.until(`${id} to wait`, (change) => change.id === id && change.status === 'CREATED');
  wait?.(id, result);
  const held = { id, payment, isReserved, obstacle, end, go: async () => go(id, result) };
  reserve(model.balances, held, -1n);
  model.held.push(held);
}

/** Waits for the end of a payment, after which policies may no longer count it, and its receiver is known. */
export async function ends(model: Model, { world, pair }: Real, id: string, status: string): Promise<void> {
  await world.ends(id, status);
  release(model.policies, id, status);
  const payment = model.payments.get(id);
  if (payment && status === 'COMPLETED') for (const subject of subjects) pair.paid.add(paidKey(subject, payment));
}
