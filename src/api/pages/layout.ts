import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { html, raw } from 'hono/html';
import type { Assets } from './assets.ts';

/** A part of a page, with its texts escaped. */
export type Html = ReturnType<typeof html>;

export interface Page {
  readonly html: Html;
  readonly policy: string;
}

/** Builds a page without scripts that loads only its own pictures: a title, its contents, and the common style. */
export function plainPage(title: string, contents: Html): Page {
  return {
    html: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${icon}">
<style>${raw(style)}</style>
</head>
<body>
${contents}
</body>
</html>`,
    policy: `default-src 'none'; style-src '${styleHash}'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  };
}

/** The parts of a page whose scripts `npm run pages` has bundled. */
interface Bundled {
  /** The name of the bundle, and of the element that it fills. */
  readonly name: 'lab' | 'wallet' | 'console';
  readonly title: string;
  /** The input of its script. */
  readonly settings?: object;
  /** The contents before its element. */
  readonly before?: Html;
  /** The alternative for browsers without scripts, or if there is no bundle. */
  readonly otherwise?: Html;
}

/** Builds a page that runs its own files, or reports that they are missing. */
export function bundledPage(assets: Assets, { name, title, settings, before, otherwise }: Bundled): Page {
  const files = assets.of(name);
  if (!files) {
    return plainPage(
      title,
      html`<main><h1>The ${name} is not available</h1><p>Its files are built when the project is installed with its optional packages. To build them now, run <code>npm run pages</code> and start the service again. ${otherwise}</p></main>`,
    );
  }
  const json = settings && JSON.stringify(settings).replaceAll('<', '\\u003c');
  return {
    html: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Payments</title>
<link rel="icon" href="${icon}">
${files.styles.map((style) => html`<link rel="stylesheet" href="${style}">`)}
${json && html`<script type="application/json" id="settings">${raw(json)}</script>`}
${files.scripts.map((script) => html`<script type="module" src="${script}"></script>`)}
</head>
<body>
${before}
<div id="${name}"></div>
<noscript>The ${name} needs JavaScript. ${otherwise}</noscript>
</body>
</html>`,
    policy: scriptPolicy(name),
  };
}

/** Builds the policy of a page that runs its own files: it loads nothing else, and connects only to this server. */
const scriptPolicy = (name: Bundled['name']) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    // Editors have workers and fonts, and write their colours into the page.
    ...(name === 'wallet'
      ? ["style-src 'self'", 'img-src data:']
      : ["worker-src 'self'", "style-src 'self' 'unsafe-inline'", "font-src 'self'", "img-src 'self' data:"]),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** An address of the service, in an attribute or in the settings of a script. Quotation marks in texts are escaped. */
const ownAddress = /( (?:href|src|action)=|"\w+":)"\/(?!\/)/g;

/**
 * Sends a page. Its addresses become relative to its path, so that it also works behind a proxy that serves it under a
 * prefix of its own.
 */
export async function sendPage(response: ServerResponse, status: number, { html, policy }: Page): Promise<void> {
  const [path = '/'] = (response.req.url ?? '/').split('?', 1);
  const upwards = '../'.repeat(path.split('/').length - 2) || './';
  const body = Buffer.from(String(await html).replaceAll(ownAddress, `$1"${upwards}`));
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-length': body.length,
      'content-security-policy': policy,
    })
    .end(response.req.method === 'HEAD' ? undefined : body);
}

/** The icon of the pages in browser tabs: a coin. */
export const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='7' fill='%230b6bcb'/%3E%3Cpath d='M5 6h6M5 10h6' stroke='white' stroke-width='1.6'/%3E%3C/svg%3E";

const style = `
:root { --text: #1b1f24; --quiet: #57606a; --back: #fff; --box: #f6f8fa; --line: #d0d7de; --link: #0550ae; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --quiet: #9da7b3; --back: #0d1117; --box: #161b22; --line: #30363d; --link: #79c0ff; } }
* { box-sizing: border-box; }
body { font: 16px/1.6 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; color: var(--text); background: var(--back); overflow-wrap: break-word; }
a { color: var(--link); } h1 { line-height: 1.25; margin: 0 0 .5rem; } h2 { margin: 2rem 0 .5rem; font-size: 1.25rem; }
p { margin: .5rem 0; } .quiet { color: var(--quiet); }
code, pre { font: .875em/1.5 ui-monospace, monospace; background: var(--box); border-radius: 4px; }
code { padding: .1em .3em; } pre { padding: .75rem; overflow-x: auto; border: 1px solid var(--line); } pre code { padding: 0; background: none; font-size: 1em; }
img { max-width: 100%; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 1rem 0; } th { text-align: left; }
td, th { border: 1px solid var(--line); padding: .3rem .6rem; vertical-align: top; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); gap: .75rem; list-style: none; padding: 0; margin: 1rem 0; }
.cards a { display: block; height: 100%; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--box); color: var(--text); text-decoration: none; }
.cards a:hover, .cards a:focus-visible { border-color: var(--link); } .cards strong { display: block; color: var(--link); }
blockquote { margin: 1rem 0; padding: 0 1rem; border-left: 3px solid var(--line); color: var(--quiet); }
nav.crumbs, .contents { margin-bottom: 1.5rem; } nav.beside { display: flex; justify-content: space-between; gap: 1rem; margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
input, button { font: inherit; min-height: 2.5rem; padding: 0 .75rem; color: var(--text); background: var(--back); border: 1px solid var(--quiet); border-radius: 8px; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
`;
const styleHash = `sha256-${hash('sha256', style, 'base64')}`;

/** The parts of the pages that the settings allow. */
export interface Shown {
  /** The platform whose credentials are publicly known: in the local sandbox only. */
  readonly sandbox: SandboxPlatform | undefined;
  readonly lab: boolean;
  /** Whether strangers may read the OpenAPI document, its console and the documentation. */
  readonly documents: boolean;
  readonly metricsUrl: string | undefined;
  /** Where to report a vulnerability, as a URI. */
  readonly securityContact: string | undefined;
}

export interface SandboxPlatform {
  readonly credentials: { readonly clientId: string; readonly secret: string };
  /** Finds a customer who can pay now. Others may have spent the money of the last one, or deleted its accounts. */
  readonly payer: () => Promise<SandboxPayer>;
}

/** A sample customer, whose wallet is shown, and the two accounts of a first payment. */
export interface SandboxPayer {
  readonly customerId: string;
  readonly sourceAccountId: string;
  readonly destinationAccountId: string;
}
