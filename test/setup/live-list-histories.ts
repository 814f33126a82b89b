import fc from 'fast-check';
import { act, setAccountStatus, transfer, usdToEur } from './acts.ts';
import type { TestGateway, TestPlatform } from './gateway.ts';
import { LiveList, type Wanted } from './live-list.ts';
import { makeScene, newCustomer, type Scene, usAccount } from './scene.ts';

/** Random histories of a platform, and lists that are followed through them. */

let numbers = 0;

/** A step: an act, and the existing object that it concerns. */
const step = fc.record({
  act: fc.constantFrom(
    ...([
      'pay',
      'pay',
      'quote',
      'execute',
      'fund',
      'customer',
      'rename',
      'delete',
      'account',
      'status',
      'cut',
    ] as const),
  ),
  at: fc.nat({ max: 20 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const waitMs = fc.constantFrom(0, 0, 20, 100);

/** Filters that each match objects of one history: the scene's own ids are filled in when it begins. */
const filters = {
  transactions: [
    () => ({}),
    () => ({ status: ['PENDING', 'PROCESSING'] }),
    () => ({ status: ['COMPLETED', 'FAILED'] }),
    () => ({ type: 'OUTGOING', createdAfter: '2020-01-01T00:00:00Z' }),
    ({ customerId }: Scene) => ({ customerId, status: ['PROCESSING'] }),
    () => ({ executed: true }),
    ({ usd }: Scene) => ({ executed: false, accountId: usd }),
    () => ({ currency: 'EUR', amount: { currency: 'USD', min: 101 } }),
    ({ usd }: Scene) => ({ senderAccountIdentifier: usd }),
    ({ outsideEur }: Scene) => ({ receiverAccountIdentifier: outsideEur, status: ['PENDING', 'COMPLETED'] }),
  ],
  quotes: [
    () => ({}),
    () => ({ status: ['PENDING'] }),
    () => ({ status: ['PROCESSING', 'COMPLETED'] }),
    ({ usd, customerId }: Scene) => ({ sendingAccountId: usd, customerId }),
  ],
  accounts: [
    () => ({}),
    () => ({ kind: 'EXTERNAL' }),
    () => ({ currency: 'EUR', platformOwned: false }),
    ({ customerId }: Scene) => ({ customerId, kind: 'INTERNAL' }),
  ],
  customers: [
    () => ({}),
    () => ({ isIncludingDeleted: true }),
    () => ({ customerType: 'INDIVIDUAL', updatedAfter: '2020-01-01T00:00:00Z' }),
    () => ({ updatedBefore: '2020-01-01T00:00:00Z' }),
  ],
} as const;

const wanted = fc.oneof(
  ...Object.entries(filters).map(([list, of]) =>
    fc.record({ list: fc.constant(list as Wanted['list']), filter: fc.constantFrom(...of), waitMs }),
  ),
);

export const history = fc.record({
  follow: fc.array(wanted, { minLength: 3, maxLength: 6 }),
  rounds: fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
});
export type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

/**
 * Plays a history on its own platform. After each of its rounds, each followed list must equal a new read of that list.
 */
export async function play(t: TestGateway, { follow, rounds }: History): Promise<void> {
  numbers += 1;
  const platform = await t.newPlatform(`lists ${numbers}`);
  const scene = await makeScene(platform);
  const world: World = { platform, scene, customers: [scene.customerId], quotes: [] };
  const lists = follow.map(
    ({ list, filter, waitMs: wait }) => new LiveList(platform, { list, filter: filter(scene), waitMs: wait }),
  );
  let running = lists.map((list) => list.follow());
  try {
    for (const steps of rounds) {
      for (const one of steps) {
        if (one.act === 'cut') {
          const at = one.at % lists.length;
          const list = lists[at];
          if (!list?.cursor) continue;
          list.cut();
          running = running.with(at, list.follow());
        } else await take(world, one);
      }
      await Promise.all(lists.map((list) => list.isTrue()));
    }
  } finally {
    for (const list of lists) list.cut();
    await Promise.all(running);
  }
}

interface World {
  readonly platform: TestPlatform;
  readonly scene: Scene;
  readonly customers: string[];
  readonly quotes: string[];
}

/** Takes a step. A refused one, such as the execution of an expired quote, changes nothing. */
async function take({ platform, scene, customers, quotes }: World, { act: what, at }: Step): Promise<void> {
  const customerId = customers[at % customers.length] ?? '';
  numbers += 1;
  switch (what) {
    case 'pay':
      await transfer(platform, 'transferOut', scene, 100);
      return;
    case 'quote': {
      const made = await act(platform, 'createQuote', usdToEur(scene), 'quote { id }');
      if (made.quote) quotes.push(made.quote.id);
      return;
    }
    case 'execute':
      await act(platform, 'executeQuote', { quoteId: quotes[at % Math.max(1, quotes.length)] ?? 'Quote:none' });
      return;
    case 'fund':
      await act(platform, 'sandboxFundAccount', { accountId: scene.usd, amount: 100 });
      return;
    case 'customer':
      // Some checks take long, some end in a refusal.
      customers.push(await newCustomer(platform, `Grace Hopper 00${at % 3}`));
      return;
    case 'rename':
      await act(platform, 'updateCustomer', { customerId, details: { individual: { fullName: `Name ${numbers}` } } });
      return;
    case 'delete':
      // Never the customer with the accounts that pay.
      if (customerId !== scene.customerId) await act(platform, 'deleteCustomer', { customerId });
      return;
    case 'account':
      await act(platform, 'createExternalAccount', {
        customerId,
        currency: 'USD',
        accountInfo: usAccount(`${7_000_000 + numbers}000`),
        beneficiary: { individual: { fullName: 'Grace Hopper' } },
        defaultUmaDepositAccount: at % 2 === 0,
      });
      return;
    case 'status':
      await setAccountStatus(platform, scene.outsideUsd, { status: at % 2 === 0 ? 'UNDER_REVIEW' : 'ACTIVE' });
  }
}
