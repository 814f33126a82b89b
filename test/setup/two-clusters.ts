import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { DirectoryFile } from '../../src/clusters/directory.ts';
import type { GatewaySettings } from '../../src/config.ts';
import { type Front, startFront } from '../../src/front/front.ts';
import { startTestGateway, type TestGateway } from './gateway.ts';

/** What a directory of clusters says, as its file has it. */
export interface DirectoryJson {
  readonly clusters: Readonly<Record<string, { readonly instances: readonly string[]; readonly domains?: string[] }>>;
  readonly default: string;
  readonly platforms?: Readonly<Record<string, string | { readonly paused: string }>>;
  readonly clients?: Readonly<Record<string, string>>;
}

/** A file of a directory, which the test changes: to another one, to any text, or to the first one again. */
export function directoryFile(first: DirectoryJson) {
  const folder = mkdtempSync(path.join(tmpdir(), 'clusters-'));
  const file = path.join(folder, 'clusters.json');
  const write = (json: DirectoryJson | string = first) =>
    writeFileSync(file, typeof json === 'string' ? json : JSON.stringify(json));
  write();
  return { path: file, write, remove: () => rmSync(folder, { recursive: true }) };
}

/** Starts a front on a free port, with the directory of a file. */
export async function startTestFront(
  file: string,
  shutdownDelayMs = 0,
): Promise<Front & { readonly directory: DirectoryFile }> {
  const log = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const directory = new DirectoryFile(file, log);
  const host = '127.0.0.1';
  const front = await startFront({ directory, host, port: 0, metrics: { host, port: 0 }, shutdownDelayMs, log });
  return {
    url: front.url,
    metricsUrl: front.metricsUrl,
    directory,
    async stop() {
      await front.stop();
      directory.close();
    },
  };
}

/** Two clusters, each an instance on a database of its own, with a front before them. */
export interface TwoClusters {
  readonly front: Front;
  readonly north: TestGateway;
  readonly south: TestGateway;
  /** What the directory says at first. */
  readonly directory: DirectoryJson;
  /** Changes the directory of the front. */
  write(json: DirectoryJson): void;
  stop(): Promise<void>;
}

/** A key that only tests use. */
export const clusterKey = 'a key of clusters that only tests use';

/**
 * Starts two clusters and a front.
 * @param between stands between the clusters: it gets the address of one, and returns the one that the other calls
 */
export async function startTwoClusters(
  overrides: Partial<GatewaySettings> = {},
  between: (name: 'north' | 'south', url: string) => Promise<string> = async (_name, url) => url,
): Promise<TwoClusters> {
  const domainsOf = (name: string) => [`${name}.uma.money`, `${name}.test`];
  const directoryOf = (north: string, south: string): DirectoryJson => ({
    clusters: {
      north: { instances: [north], domains: domainsOf('north') },
      south: { instances: [south], domains: domainsOf('south') },
    },
    default: 'north',
  });
  const nowhere = 'http://127.0.0.1:9';
  const file = directoryFile(directoryOf(nowhere, nowhere));
  const start = (name: string) =>
    startTestGateway(
      { CLUSTER: name, CLUSTER_DIRECTORY: file.path, CLUSTER_KEY: clusterKey, ...overrides },
      undefined,
      {},
      name,
    );
  const [north, south] = await Promise.all([start('north'), start('south')]);
  file.write(directoryOf(await between('north', north.url), await between('south', south.url)));
  for (const { gateway } of [north, south]) gateway.payments.cluster?.directory.reload();
  const directory = directoryOf(north.url, south.url);
  const ofFront = directoryFile(directory);
  const front = await startTestFront(ofFront.path);
  return {
    ...{ front, north, south, directory },
    write(json) {
      ofFront.write(json);
      front.directory.reload();
    },
    async stop() {
      await front.stop();
      await Promise.all([north.stop(), south.stop()]);
      file.remove();
      ofFront.remove();
    },
  };
}
