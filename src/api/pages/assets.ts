import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';

/** Where `npm run pages` puts what it makes. */
export const bundleFolder = path.resolve(import.meta.dirname, '../../../dist/pages');

/** What `npm run pages` has made. */
export interface Bundle {
  /** A hash of all that it was made of. */
  readonly inputs: string;
  /** The names of the files of each page, by the name of the page: what it loads first, and all that it may load. */
  readonly pages: Readonly<Record<string, PageFiles & { readonly files: readonly string[] }>>;
}

/** What a page loads first. */
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

/** The files of the pages that are shown. Each was compressed once, when the project was installed, and is sent like that. */
export class Assets {
  readonly #pages: Bundle['pages'];
  /** The contents of those that somebody has asked for, by name: a request costs no read of a disk. */
  readonly #contents: Map<string, Promise<Buffer> | undefined>;

  private constructor(pages: Bundle['pages'], shown: readonly string[]) {
    this.#pages = pages;
    this.#contents = new Map(shown.flatMap((page) => pages[page]?.files ?? []).map((name) => [name, undefined]));
  }

  /**
   * Reads what was made at the installation. Without it there are no assets.
   * @param shown the pages whose files are served
   */
  static async open(shown: readonly string[]): Promise<Assets> {
    const text = await readFile(path.join(bundleFolder, 'bundle.json'), 'utf8').catch(() => undefined);
    return new Assets(text === undefined ? {} : (JSON.parse(text) as Bundle).pages, shown);
  }

  /** Returns the addresses of what a page loads first; undefined where nothing was made. */
  of(page: string): PageFiles | undefined {
    const found = this.#pages[page];
    return (
      found && {
        scripts: found.scripts.map((name) => assetPath + name),
        styles: found.styles.map((name) => assetPath + name),
      }
    );
  }

  /** Answers a request for a file. Returns false where no page that is shown has one of this name. */
  async answer(request: IncomingMessage, response: ServerResponse, name: string): Promise<boolean> {
    if (!this.#contents.has(name)) return false;
    const reading = this.#contents.get(name) ?? readFile(path.join(bundleFolder, `${name}.gz`));
    this.#contents.set(name, reading);
    const body = await reading;
    response.writeHead(200, {
      'content-type': types[path.extname(name)] ?? 'application/octet-stream',
      'content-length': body.length,
      // Its name contains a hash of its content, so it never changes.
      'cache-control': 'public, max-age=31536000, immutable',
      // Whatever is accepted: every browser takes it, and to unpack it for others would be work for strangers.
      'content-encoding': 'gzip',
    });
    response.end(request.method === 'HEAD' ? undefined : body);
    return true;
  }
}
