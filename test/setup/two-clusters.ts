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

/** A file of a directory, which the test changes. */
export function directoryFile(first: DirectoryJson) {
  const folder = mkdtempSync(path.join(tmpdir(), 'clusters-'));
  const file = path.join(folder, 'clusters.json');
  const write = (json: DirectoryJson) => writeFileSync(file, JSON.stringify(json));
  write(first);
  return { path: file, write, remove: () => rmSync(folder, { recursive: true }) };
}

/** Starts a front on a free port, with the directory of a file. */
export async function startTestFront(
  file: string,
  shutdownDelayMs = 0,
): Promise<Front & { readonly directory: DirectoryFile }> {
  const log = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const directory = new DirectoryFile(file, log);
  const front = await startFront({ directory, host: '127.0.0.1', port: 0, shutdownDelayMs, log });
  return {
    url: front.url,
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
  /** Changes the directory, for the front and for both clusters. */
  write(json: DirectoryJson): void;
  stop(): Promise<void>;
}

/** A key that only tests use. */
const CLUSTER_KEY = 'a key of clusters that only tests use';

export async function startTwoClusters(overrides: Partial<GatewaySettings> = {}): Promise<TwoClusters> {
  const nowhere = { instances: ['http://127.0.0.1:9'] };
  const file = directoryFile({ clusters: { north: nowhere, south: nowhere }, default: 'north' });
  const start = (name: string) =>
    startTestGateway({ CLUSTER: name, CLUSTER_DIRECTORY: file.path, CLUSTER_KEY, ...overrides }, undefined, {}, name);
  const domainsOf = (name: string) => [`${name}.uma.money`, `${name}.test`];
  const placeholder = Object.fromEntries(
    ['north', 'south'].map((name) => [name, { ...nowhere, domains: domainsOf(name) }]),
  );
  file.write({ clusters: placeholder, default: 'north' });
  const [north, south] = await Promise.all([start('north'), start('south')]);
  const directory: DirectoryJson = {
    clusters: {
      north: { instances: [north.url], domains: domainsOf('north') },
      south: { instances: [south.url], domains: domainsOf('south') },
    },
    default: 'north',
  };
  file.write(directory);
  const front = await startTestFront(file.path);
  const write = (json: DirectoryJson) => {
    file.write(json);
    for (const one of [front.directory, ...[north, south].map(({ gateway }) => gateway.payments.cluster?.directory)]) {
      one?.reload();
    }
  };
  write(directory);
  return {
    ...{ front, north, south, directory, write },
    async stop() {
      await front.stop();
      await Promise.all([north.stop(), south.stop()]);
      file.remove();
    },
  };
}
