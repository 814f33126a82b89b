import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { html, raw } from 'hono/html';
import { type Assets, type PageFiles, sendBytes } from './assets.ts';

/** A fragment of a page, with its values escaped. */
export type Html = ReturnType<typeof html>;

export interface Page {
  readonly html: Html;
  readonly policy: string;
}

/** A plain page's script: the front page's bundle and settings, or source code. The page is readable without it. */
type Script = { readonly assets: Assets; readonly settings: object } | string;

/** Builds a page from its contents and the common style. The page loads only pictures and the front page's script. */
export function plainPage(title: string, contents: Html, script: Script = ''): Page {
  const files = typeof script === 'object' && script.assets.of('front');
  const written = typeof script === 'string' && script !== '';
  const sources = files ? "script-src 'self'; connect-src 'self'; " : written ? `script-src '${hashOf(script)}'; ` : '';
  return {
    html: document(
      title,
      html`<style>${raw(style)}</style>${files && scriptsOf(files, script.settings)}${written && html`<script type="module">${raw(script)}</script>`}`,
      html`<body class="page">
${contents}
</body>`,
    ),
    policy: `default-src 'none'; style-src '${hashOf(style)}'; img-src 'self' data:; ${sources}base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  };
}

const hashOf = (text: string) => `sha256-${hash('sha256', text, 'base64')}`;

function scriptsOf({ scripts }: PageFiles, settings?: object) {
  const json = settings && JSON.stringify(settings).replaceAll('<', '\\u003c');
  return html`${json && html`<script type="application/json" id="settings">${raw(json)}</script>`}
${scripts.map((script) => html`<script type="module" src="${script}"></script>`)}`;
}

const document = (title: string, head: Html, body: Html) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${icon}">
${head}
</head>
${body}
</html>`;

/** The parts of a page whose scripts are bundled by `npm run pages`. */
interface Bundled {
  /** The name of the bundle and of the element that it fills. */
  readonly name: 'lab' | 'wallet' | 'console';
  readonly title: string;
  readonly settings?: object;
  readonly before?: Html;
  /** What to show in browsers without scripts, or if there is no bundle. */
  readonly otherwise?: Html;
}

/** Builds a page that runs its bundled files, or one that says that they are missing. */
export function bundledPage(assets: Assets, { name, title, settings, before, otherwise }: Bundled): Page {
  const files = assets.of(name);
  if (!files) {
    return plainPage(
      title,
      html`<main><h1>The ${name} is not available</h1><p>Its files are built when the project is installed with its optional packages. To build them now, run <code>npm run pages</code> and start the service again. ${otherwise}</p></main>`,
    );
  }
  return {
    html: document(
      `${title} · Payments`,
      html`${files.styles.map((style) => html`<link rel="stylesheet" href="${style}">`)}
${scriptsOf(files, settings)}`,
      html`<body class="${name === 'wallet' ? 'page' : name}">
${before}
<div id="${name}"></div>
<noscript>The ${name} needs JavaScript. ${otherwise}</noscript>
</body>`,
    ),
    policy: scriptPolicy(name),
  };
}

/** Builds the content security policy for a page that loads only its own files and connects only to this server. */
const scriptPolicy = (name: Bundled['name']) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    // Editors load workers and fonts, and set colors with inline styles.
    ...(name === 'wallet'
      ? ["style-src 'self'", 'img-src data:']
      : ["worker-src 'self'", "style-src 'self' 'unsafe-inline'", "font-src 'self'", "img-src 'self' data:"]),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Matches the service's addresses in attributes and script settings, but not in text, where quotes are escaped. */
const ownAddress = /( (?:href|src|action)=|"\w+":)"\/(?!\/)/g;

/**
 * Sends a page, and returns true. Makes the URLs in the page relative, so that they work even behind a proxy that adds
 * a prefix.
 */
export async function sendPage(response: ServerResponse, status: number, { html, policy }: Page): Promise<true> {
  const [path = '/'] = (response.req.url ?? '/').split('?', 1);
  const upwards = '../'.repeat(path.split('/').length - 2) || './';
  const body = Buffer.from(String(await html).replaceAll(ownAddress, `$1"${upwards}`));
  response.setHeader('content-security-policy', policy);
  return sendBytes(response, 'text/html; charset=utf-8', body, status);
}

/** The pages' icon in browser tabs: a coin. */
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='7' fill='%230b6bcb'/%3E%3Cpath d='M5 6h6M5 10h6' stroke='white' stroke-width='1.6'/%3E%3C/svg%3E";

/** The style sheet that all pages share. Bundled pages have it in their bundles. */
const style = readFileSync(path.resolve(import.meta.dirname, '../../apps/pages.css'), 'utf8');

/** What the settings allow the pages to show. */
export interface Shown {
  /** The local sandbox's platform, whose credentials are publicly known; undefined elsewhere. */
  readonly sandbox: SandboxPlatform | undefined;
  readonly lab: boolean;
  /** Whether the OpenAPI document, the REST console and the documentation are public. */
  readonly documents: boolean;
  readonly metricsUrl: string | undefined;
  /** Where to report a vulnerability, as a URI. */
  readonly securityContact: string | undefined;
}

export interface SandboxPlatform {
  readonly credentials: { readonly clientId: string; readonly secret: string };
  /** Finds a customer who can pay now. One found earlier may no longer have the money or the accounts. */
  readonly payer: () => Promise<SandboxPayer>;
}

/** A sample customer whose wallet can be opened, and the two accounts for a first payment. */
export interface SandboxPayer {
  readonly customerId: string;
  readonly sourceAccountId: string;
  readonly destinationAccountId: string;
}
