import { connect, type TestPlatform } from '../../setup/gateway.ts';
import { openEventStream, openRawSocket } from '../../setup/streams.ts';
import type { Reply } from './cells.ts';
import type { Call, Variables } from './graphql-calls.ts';

/** Sends an operation over a transport and returns its first result, or why there is none. */
export type Over = (url: string, who: TestPlatform, call: Pick<Call, 'query'>, variables: Variables) => Promise<Reply>;

const overJson: Over = async (url, { platformId, authorization }, { query }, variables) => {
  const accept = 'application/graphql-response+json';
  const response = await connect(url, platformId, authorization).post({ query, variables }, { accept });
  return { status: response.status, text: await response.text() };
};

const overEvents: Over = async (url, { authorization }, { query }, variables) => {
  const stream = await openEventStream(`${url}/graphql/stream`, authorization, { query, variables });
  const first = await stream.events.next();
  stream.cut();
  return { status: stream.status, text: JSON.stringify(first.value?.data ?? null) };
};

const overSocket: Over = async (url, { authorization }, { query }, variables) => {
  const raw = await openRawSocket(url, authorization).catch(() => undefined);
  if (!raw) return { status: 0, text: 'refused' };
  if (raw.socket.readyState !== raw.socket.OPEN)
    return { status: (await raw.closed).code, text: (await raw.closed).reason };
  raw.send({ id: '1', type: 'subscribe', payload: { query, variables } });
  const answer = await Promise.race([raw.receive('next'), raw.receive('error')]).finally(() => raw.socket.close());
  return { status: 200, text: JSON.stringify(answer) };
};

export const transports = { JSON: overJson, 'event stream': overEvents, socket: overSocket } as const;
export type Transport = keyof typeof transports;
