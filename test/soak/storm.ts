import { Client } from 'undici';

/** A storm of requests, in a process of its own. It begins and ends with a message, and each end answers what came of it. */
export interface Storm {
  readonly url: string;
  readonly authorization: string;
  readonly connections: number;
  readonly body: string;
}

let goesOn = false;

/** Sends the next request on a connection as soon as the last one is answered, whatever the answer says. */
async function rage({ url, authorization, body }: Storm, statuses: Map<number, number>): Promise<void> {
  const client = new Client(url);
  const headers = { authorization, 'content-type': 'application/json' };
  while (goesOn) {
    const { statusCode, body: answer } = await client.request({ path: '/graphql', method: 'POST', headers, body });
    await answer.dump();
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
  }
  await client.close();
}

process.on('message', (storm: Storm | 'end') => {
  if (storm === 'end') {
    goesOn = false;
    return;
  }
  goesOn = true;
  const statuses = new Map<number, number>();
  Promise.all(Array.from({ length: storm.connections }, () => rage(storm, statuses))).then(
    () => process.send?.(Object.fromEntries(statuses)),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
