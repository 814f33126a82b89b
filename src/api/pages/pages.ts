import type { IncomingMessage, ServerResponse } from 'node:http';
import { html, raw } from 'hono/html';
import { type Assets, assetPath, openAssets, sendBytes } from './assets.ts';
import { type Docs, docsPath, openDocs } from './docs.ts';
import { consolePath, frontLinks, frontPage, restPath } from './front.ts';
import { bundledPage, type Page, plainPage, type SandboxPlatform, type Shown, sendPage } from './layout.ts';

function notFoundPage(path: string, shown: Shown): Page {
  const pages = frontLinks(shown).filter(({ kind }) => kind === 'PAGE');
  return plainPage(
    'Nothing here',
    html`<main>
<h1>There is nothing here</h1>
<p>This service has nothing at <code>${path}</code>.</p>
<p>These pages exist:</p>
<ul><li><a href="/">Front page</a></li>${pages.map(({ path: to, name }) => html`<li><a href="${to}">${name}</a></li>`)}</ul>
</main>`,
  );
}

const labFiles = ['lab', 'editor.worker', 'json.worker', 'graphql.worker'] as const;

/** Builds the lab's page. In the sandbox, its settings contain credentials and a funded account. */
async function labPage(assets: Assets, { sandbox, documents }: Shown): Promise<Page> {
  const worker = (name: string) => assets.of(`${name}.worker`)?.scripts[0];
  const settings = {
    ...(sandbox && { sandbox: { ...sandbox.credentials, ...(await sandbox.payer()) } }),
    ...(documents && { docs: docsPath }),
    workers: { editor: worker('editor'), json: worker('json'), graphql: worker('graphql') },
  };
  return bundledPage(assets, { name: 'lab', title: 'Lab', settings });
}

const openApiPath = '/2025-10-13/openapi.json';

async function consolePage(assets: Assets, { sandbox }: Shown): Promise<Page> {
  return bundledPage(assets, {
    name: 'console',
    title: 'REST console',
    settings: {
      document: openApiPath,
      ...(sandbox && { credentials: sandbox.credentials, payer: await sandbox.payer() }),
    },
    before: html`<nav class="crumbs" aria-label="Path"><a href="/">Payments</a> / REST console</nav>`,
    otherwise: html`The OpenAPI document is at <a href="${openApiPath}">${openApiPath}</a>.`,
  });
}

const walletPage = (assets: Assets) =>
  bundledPage(assets, {
    name: 'wallet',
    title: 'Wallet',
    before: html`<nav class="crumbs"><a href="/">Payments</a> / Wallet</nav>`,
  });

export type Pages = Awaited<ReturnType<typeof openPages>>;

/** Creates the pages: the front page, and those that the settings enable. */
export async function openPages(shown: Shown) {
  const assets = await openAssets([
    ...(shown.lab ? labFiles : []),
    ...(shown.sandbox ? ['wallet', 'front'] : []),
    ...(shown.documents ? ['console'] : []),
  ]);
  // Opened on the first request for the documentation, because most processes never get one.
  let docs: Promise<Docs> | undefined;
  const bundled: Readonly<Record<string, (() => Page | Promise<Page>) | false>> = {
    '/lab': shown.lab && (() => labPage(assets, shown)),
    '/wallet': shown.sandbox !== undefined && (() => walletPage(assets)),
    [consolePath]: shown.documents && (() => consolePage(assets, shown)),
  };
  return {
    /** Responds to a GET or HEAD request for a page or for a file that a page loads. Returns false for other paths. */
    async answer(response: ServerResponse, path: string): Promise<boolean> {
      const { req: request } = response;
      if (path === '/') return answerFront(response, assets, shown);
      const build = bundled[path];
      if (build) return sendPage(response, 200, await build());
      // Users who open an API's path in a browser expect GraphiQL or the REST console.
      const ofApi = { '/graphql': shown.lab && '/lab', [restPath]: shown.documents && consolePath }[path];
      if (ofApi && wantsPage(request)) return redirect(response, path, ofApi);
      const bare = path.replace(/\/$/, '');
      if (bare !== path && (bundled[bare] || (shown.documents && bare === docsPath)))
        return redirect(response, path, bare);
      const isList = path === listPath;
      if (shown.documents && (isList || path === docsPath || path.startsWith(`${docsPath}/`))) {
        docs ??= openDocs();
        return answerDocs(response, await docs, isList ? docsPath : path, shown);
      }
      if (path === securityPath && shown.securityContact !== undefined)
        return sendBytes(response, 'text/plain; charset=utf-8', securityText(shown.securityContact));
      if (path.startsWith(assetPath)) return assets.answer(response, path.slice(assetPath.length));
      return false;
    },
    /** Responds to a POST that a page sends to its own server. Returns false for other paths. */
    async answerPost(response: ServerResponse, path: string): Promise<boolean> {
      if (path !== '/wallet/token' || !shown.sandbox) return false;
      await answerWalletToken(response, shown.sandbox);
      return true;
    },
    /** Responds with a page to a browser's request that nothing else handled. Returns false for other clients. */
    async answerWrongPath(response: ServerResponse, path: string): Promise<boolean> {
      return wantsPage(response.req) && sendPage(response, 404, notFoundPage(path, shown));
    },
  };
}

/** Redirects from one path to another with a relative URL, which also works behind a proxy that adds a prefix. */
function redirect(response: ServerResponse, from: string, to: string): true {
  const { search } = new URL(response.req.url ?? '/', 'http://localhost');
  const upwards = '../'.repeat(from.split('/').length - 2);
  response.writeHead(302, { location: `${upwards}${to.slice(1)}${search}` }).end();
  return true;
}

const securityPath = '/.well-known/security.txt';

/** Builds security.txt (RFC 9116). Its expiry date is always 30 days ahead. */
function securityText(contact: string): Buffer {
  const expires = new Date(Date.now() + 30 * 24 * 3_600_000).toISOString();
  return Buffer.from(`Contact: ${contact}\nExpires: ${expires}\nPreferred-Languages: en\n`);
}

function wantsPage({ headers: { accept } }: IncomingMessage): boolean {
  return accept?.includes('text/html') ?? false;
}

/** The path at which programs look for a list of the documentation pages (llmstxt.org). */
const listPath = '/llms.txt';

/**
 * Responds with a page of the documentation: HTML for browsers, Markdown for programs. In the sandbox, replaces the
 * default address in the page with the one in use.
 */
async function answerDocs(response: ServerResponse, docs: Docs, path: string, { sandbox }: Shown): Promise<boolean> {
  const { localPort } = response.req.socket;
  const local = (text: string) => (sandbox ? text.replaceAll('127.0.0.1:4000', `127.0.0.1:${localPort}`) : text);
  const picture = docs.picture(path);
  if (picture) return sendBytes(response, 'image/png', picture);
  const text = wantsPage(response.req) ? undefined : docs.text(path);
  response.setHeader('vary', 'accept');
  if (text !== undefined) return sendBytes(response, 'text/markdown; charset=utf-8', Buffer.from(local(text)));
  const words = new URL(response.req.url ?? '/', 'http://localhost').searchParams.get('q')?.trim();
  const page = path === docsPath && words ? docs.found(words) : docs.page(path);
  if (page) return sendPage(response, 200, { ...page, html: raw(local(String(await page.html))) });
  response.removeHeader('vary');
  return false;
}

async function answerFront(response: ServerResponse, assets: Assets, shown: Shown): Promise<true> {
  const { req: request } = response;
  if (wantsPage(request)) return sendPage(response, 200, frontPage(assets, shown, request.socket.localPort));
  const body = JSON.stringify(Object.fromEntries(frontLinks(shown).map(({ key, path }) => [key, path])));
  return sendBytes(response, jsonType, Buffer.from(body));
}

const jsonType = 'application/json; charset=utf-8';

const tokenMutation = `mutation ($input: CreateClientTokenInput!) {
  createClientToken(input: $input) {
    ... on CreateClientTokenSuccess { token expiresAt }
    ... on UserError { message }
  }
}`;

/**
 * Responds to POST /wallet/token like the small server that every wallet needs. Such a server has the platform's
 * credentials, knows who is signed in, and gets a client token for the wallet through the public API. Here, the user is
 * always the sandbox's sample customer.
 */
async function answerWalletToken(response: ServerResponse, { credentials, payer }: SandboxPlatform): Promise<void> {
  const { clientId, secret } = credentials;
  const { customerId } = await payer();
  const answer = await fetch(`http://127.0.0.1:${response.req.socket.localPort}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      query: tokenMutation,
      variables: {
        input: { boundTo: { customerId }, permissions: ['VIEW', 'TRANSACT'], grants: ['ADD_BENEFICIARIES'] },
      },
    }),
    signal: AbortSignal.timeout(10_000),
  });
  const { data } = (await answer.json()) as { readonly data?: { readonly createClientToken: object } | null };
  const token = data?.createClientToken ?? {};
  sendBytes(response, jsonType, Buffer.from(JSON.stringify(token)), 'token' in token ? 200 : 503);
}
