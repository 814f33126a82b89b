import type { Data, TestPlatform } from './gateway.ts';
import { openEventStream } from './streams.ts';

/** An operation as a client sends it: with its document, or with the document's hash. */
export interface SentOperation {
  readonly query?: string;
  readonly documentId?: string;
  readonly variables?: Record<string, unknown>;
  readonly extensions?: Record<string, unknown>;
}

export type Send = (platform: TestPlatform, sent: SentOperation, most?: number) => Promise<Data[]>;

/** For each transport, a function that sends an operation and returns its result or a stream's first `most` results. */
export const eachTransport = {
  POST: async (platform, sent) => [await (await platform.post(sent)).json()],
  GET: async ({ url, authorization }, sent) => {
    const parts = Object.entries(sent).map(([name, part]) => [
      name,
      typeof part === 'string' ? part : JSON.stringify(part),
    ]);
    const response = await fetch(`${url}/graphql?${new URLSearchParams(parts)}`, { headers: { authorization } });
    return [await response.json()];
  },
  'an event stream': async ({ url, authorization }, sent, most = 1) => {
    const stream = await openEventStream(`${url}/graphql`, authorization, sent);
    const read: Data[] = [];
    for await (const { event, data } of stream.events) if (event !== 'next' || read.push(data) === most) break;
    stream.cut();
    return read;
  },
  'a socket': async (platform, sent, most = 1) => {
    const client = platform.socket();
    const read: Data[] = [];
    try {
      for await (const result of client.iterate({ query: '', ...sent })) if (read.push(result) === most) break;
    } catch (errors) {
      read.push({ errors });
    } finally {
      await client.dispose();
    }
    return read;
  },
} as const satisfies Readonly<Record<string, Send>>;
