import { setTimeout as delay } from 'node:timers/promises';
import type { FrontProcess } from '../faults/front.ts';
import { connect } from '../setup/gateway.ts';
import { requests, type Stage, type StagedFault } from './staged-fault.ts';

function frontOf({ front }: Stage): FrontProcess {
  if (!front) throw new Error('there is no front');
  return front;
}

/** So many requests wait for a database that is silent. */
const waiting = 20;

/** Waits until requests have waited at the front. */
async function manyWait({ metricsUrl }: FrontProcess): Promise<void> {
  const inFlight = /^payments_front_requests_in_flight\{cluster="north"\} (\d+)$/m;
  for (;;) {
    const text = await (await fetch(`${metricsUrl}/metrics`)).text();
    if (Number(inFlight.exec(text)?.[1]) >= waiting / 2) return;
    await delay(5);
  }
}

/** Faults of a front, of the instances behind it, and of their replica. */
export const frontFaults: Readonly<Record<string, StagedFault>> = {
  'dead front': {
    staged: '`kill -9` of the front; ended by a new process',
    alerts: ['PaymentsFrontDown'],
    async stage(stage) {
      await frontOf(stage).kill();
      return { end: () => frontOf(stage).start() };
    },
  },
  'dead instance behind a front': {
    staged: '`kill -9` of one of two instances; ended by a new process',
    alerts: ['PaymentsClusterShort', 'PaymentsInstanceDown'],
    async stage({ instance }) {
      await instance.kill();
      return { end: () => instance.start() };
    },
  },
  'dead cluster': {
    staged: '`kill -9` of all instances; ended by new processes',
    alerts: ['PaymentsClusterAway', 'PaymentsClusterShort'],
    async stage({ instances }) {
      await Promise.all(instances.map((one) => one.kill()));
      return { end: () => Promise.all(instances.map((one) => one.start())) };
    },
  },
  'lost answers': {
    staged: 'the way of one instance to the database hangs, and with ten requests waiting there it gets `kill -9`',
    alerts: ['PaymentsFrontLosesAnswers'],
    async stage(stage) {
      const { instance, other } = stage;
      const front = frontOf(stage);
      const through = connect(front.url, other.platformId, other.authorization);
      instance.proxy.stall();
      const stop = requests(waiting, () => through.send('{ customers(first: 1) { edges { node { id } } } }'));
      await manyWait(front);
      await instance.kill();
      return {
        async end() {
          instance.proxy.goOn();
          await instance.start();
          await stop();
        },
      };
    },
  },
  'faulty directory': {
    staged: 'the file of the directory of clusters is no JSON',
    alerts: ['PaymentsDirectoryFaulty'],
    async stage(stage) {
      frontOf(stage).write('{ "clusters": ');
      return { end: () => frontOf(stage).write() };
    },
  },
  'replica away': {
    staged: 'the network refuses connections to the replica, and cuts the open ones',
    alerts: ['PaymentsReplicaAway'],
    async stage({ replica }) {
      await replica?.stopListening();
      return { end: () => replica?.startListening() };
    },
  },
};
