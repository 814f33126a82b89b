import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import path from 'node:path';

/** The output folder of `npm run pages`. */
export const bundleFolder = path.resolve(import.meta.dirname, '../../../dist/pages');

export interface Bundle {
  /** A hash of all sources of the bundle. */
  readonly inputs: string;
  /** The files of each page, by page name: those that it loads first, and all that it might load. */
  readonly pages: Readonly<Record<string, PageFiles & { readonly files: readonly string[] }>>;
}

export interface PageFiles {
  readonly scripts: readonly string[];
  readonly styles: readonly string[];
}

export const assetPath = '/assets/';

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.ttf': 'font/ttf',
};

/** Serves the files of the enabled pages. Each was compressed during installation, and is sent in that form. */
export class Assets {
  readonly #pages: Bundle['pages'];
  /** The contents of files that were requested before, by name: a request then needs no disk read. */
  readonly #contents: Map<string, Promise<Buffer> | undefined>;

  private constructor(pages: Bundle['pages'], shown: readonly string[]) {
    this.#pages = pages;
    this.#contents = new Map(shown.flatMap((page) => pages[page]?.files ?? []).map((name) => [name, undefined]));
  }

  /** Reads the assets that the installation has built for the enabled pages; none if no page is enabled. */
  static async open(shown: readonly string[]): Promise<Assets> {
    const text = await readFile(path.join(bundleFolder, 'bundle.json'), 'utf8').catch(() => undefined);
    return new Assets(text === undefined ? {} : (JSON.parse(text) as Bundle).pages, shown);
  }

  /** Returns the URLs of the files that a page loads first; undefined if there are none. */
  of(page: string): PageFiles | undefined {
    const found = this.#pages[page];
    return (
      found && {
        scripts: found.scripts.map((name) => assetPath + name),
        styles: found.styles.map((name) => assetPath + name),
      }
    );
  }

  /** Responds to a request for a file. Returns false if no enabled page has a file with this name. */
  async answer(response: ServerResponse, name: string): Promise<boolean> {
    if (!this.#contents.has(name)) return false;
    const reading = this.#contents.get(name) ?? readFile(path.join(bundleFolder, `${name}.gz`));
    this.#contents.set(name, reading);
    const body = await reading;
    response.writeHead(200, {
      'content-type': types[path.extname(name)] ?? 'application/octet-stream',
      'content-length': body.length,
      // Its name contains a hash of its content, so it never changes.
      'cache-control': 'public, max-age=31536000, immutable',
      // Regardless of Accept-Encoding: every browser supports gzip, and strangers cannot make the service spend time on
      // decompression.
      'content-encoding': 'gzip',
    });
    response.end(response.req.method === 'HEAD' ? undefined : body);
    return true;
  }
}
