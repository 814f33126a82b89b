import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { CredentialBrake } from '../access/limits/credential-brake.ts';
import { RateLimited } from '../access/limits/rate-limits.ts';
import { callHeader } from '../clusters/cluster-calls.ts';
import { listOrders, listTotals } from '../payments/clusters/compare.ts';
import {
  orderMessage,
  ordersQuestion,
  paths,
  receiverQuestion,
  totalsQuestion,
} from '../payments/clusters/messages.ts';
import { receiveOrder } from '../payments/clusters/receive-order.ts';
import type { Payments } from '../payments/command.ts';
import { receiverForCluster } from '../payments/receivers/own-receiver.ts';
import type { AddressOf } from './client-address.ts';
import { answer, refuse, tooMany, unavailable } from './refusals.ts';

/** The dependencies of the endpoints for other clusters. */
export interface ClusterEndpointOptions {
  readonly payments: Payments;
  /** Slows down who sends calls that no cluster has signed. */
  readonly brake: CredentialBrake;
  readonly addressOf: AddressOf;
  readonly log: Logger;
}

/** Answers a call of a cluster. Undefined where nothing is known here of what it is about. */
type Answering = (payments: Payments, cluster: string, message: unknown) => Promise<object | undefined>;

const endpoints: Readonly<Record<string, Answering>> = {
  [paths.receiver]: async (payments, _cluster, message) => {
    const { umaAddress, environment } = receiverQuestion.parse(message);
    return { receiver: writable((await receiverForCluster(payments, umaAddress, environment)) ?? null) };
  },
  [paths.order]: (payments, cluster, message) => receiveOrder(payments, cluster, orderMessage.parse(message)),
  [paths.totals]: async (payments, cluster, message) => {
    totalsQuestion.parse(message);
    return { totals: await listTotals(payments, cluster) };
  },
  [paths.orders]: async (payments, cluster, message) => ({
    orders: await listOrders(payments, cluster, ordersQuestion.parse(message)),
  }),
};

/**
 * Answers the calls of other clusters. What no cluster has signed is refused with 401, and counts against its address. An
 * installation that is no named cluster has none of these addresses.
 */
export class ClusterEndpoints {
  readonly #options: ClusterEndpointOptions;

  constructor(options: ClusterEndpointOptions) {
    this.#options = options;
  }

  /** Tells whether a path is for calls of other clusters. */
  takes(path: string): boolean {
    return this.#options.payments.cluster !== undefined && Object.hasOwn(endpoints, path);
  }

  /** @param body undefined where it was too long */
  async answer(request: IncomingMessage, response: ServerResponse, body: Buffer | undefined): Promise<void> {
    const { payments, log } = this.#options;
    const path = request.url ?? '';
    const work = endpoints[path];
    try {
      const cluster = work && body && (await this.#callerOf(request, path, body));
      if (!cluster) {
        const message = 'no call of another cluster: its signature is missing or wrong';
        return answer(response, 401, { status: 401, code: 'UNAUTHENTICATED', message });
      }
      const answered = await work(payments, cluster, JSON.parse(body.toString('utf8')));
      if (answered) return answer(response, 200, answered);
      refuse(response, 'REST', unavailable('the platform is not in this cluster'));
    } catch (error) {
      if (error instanceof RateLimited) return refuse(response, 'REST', tooMany(error));
      if (error instanceof z.ZodError) {
        const message = 'the message is not one of this version';
        return answer(response, 400, { status: 400, code: 'INVALID_INPUT', message });
      }
      log.error({ err: error, path }, 'a call of another cluster could not be answered');
      refuse(response, 'REST', unavailable('the call could not be answered; send it again'));
    }
  }

  /** Returns the cluster that has signed the call. */
  async #callerOf(request: IncomingMessage, path: string, body: Buffer): Promise<string | undefined> {
    const { payments, brake, addressOf } = this.#options;
    const token = request.headers[callHeader];
    const isCall = request.method === 'POST' && typeof token === 'string';
    const caller = isCall ? await payments.cluster?.calls.callerOf(token, path, body) : undefined;
    if (caller === undefined) brake.begin(addressOf(request));
    return caller;
  }
}

/** Writes amounts as digits, which JSON has no other form for. */
function writable(value: object | null): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? part.toString() : part)),
  );
}
