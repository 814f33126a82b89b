import { expect, vi } from 'vitest';
import { moving } from '../../setup/acts.ts';
import { openEventStream, openRawSocket, quiet } from '../../setup/streams.ts';
import type { Figures } from './cells.ts';
import { type MatrixWorld, secretsOf } from './world.ts';

/**
 * The streams that any caller can open, because they need not name an object. They must reveal nothing about the
 * victim's objects. A stream that names someone else's object is refused (graphql-matrix.ts).
 */
const streams = {
  events: '{ events { id type cursor } }',
  transactionUpdates: '{ transactionUpdates { cursor transaction { id } } }',
  accountUpdates: '{ accountUpdates { cursor account { id } } }',
  customerUpdates: '{ customerUpdates { cursor customer { id } } }',
  transactionChanges: '{ transactionChanges(snapshot: false) { cursor changes { op node { id } } } }',
  accountChanges: '{ accountChanges(snapshot: false) { cursor changes { op node { id } } } }',
};

/**
 * Opens every stranger's streams and causes events for the victim. Once the victim's own stream has received them all,
 * checks what the strangers have received.
 */
export async function tryStreams(world: MatrixWorld, figures: Figures): Promise<void> {
  const { t, counting, victim, strangers } = world;
  const secrets = secretsOf(victim);
  const heard: { readonly who: string; readonly what: string; readonly text: string }[] = [];
  const closing: (() => void)[] = [];
  const before = counting.subscriptions();
  let opened = 0;
  for (const { name: who, platform } of strangers) {
    const raw = await openRawSocket(counting.url, platform.authorization);
    closing.push(() => raw.socket.close());
    raw.socket.on('message', (data) => {
      const { id, type, payload } = JSON.parse(String(data));
      if (type === 'next' || type === 'error') heard.push({ who, what: id, text: JSON.stringify(payload) });
    });
    for (const [what, selection] of Object.entries(streams)) {
      const payload = { query: `subscription ${selection}` };
      raw.send({ id: what, type: 'subscribe', payload });
      const stream = await openEventStream(`${counting.url}/graphql/stream`, platform.authorization, payload);
      closing.push(() => stream.cut());
      readAll(stream.events, (text) => heard.push({ who, what, text }));
      opened += 2;
    }
  }
  await vi.waitFor(() => expect(counting.subscriptions()).toBe(before + opened), 20_000);
  // The victim's stream is on the same instance, so anything that has reached it could also have reached the others.
  const mark = world.owner.watch(
    'subscription ($id: ID!) { accountUpdates(of: { accountId: $id }) { newBalance { amount } } }',
    { id: victim.InternalAccount },
  );
  await mark.next();
  await t.platform.act('transferOut', moving(victim.InternalAccount, victim.ExternalAccount, 7));
  await t.platform.fund(victim.InternalAccount, 1n);
  await mark.next();
  await mark.next();
  await mark.return?.();
  // Causes an event for one of the strangers. Its arrival proves that the stranger's stream was open.
  await (world.strangers[0]?.platform ?? t.platform).fund(world.strangers[0]?.own.InternalAccount ?? '', 1n);
  const own = expect.objectContaining({ who: 'another platform', what: 'events' });
  await vi.waitFor(() => expect(heard).toContainEqual(own), 20_000);
  for (const close of closing) close();
  figures.tried += opened;
  for (const { who, what, text } of heard) {
    const told = secrets.filter((secret) => text.includes(secret));
    if (told.length > 0 || (who !== 'another platform' && /"next"/.test(text)))
      figures.lost.push(`${who} receives on ${what}: ${text.slice(0, 300)}`);
  }
}

async function readAll(events: AsyncIterable<unknown>, hear: (text: string) => void): Promise<void> {
  try {
    for await (const event of events) hear(JSON.stringify(event));
  } catch {
    // At the end, the test closes the connection.
  }
}

export async function tryWebhooks({ t, receivers, victim }: MatrixWorld, figures: Figures): Promise<void> {
  await quiet(t);
  const [own, others] = receivers;
  const secrets = secretsOf(victim).filter((secret) => /^[0-9a-f-]{36}$/.test(secret));
  // Other callers use the same names for their own objects, so only ids are unique to the victim.
  const tells = (raw: string) => secrets.some((secret) => raw.includes(secret));
  // Unless the victim's own webhook has received something, the silence of the other webhooks proves nothing.
  if (!own.received.some(({ raw }) => tells(raw))) figures.lost.push("the victim's platform received no webhook");
  for (const { raw } of others.received) {
    figures.tried += 1;
    if (tells(raw)) figures.lost.push(`another platform's webhook got ${raw.slice(0, 300)}`);
  }
}
