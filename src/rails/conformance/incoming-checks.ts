import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Rail } from '../rail.ts';
import type { RailDeposit, RailWebhook } from '../rail-parts.ts';
import { Breach, type Check, NotTried, retryMs, type Tried, withFault } from './driver.ts';

const webhookChecks: readonly Check[] = [
  { kind: 'WEBHOOK', name: 'accepts webhooks that its provider has signed, under the same id each time', run: accepts },
  { kind: 'WEBHOOK', name: 'refuses webhooks that its provider has not signed', run: refusesForgeries },
];
const depositChecks: readonly Check[] = [
  { kind: 'DEPOSIT', name: 'lists a deposit once, starting at its own time', run: lists },
  { kind: 'DEPOSIT', name: 'takes a deposit once, even if the answer is lost', run: takesOnce },
];

/** Returns the webhook and deposit checks that apply to this rail's methods. */
export function incomingChecks(rail: Rail): readonly Check[] {
  return [...(rail.receiveWebhook ? webhookChecks : []), ...(rail.deposits ? depositChecks : [])];
}

async function accepts(rail: Rail, tried: Tried): Promise<void> {
  const orderId = randomUUID();
  const webhook = await webhookOf(tried, orderId);
  const [first, again] = [await rail.receiveWebhook?.(webhook), await rail.receiveWebhook?.(webhook)];
  if (!first || !again) throw new Breach('it refused a webhook that the provider has signed');
  if (first.id !== again.id) throw new Breach(`the same webhook had the id ${first.id}, and then ${again.id}`);
  const other = await rail.receiveWebhook?.(await webhookOf(tried, orderId));
  if (other?.id === first.id) throw new Breach(`two webhooks have the id ${first.id}`);
  // A different process may handle the webhook, possibly for the second time.
  for (const reader of [rail, await tried.open()]) {
    const news = (await reader.readWebhook?.(webhook.body)) ?? [];
    if (!news.some((one) => one.kind === 'order' && one.orderId === orderId))
      throw new Breach(`it read ${JSON.stringify(news)} in a webhook about the order ${orderId}`);
  }
}

async function refusesForgeries(rail: Rail, tried: Tried): Promise<void> {
  const webhook = await webhookOf(tried, randomUUID());
  const body = Buffer.concat([webhook.body, Buffer.from(' ')]);
  const forgeries: readonly (readonly [string, RailWebhook])[] = [
    ['without header fields', { ...webhook, headers: {} }],
    ['with another body', { ...webhook, body }],
    ['of another order, with its header fields', { ...webhook, body: (await webhookOf(tried, randomUUID())).body }],
  ];
  for (const [words, forgery] of forgeries) {
    if (await rail.receiveWebhook?.(forgery)) throw new Breach(`it accepted a webhook ${words}`);
  }
}

async function lists(rail: Rail, tried: Tried): Promise<void> {
  const deposit = await depositOf(tried, rail);
  const again = await listed(rail, deposit.at);
  const same = again.filter(({ reference }) => reference === deposit.reference);
  if (same.length !== 1) throw new Breach(`a deposit is listed ${same.length} times starting at its own time`);
  const later = await listed(rail, new Date(deposit.at.getTime() + 86_400_000));
  if (later.some(({ reference }) => reference === deposit.reference))
    throw new Breach('a deposit is listed among the deposits that began a day later');
}

async function takesOnce(rail: Rail, tried: Tried): Promise<void> {
  const { incoming } = tried.trial;
  if (!incoming?.taken) throw new NotTried('the trial does not report how much of a deposit was taken');
  const { reference, amount, currency, heldAt } = await depositOf(tried, rail);
  const request = { id: randomUUID(), reference, amount, currency, heldAt };
  const take = async (of: Rail) => of.takeDeposit?.(request);
  const lose = () => take(rail).catch(() => undefined);
  await withFault(tried, 'loses-answers', lose, lose);
  // Another process takes over. It calls twice, as if the answer to its first call had also been lost.
  const successor = await tried.open();
  for (const one of [successor, successor]) {
    const taken = await take(one);
    if (taken?.kind !== 'taken') throw new Breach(`it did not take a deposit: ${JSON.stringify(taken)}`);
  }
  const moved = await incoming.taken(reference);
  if (moved !== amount) throw new Breach(`the provider made ${moved} available instead of ${amount}`);
}

async function webhookOf({ trial: { incoming } }: Tried, orderId: string): Promise<RailWebhook> {
  if (!incoming?.webhook) throw new NotTried('the trial has no webhooks');
  return incoming.webhook(orderId);
}

async function depositOf({ trial: { incoming }, times }: Tried, rail: Rail): Promise<RailDeposit> {
  if (!incoming?.deposit) throw new NotTried('the trial has no deposits');
  const from = new Date(Date.now() - 3_600_000);
  const before = new Set((await listed(rail, from)).map(({ reference }) => reference));
  const { amount, currency, customerId } = await incoming.deposit();
  const deadline = performance.now() + times.outcomeMs;
  while (performance.now() < deadline) {
    const found = (await listed(rail, from)).find(
      ({ reference, state }) => state === 'SETTLED' && !before.has(reference),
    );
    if (!found) {
      await sleep(retryMs);
      continue;
    }
    if (found.amount === amount && found.currency === currency && found.customerId === customerId) return found;
    throw new Breach(`${amount} ${currency} came in for ${customerId}, but the rail listed a different deposit`);
  }
  throw new Breach(`a deposit is not listed after ${times.outcomeMs} ms`);
}

async function listed(rail: Rail, from: Date): Promise<readonly RailDeposit[]> {
  const all: RailDeposit[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await rail.deposits?.({ from, cursor });
    all.push(...(page?.deposits ?? []));
    cursor = page?.nextCursor;
    if (cursor === undefined) return all;
  }
}
