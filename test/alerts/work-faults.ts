import { stepLock } from '../../src/domain/events/sequencer.ts';
import { actOn, ended, feedEnd, succeed } from '../setup/acts.ts';
import { makeScene } from '../setup/scene.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { answer, startReceiver } from '../webhooks/receiver.ts';
import { bySql, eventsUntil, type StagedFault, session } from './staged-fault.ts';

/** An alert fires above this number of unfinished deliveries. */
const lateDeliveries = 10_000;
/** An alert fires above this number of events that are not dispatched. */
const lag = 500;
/** The maximum number of endpoints of a platform. */
const endpoints = 20;

/** Faults of the background work: the feed, orders, webhooks. */
export const workFaults: Readonly<Record<string, StagedFault>> = {
  'stalled sequencer': {
    staged: 'another session holds the lock of the sequencer',
    alerts: ['PaymentsFeedStands'],
    async stage({ databaseUrl }) {
      const holder = await session(databaseUrl, `select pg_advisory_lock(${stepLock})`);
      return { end: () => holder.end() };
    },
  },
  'hanging feed': {
    staged: 'reads of the feed by one instance hang, and more than 500 events arrive',
    alerts: ['PaymentsFeedBehind'],
    async stage(stage) {
      const { other, instance } = stage;
      const { usd } = await makeScene(other);
      const after = await feedEnd(other);
      const follower = other.watch('subscription ($after: String) { events(after: $after) { id } }', { after });
      await succeed(other, 'sandboxFundAccount', { accountId: usd, amount: 1n });
      await follower.next();
      instance.proxy.stallOn(/live_events/);
      const head = `select sequence::int as count from feed_head where platform_id = '${other.platformId}'`;
      const [{ count }] = await stage.own(head);
      await eventsUntil(stage, usd, head, count + lag);
      return {
        end: () => instance.proxy.goOn(),
        cleanUp: async () => follower.return?.(),
      };
    },
  },
  'failing loop': bySql(
    'the login loses its right to change orders to rails; new payments begin',
    ['PaymentsLoopFails', 'PaymentsOrdersOverdue'],
    'revoke update (due_at) on rail_order from gateway_work',
    'grant update (due_at) on rail_order to gateway_work',
  ),
  'unpayable refund': {
    staged: 'a payment to an external account fails, and its money cannot go back; ended by `ops suspense release`',
    alerts: ['PaymentsSuspense'],
    async stage({ other, ops }) {
      const scene = await makeScene(other, 50_000n, '007');
      const input = { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount: 10_000 };
      const { transaction } = await actOn(other, 'transferOut', input);
      await ended(other, transaction.id);
      return { end: () => ops('suspense', 'release', transaction.id) };
    },
  },
  'receiver down': {
    staged: 'the receiver of 20 webhook endpoints answers 503, until more than 10,000 deliveries wait; then 200',
    alerts: ['PaymentsWebhooksLate'],
    async stage(stage) {
      const { other } = stage;
      const { usd } = await makeScene(other);
      const receiver = await startReceiver(answer(503));
      const ids: string[] = [];
      for (let made = 0; made < endpoints; made += 1) ids.push((await createEndpoint(other, { url: receiver.url })).id);
      const pending = "select count(*)::int as count from webhook_delivery where status = 'PENDING'";
      await eventsUntil(stage, usd, pending, lateDeliveries);
      return {
        end: () => {
          receiver.answer = answer(200);
        },
        async cleanUp() {
          for (const endpointId of ids) await succeed(other, 'deleteWebhookEndpoint', { endpointId });
          await receiver.stop();
        },
      };
    },
  },
};
