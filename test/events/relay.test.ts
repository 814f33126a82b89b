import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats, headers, type NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { natsServersOf } from '../../src/events/relay/nats-address.ts';
import { NatsRelay } from '../../src/events/relay/nats-relay.ts';
import { passedOnSubject, publishedSubject } from '../../src/events/relay/stream.ts';
import { stepLock } from '../../src/events/sequencer.ts';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { type NatsServer, natsServerVersion, startNatsServer } from '../setup/nats-server.ts';

// Two instances with a relay between them (NATS_URL): one numbers and publishes, the other has subscribers.

const version = natsServerVersion();
if (version === undefined) console.log('skipped: no nats-server is installed, and NATS_SERVER_PATH names none');

const insert = `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
  values ($1, $2, 'TEST', now(), 1, '{}')`;

/** An event in a message of the relay. */
interface Relayed {
  readonly id: string;
  readonly sequence: string;
  readonly epoch: number | null;
}

describe.runIf(version !== undefined)('a relay', () => {
  let nats: NatsServer;
  let client: NatsConnection;
  let publishing: TestGateway;
  let following: TestGateway;
  let platformId: string;
  /** The last message of the relay. */
  let latest: { readonly server: string; readonly events: readonly Relayed[] };
  let stream: AsyncIterableIterator<{ id: string; sequence: bigint }>;
  beforeAll(async () => {
    nats = await startNatsServer();
    const settings = { NATS_URL: natsServersOf(nats.url) };
    publishing = await startTestGateway({ ...settings, METRICS_PORT: 0 });
    following = await startTestGateway({ ...settings, ROLE: 'serve', METRICS_PORT: 0 }, publishing.databaseUrl);
    platformId = publishing.platform.platformId;
    await listen();
    await vi.waitFor(() => expect(figures().isUp).toBe(true), { timeout: 10_000 });
    stream = await following.gateway.feed.subscribe(platformId, await head(), { wants: () => true });
  });
  afterAll(async () => {
    await stream?.return?.();
    await client?.close();
    await following?.stop();
    await publishing?.stop();
    await nats?.stop();
  });

  const figures = () => following.gateway.feed.relayFigures ?? expect.fail('there is no relay');
  async function head(): Promise<bigint> {
    const { rows } = await publishing.owner.query('select sequence from feed_head where platform_id = $1', [
      platformId,
    ]);
    return BigInt(rows[0]?.sequence ?? 0);
  }

  /** Connects as an instance, and listens to what instances get. */
  async function listen(): Promise<void> {
    client = await connectNats({ servers: nats.url });
    client.subscribe(passedOnSubject(platformId), {
      callback(_error, message) {
        latest = { server: message.headers?.get('Payments-Server') ?? '', events: message.json() };
      },
    });
    await client.flush();
  }

  /** Writes a change, and returns the id of its event. */
  async function write(): Promise<string> {
    const id = crypto.randomUUID();
    await publishing.owner.query(insert, [platformId, id]);
    return id;
  }
  /**
   * Writes two changes at once, of which the first has its number from an instance that publishes nothing: the relay brings the second
   * one alone.
   */
  async function writeWithGap(): Promise<string[]> {
    const ids = [crypto.randomUUID(), crypto.randomUUID()];
    const session = await publishing.owner.connect();
    await session.query('begin');
    await session.query(`select pg_advisory_xact_lock(${stepLock})`);
    await session.query(insert, [platformId, ids[0]]);
    await session.query('select sequence_outbox(2000)');
    await session.query(insert, [platformId, ids[1]]);
    await session.query('commit');
    session.release();
    return ids;
  }

  const nextId = async () => (await stream.next()).value?.id;
  /** Writes changes, each of which must come next, until one has come over the relay. */
  async function untilRelayed(): Promise<void> {
    const before = figures().relayed;
    await vi.waitFor(
      async () => {
        const id = await write();
        expect(await nextId()).toBe(id);
        expect(figures().relayed).toBeGreaterThan(before);
        await vi.waitFor(() => expect(latest?.events.at(-1)?.id).toBe(id));
      },
      { timeout: 30_000 },
    );
  }

  /** Sends what an instance could send. */
  async function send(events: readonly Relayed[], server: string): Promise<void> {
    const header = headers();
    header.set('Payments-Server', server);
    await jetstream(client).publish(publishedSubject(platformId), JSON.stringify(events), { headers: header });
  }
  /** Makes an event that never happened, like one that did. */
  const forge = async (changes: Partial<Relayed>): Promise<Relayed> => {
    const like = latest.events.at(-1) ?? expect.fail('nothing was relayed');
    return { ...like, id: crypto.randomUUID(), sequence: String((await head()) + 1n), ...changes };
  };

  test('brings what one instance has read to the subscribers of another', async () => {
    await untilRelayed();
    const scrape = async ({ gateway }: TestGateway) => (await fetch(`${gateway.metricsUrl}/metrics`)).text();
    expect(await scrape(following)).toMatch(/^payments_relay_up 1$/m);
    expect(await scrape(following)).toMatch(/^payments_relay_events_total\{direction="received"\} [1-9]/m);
    expect(await scrape(publishing)).toMatch(/^payments_relay_events_total\{direction="published"\} [1-9]/m);
  });

  test('doubles nothing: an event that it brings again is not passed on again', async () => {
    await untilRelayed();
    const { events, server } = latest;
    await send(events, server);
    await send(events, server);
    const ids = [await write(), await write()];
    expect([await nextId(), await nextId()]).toEqual(ids);
  });

  test('loses nothing: what it has not brought is read from the database, before what it has', async () => {
    await untilRelayed();
    const ids = [...(await writeWithGap()), await write(), ...(await writeWithGap())];
    const seen: (string | undefined)[] = [];
    while (seen.length < ids.length) seen.push(await nextId());
    expect(seen).toEqual(ids);
  });

  test('undoes no restore: an event of another epoch or of another server is not passed on', async () => {
    await untilRelayed();
    const { server } = latest;
    const ofNow = await forge({});
    await send([ofNow], 'another server');
    await send([{ ...ofNow, epoch: 1_234_567 }], server);
    const id = await write();
    expect(await nextId()).toBe(id);
  });

  /** Opens one more relay. Returns it with the reasons why it is away. */
  function openRelay(url: string) {
    const reasons: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => void reasons.push(JSON.parse(line).err?.message) });
    const relay = new NatsRelay({ servers: natsServersOf(url) ?? [], credentials: undefined }, log);
    relay.open({ take: () => undefined, lost: () => undefined });
    return { relay, reasons };
  }

  test('is away while it may not listen', async () => {
    const account = { user: 'gateway', password: 'secret', permissions: { subscribe: { deny: ['payments.live.>'] } } };
    const strict = await startNatsServer(['--jetstream'], account);
    const { relay, reasons } = openRelay(strict.url);
    await vi.waitFor(() => expect(relay.isUp).toBe(true), 10_000);
    relay.follow(platformId);
    await vi.waitFor(() => expect(reasons).toEqual([expect.stringMatching(/permissions violation/i)]), 10_000);
    await vi.waitFor(() => expect(relay.isUp).toBe(false), 10_000);
    await relay.close();
    await strict.stop();
  });

  test('is away while its stream passes no event on', async () => {
    const streams = (await jetstreamManager(client)).streams;
    const { config } = await streams.info('PAYMENTS_FEED');
    const { republish, ...without } = config;
    await streams.delete('PAYMENTS_FEED');
    await streams.add(without);
    const { relay, reasons } = openRelay(nats.url);
    await vi.waitFor(() => expect(reasons).toEqual([expect.stringMatching(/does not republish/)]), 10_000);
    expect(relay.isUp).toBe(false);
    await streams.delete('PAYMENTS_FEED');
    await streams.add({ ...without, ...(republish && { republish }) });
    await vi.waitFor(() => expect(relay.isUp).toBe(true), 10_000);
    await relay.close();
  });

  test('may be killed, and come back without what it had stored', async () => {
    await untilRelayed();
    await client.close();
    await nats.kill();
    await vi.waitFor(() => expect(figures().isUp).toBe(false), { timeout: 10_000 });
    const ids = [await write(), await write()];
    expect([await nextId(), await nextId()]).toEqual(ids);
    await nats.start('lost');
    await vi.waitFor(() => expect(figures().isUp).toBe(true), { timeout: 10_000 });
    await listen();
    await untilRelayed();
  });
});
