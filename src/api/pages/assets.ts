import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import path from 'node:path';

/** The output folder of `npm run pages`. */
export const bundleFolder = path.resolve(import.meta.dirname, '../../../dist/pages');

export interface Bundle {
  /** Each page's files, by page name: those that it loads first, and all that it might load. */
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

export type Assets = Awaited<ReturnType<typeof openAssets>>;

/**
 * Finds the assets of the enabled pages. They were built and compressed during installation, and are served compressed.
 */
export async function openAssets(shown: readonly string[]) {
  const text = await readFile(path.join(bundleFolder, 'bundle.json'), 'utf8').catch(() => '{"pages":{}}');
  const { pages }: Bundle = JSON.parse(text);
  const names = new Set(shown.flatMap((page) => pages[page]?.files ?? []));
  return {
    /** Returns the URLs of a page's entry files; undefined if the page was not built. */
    of(page: string): PageFiles | undefined {
      return pages[page];
    },
    /** Responds to a request for a file. Returns false if no enabled page has a file with this name. */
    async answer(response: ServerResponse, name: string): Promise<boolean> {
      if (!names.has(name)) return false;
      const body = await readFile(path.join(bundleFolder, `${name}.gz`));
      // The file's name contains a hash of its content, so the content never changes.
      response.setHeader('cache-control', 'public, max-age=31536000, immutable');
      // Accept-Encoding is ignored. Every browser supports gzip, and the service should spend no time on decompression.
      response.setHeader('content-encoding', 'gzip');
      return sendBytes(response, types[path.extname(name)] ?? 'application/octet-stream', body);
    },
  };
}

/** Sends a response with the given media type, without its body if the request is HEAD. Returns true. */
export function sendBytes(response: ServerResponse, type: string, bytes: Buffer, status = 200): true {
  response
    .writeHead(status, { 'content-type': type, 'content-length': bytes.length })
    .end(response.req.method === 'HEAD' ? undefined : bytes);
  return true;
}
