import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { z } from 'zod';
import { type Claim, clusterName } from './names.ts';

const name = z.string().regex(clusterName, 'must be the name of a cluster: small letters, digits and hyphens');
const domain = z
  .string()
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/, 'must be a domain in lower case, in ASCII, such as north.uma.money');
const platform = z.string().regex(/^Platform:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'must be Platform:…');

const schema = z.strictObject({
  clusters: z.record(
    name,
    z.strictObject({
      instances: z.array(z.url({ protocol: /^https?$/, error: 'must be http or https addresses' })).min(1),
      domains: z.array(domain).default([]),
    }),
  ),
  default: name,
  platforms: z.record(platform, z.union([name, z.strictObject({ paused: name })])).default({}),
  clients: z.record(z.string(), name).default({}),
});

/** The error for a directory that cannot be used: the message says where and why. */
export class DirectoryFault extends Error {}

/** Where a request belongs. */
export interface Place {
  readonly cluster: string;
  /** Whether its platform moves now: nothing of it is let through. */
  readonly isPaused: boolean;
}

/**
 * Which clusters there are, and what belongs where. Whatever it does not name goes to the default cluster, which answers unknown
 * credentials as a single installation does.
 */
export class Directory {
  /** The addresses of the instances of each cluster. */
  readonly clusters: ReadonlyMap<string, readonly string[]>;
  readonly #default: string;
  readonly #platforms: ReadonlyMap<string, Place>;
  readonly #clients: ReadonlyMap<string, string>;
  readonly #domains: ReadonlyMap<string, string>;

  /** @throws DirectoryFault for a text that is no directory, names an unknown cluster, or gives a domain to two */
  constructor(text: string) {
    const parsed = schema.safeParse(jsonIn(text));
    if (!parsed.success) {
      throw new DirectoryFault(
        parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '),
      );
    }
    const { clusters, default: first, platforms, clients } = parsed.data;
    this.clusters = new Map(Object.entries(clusters).map(([one, { instances }]) => [one, instances.map(origin)]));
    this.#default = first;
    this.#platforms = new Map(
      Object.entries(platforms).map(([id, place]) => [
        id.replace('Platform:', ''),
        typeof place === 'string' ? { cluster: place, isPaused: false } : { cluster: place.paused, isPaused: true },
      ]),
    );
    this.#clients = new Map(Object.entries(clients));
    this.#domains = domainsOf(clusters);
    const named = [first, ...[...this.#platforms.values()].map(({ cluster }) => cluster), ...this.#clients.values()];
    const unknown = named.find((one) => !this.clusters.has(one));
    if (unknown !== undefined) throw new DirectoryFault(`there is no cluster ${unknown}`);
  }

  /** Returns where credentials belong: where their platform has moved to, or else to the cluster that made them. */
  placeOf({ cluster, platformId, clientId }: Claim): Place {
    const moved = platformId === undefined ? undefined : this.#platforms.get(platformId);
    if (moved) return moved;
    const exception = clientId === undefined ? undefined : this.#clients.get(clientId);
    if (exception !== undefined) return { cluster: exception, isPaused: false };
    return { cluster: cluster !== undefined && this.clusters.has(cluster) ? cluster : this.#default, isPaused: false };
  }

  /** Returns the cluster that has a UMA domain, by the longest of the domains that it is or lies below; undefined where none has it. */
  clusterOfDomain(umaDomain: string): string | undefined {
    for (let rest = umaDomain; rest !== ''; rest = rest.includes('.') ? rest.slice(rest.indexOf('.') + 1) : '') {
      const cluster = this.#domains.get(rest);
      if (cluster !== undefined) return cluster;
    }
    return undefined;
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DirectoryFault(`it is not JSON (${error instanceof Error ? error.message : error})`);
  }
}

function origin(address: string): string {
  return new URL(address).origin;
}

function domainsOf(clusters: Readonly<Record<string, { readonly domains: readonly string[] }>>): Map<string, string> {
  const owners = new Map<string, string>();
  for (const [cluster, { domains }] of Object.entries(clusters)) {
    for (const one of domains) {
      const other = owners.get(one);
      if (other !== undefined) throw new DirectoryFault(`the domain ${one} is given to ${other} and to ${cluster}`);
      owners.set(one, cluster);
    }
  }
  return owners;
}

/** How often the file is looked at, in milliseconds. */
const everyMs = 1_000;

/** Where the file's faults and changes are logged. */
interface Log {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * The directory of a file, which is read again when it changes. A file that is faulty or gone changes nothing: what was read last
 * stays, and the log says so.
 */
export class DirectoryFile {
  readonly #path: string;
  readonly #log: Log;
  readonly #followers = new Set<() => void>();
  readonly #look = () => this.reload();
  #text: string;
  #current: Directory;
  #isFaulty = false;

  /** @throws DirectoryFault for a file that cannot be read or is no directory */
  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
    [this.#text, this.#current] = read(path);
    // A file may be replaced, and a mounted one changes without a notification.
    watchFile(path, { interval: everyMs, persistent: false }, this.#look);
  }

  get current(): Directory {
    return this.#current;
  }

  /** Whether the file cannot be used as it is now. */
  get isFaulty(): boolean {
    return this.#isFaulty;
  }

  /** Calls `follow` after each change. Returns the function that ends this. */
  onChange(follow: () => void): () => void {
    this.#followers.add(follow);
    return () => void this.#followers.delete(follow);
  }

  /** Reads the file now. */
  reload(): void {
    try {
      const [text, directory] = read(this.#path);
      this.#isFaulty = false;
      if (text === this.#text) return;
      [this.#text, this.#current] = [text, directory];
    } catch (error) {
      this.#isFaulty = true;
      const reason = error instanceof Error ? error.message : String(error);
      this.#log.error({ file: this.#path, reason }, 'the directory of clusters cannot be used; the one before stays');
      return;
    }
    this.#log.info({ file: this.#path, clusters: [...this.#current.clusters.keys()] }, 'the directory has changed');
    for (const follow of this.#followers) follow();
  }

  close(): void {
    unwatchFile(this.#path, this.#look);
  }
}

function read(path: string): [string, Directory] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new DirectoryFault(`${path} cannot be read (${error instanceof Error ? error.message : error})`);
  }
  try {
    return [text, new Directory(text)];
  } catch (error) {
    throw error instanceof DirectoryFault ? new DirectoryFault(`${path}: ${error.message}`) : error;
  }
}
