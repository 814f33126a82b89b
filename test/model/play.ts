import fc from 'fast-check';
import { expect } from 'vitest';
import type { Operation } from '../../src/domain/access/operations.ts';
import type { Data } from '../setup/gateway.ts';
import type { Model } from './model.ts';
import type { Pair, World } from './world.ts';

/** The platform and the customers that a sequence of commands uses. */
export interface Real {
  readonly world: World;
  readonly pair: Pair;
}

type Command = fc.AsyncCommand<Model, Real>;

let calls = 0;

/**
 * Builds a command that runs against the service and changes the model in the same way. After each run, the balances
 * must match the model's, and the ledger must balance.
 */
export function command(
  name: string,
  run: (model: Model, real: Real) => Promise<void>,
  possible: (model: Model) => boolean = () => true,
): Command {
  return {
    check: possible,
    toString: () => name,
    async run(model, real) {
      await run(model, real);
      expect(await real.world.conserved(real.pair), `after ${name}`).toEqual(model.balances);
    },
  };
}

/** Builds a command that acts on one of the items that `items` finds in the model. It runs only if there are any. */
export function commandOn<Item>(
  name: string,
  items: (model: Model) => readonly Item[],
  at: number,
  run: (item: Item, model: Model, real: Real) => Promise<void>,
): Command {
  const runOnOne = (model: Model, real: Real) => run(pick(items(model), at), model, real);
  return command(`${name} #${at}`, runOnOne, (model) => items(model).length > 0);
}

/** Sends a mutation with a new idempotency key, and expects it to succeed or, if `code` is given, to be refused. */
export async function send(model: Model, real: Real, name: Operation, input: object, code?: string): Promise<Data> {
  calls += 1;
  const keyed = { ...input, idempotencyKey: `${real.pair.a.customerId}-${calls}` };
  const isAboutAccount = /(Account|Status)$/.test(name);
  const selection = isAboutAccount ? '' : name.endsWith('Quote') ? quoteSelection : 'transaction { id }';
  const result = await real.world.platform.act(name, keyed, selection);
  model.last = { name, input: keyed, code };
  expect(result.code, `${name}: ${result.message}`).toBe(code);
  return result;
}

const quoteSelection = 'quote { id totalSendingAmount { amount } totalReceivingAmount { amount } transaction { id } }';

export const position = fc.nat({ max: 7 });

export function pick<T>(items: readonly T[], at: number): T {
  const item = items[at % items.length];
  if (item === undefined) throw new Error('there is nothing to pick from');
  return item;
}
