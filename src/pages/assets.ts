import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { acceptsEncoding } from '../bodies/answer.ts';

/** Where `npm run pages` puts what it makes. */
export const bundleFolder = path.resolve(import.meta.dirname, '../../dist/pages');

/** A file that pages load. Its name contains a hash of its content, so it never changes. */
export interface AssetFile {
  readonly name: string;
  readonly type: string;
}

/** What `npm run pages` has made. */
export interface Bundle {
  /** A hash of all that it was made of. */
  readonly inputs: string;
  readonly files: readonly AssetFile[];
  /** The names of the files that a page loads first, by the name of the page. */
  readonly pages: Readonly<Record<string, { readonly scripts: readonly string[]; readonly styles: readonly string[] }>>;
}

export const assetPath = '/assets/';

/** The files that pages load, compressed once when the project was installed. */
export class Assets {
  readonly #bundle: Bundle | undefined;
  readonly #types: ReadonlyMap<string, string>;

  constructor(bundle: Bundle | undefined) {
    this.#bundle = bundle;
    this.#types = new Map(bundle?.files.map(({ name, type }) => [name, type]));
  }

  /** Reads what was made at the installation. Without it there are no assets. */
  static async open(): Promise<Assets> {
    const text = await readFile(path.join(bundleFolder, 'bundle.json'), 'utf8').catch(() => undefined);
    return new Assets(text === undefined ? undefined : (JSON.parse(text) as Bundle));
  }

  /** Returns the addresses of what a page loads first; undefined where nothing was made. */
  of(page: string): { readonly scripts: readonly string[]; readonly styles: readonly string[] } | undefined {
    const found = this.#bundle?.pages[page];
    return (
      found && {
        scripts: found.scripts.map((name) => assetPath + name),
        styles: found.styles.map((name) => assetPath + name),
      }
    );
  }

  /** Answers a request for a file. Returns false where there is none of this name. */
  async answer(request: IncomingMessage, response: ServerResponse, name: string): Promise<boolean> {
    const type = this.#types.get(name);
    if (type === undefined) return false;
    const encoding = (['br', 'gzip'] as const).find((one) => acceptsEncoding(request, one));
    const stored = await readFile(path.join(bundleFolder, `${name}.${encoding === 'gzip' ? 'gz' : 'br'}`));
    const body = encoding === undefined ? brotliDecompressSync(stored) : stored;
    response.writeHead(200, {
      'content-type': type,
      'content-length': body.length,
      'cache-control': 'public, max-age=31536000, immutable',
      ...(encoding !== undefined && { 'content-encoding': encoding }),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
    return true;
  }
}
