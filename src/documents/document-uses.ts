import type { DocumentNode } from 'graphql';
import type { Logger } from 'pino';
import { asPlatform } from '../database/connections/platform-scope.ts';
import type { Database } from '../database/database.ts';
import { statement } from '../database/statement.ts';
import { currentRequest } from '../instruments/request-facts.ts';
import { type DocumentForm, formOf } from './document-form.ts';

/** How often uses are written, in milliseconds. */
const intervalMs = 10_000;
/** The most different documents and clients that are counted between two writes, of a platform and of all, and that one has in all. */
const most = { atOnce: 500, atOnceOfAll: 10_000, ofPlatform: 10_000 } as const;

/** Writes uses in the order of their keys, so that instances do not wait for each other in a circle. */
const writeStatement = statement<object>(
  'write_document_uses',
  `insert into document_use as d (platform_id, digest, text, client_name, client_version, uses)
   select $1, u.* from unnest($2::bytea[], $3::text[], $4::text[], $5::text[], $6::bigint[]) u (digest, text, name, version, uses)
   where (select count(*) from document_use where platform_id = $1) < ${most.ofPlatform}
     or exists (select from document_use e where e.platform_id = $1 and e.digest = u.digest and e.client_name = u.name
                  and e.client_version = u.version)
   order by u.digest, u.name, u.version
   on conflict (platform_id, digest, client_name, client_version)
     do update set uses = d.uses + excluded.uses, last_used_at = clock_ms()`,
);

/** How often a document was sent by a client. */
interface Use {
  readonly document: DocumentNode;
  readonly name: string;
  readonly version: string;
  uses: number;
}

/** The uses of a platform by document and client, and how many different ones there are. */
interface UsesOfPlatform {
  readonly byDocument: Map<DocumentNode, Map<string, Use>>;
  size: number;
}

/**
 * Counts which documents are executed, by which clients. Counting costs a request two look-ups in memory; what is counted is written
 * together now and then, so that the last seconds before a crash are lost.
 */
export class DocumentUses {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  #counts = new Map<string, UsesOfPlatform>();
  #size = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(database: Database, log: Logger, everyMs = intervalMs) {
    this.#database = database;
    this.#log = log;
    this.#timer = setInterval(() => this.#write(), everyMs).unref();
  }

  /** Counts a document that is executed for the current request. */
  count(platformId: string, document: DocumentNode): void {
    const { name = '', version = '' } = currentRequest()?.client ?? {};
    const client = `${name}\n${version}`;
    const ofPlatform = this.#counts.get(platformId) ?? { byDocument: new Map(), size: 0 };
    const use = ofPlatform.byDocument.get(document)?.get(client);
    if (use) use.uses += 1;
    // A platform with very many clients keeps no other from being counted.
    else if (ofPlatform.size < most.atOnce && this.#size < most.atOnceOfAll) {
      this.#counts.set(platformId, ofPlatform);
      this.#begin(ofPlatform, client, { document, name, version, uses: 1 });
    }
  }

  #begin(ofPlatform: UsesOfPlatform, client: string, use: Use): void {
    const ofDocument = ofPlatform.byDocument.get(use.document) ?? new Map<string, Use>();
    ofPlatform.byDocument.set(use.document, ofDocument.set(client, use));
    ofPlatform.size += 1;
    this.#size += 1;
  }

  /** Writes what has been counted, and stops. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#write();
  }

  #write(): Promise<void> {
    const counts = this.#counts;
    this.#counts = new Map();
    this.#size = 0;
    this.#writing = this.#writing.then(async () => {
      for (const [platformId, uses] of counts) {
        const columns = columnsOf([...uses.byDocument.values()].flatMap((ofDocument) => [...ofDocument.values()]));
        await asPlatform(platformId, () => writeStatement(this.#database.pool, platformId, ...columns)).catch(
          (error: unknown) => this.#log.warn({ err: error }, 'uses of documents are lost'),
        );
      }
    });
    return this.#writing;
  }
}

/** Returns the columns of rows to write: documents of one form are one. */
function columnsOf(uses: readonly Use[]): readonly (readonly unknown[])[] {
  const rows = new Map<string, Use & DocumentForm>();
  for (const use of uses) {
    const form = formOf(use.document);
    const key = `${form.digest.toString('base64')}\n${use.name}\n${use.version}`;
    const same = rows.get(key);
    rows.set(key, { ...use, ...form, uses: use.uses + (same?.uses ?? 0) });
  }
  const all = [...rows.values()];
  return [
    all.map(({ digest }) => digest),
    all.map(({ text }) => text),
    all.map(({ name }) => name),
    all.map(({ version }) => version),
    all.map((use) => use.uses),
  ];
}
