import { Client, Pool } from 'undici';
import { loadTool } from './tool.ts';

/**
 * The requests to send. `%KEY%` in a body is replaced in each request by a different word that is valid in a GraphQL
 * name.
 */
export interface RequestJob {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The bodies to post, in turn; an empty string sends a GET instead. */
  readonly bodies: readonly string[];
  readonly connections: number;
  /** Sends each body once and then ends: for requests that succeed only once. */
  readonly once?: boolean;
  /** Requests per second, regardless of pending responses. If omitted, each connection waits for its responses. */
  readonly rate?: number;
  /** Collects what this pattern's first group matches in the responses. */
  readonly collect?: string;
}

/** Sends requests, either over connections that wait for each response or at a fixed rate. */
loadTool((job: RequestJob) => {
  const target = new URL(job.url);
  const marker = `${process.pid.toString(36)}${Date.now().toString(36)}`;
  const pattern = job.collect === undefined ? undefined : new RegExp(job.collect, 'g');
  const enough = () => job.once === true && sent >= job.bodies.length;
  let sent = 0;

  return async (end, counts, latencies) => {
    async function one(on: Client | Pool): Promise<void> {
      const number = sent++;
      const body = (job.bodies[number % job.bodies.length] ?? '').replace('%KEY%', `${marker}_${number}`);
      const began = performance.now();
      try {
        const path = target.pathname + target.search;
        const answer = await (body === ''
          ? on.request({ path, method: 'GET', headers: job.headers })
          : on.request({ path, method: 'POST', headers: job.headers, body }));
        const text = await answer.body.text();
        const wrong =
          answer.statusCode > 201 || /"errors":\[|"code":"(?:[A-Z]+_[A-Z_]+|CONFLICT)"/.test(text)
            ? `${answer.statusCode} ${text.slice(0, 300)}`
            : undefined;
        if (counts()) latencies.add(performance.now() - began, answer.statusCode, wrong);
        if (pattern) for (const [, found] of text.matchAll(pattern)) if (found) latencies.collected.push(found);
      } catch (error) {
        if (counts()) latencies.add(performance.now() - began, 0, String(error));
      }
    }

    if (job.rate === undefined) {
      await Promise.all(
        Array.from({ length: job.connections }, async () => {
          const client = new Client(target.origin);
          while (Date.now() < end && !enough()) await one(client);
          await client.close();
        }),
      );
      return;
    }
    const pool = new Pool(target.origin, { connections: job.connections });
    const open = new Set<Promise<void>>();
    const started = performance.now();
    const before = sent;
    while (Date.now() < end) {
      const due = before + ((performance.now() - started) * job.rate) / 1000;
      while (sent < due) {
        const request = one(pool).finally(() => open.delete(request));
        open.add(request);
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await Promise.all(open);
    await pool.close();
  };
});
