import { html, raw } from 'hono/html';
import type { Assets } from './assets.ts';
import { icon, type Page, plainPage, scriptPolicy } from './layout.ts';
import type { Shown } from './shown.ts';

/** Where the console is. */
export const consolePath = '/2025-10-13/docs';

const openApiPath = '/2025-10-13/openapi.json';

/** Makes the page of the REST API's console, in which requests can be tried. */
export function consolePage(assets: Assets, { sandbox }: Shown): Page {
  const files = assets.of('console');
  if (!files) {
    return plainPage(
      'REST',
      html`<main><h1>The console is not there</h1><p>Its files are made when the project is installed with its optional packages. The document of the API is at <a href="${openApiPath}">${openApiPath}</a>.</p></main>`,
    );
  }
  const settings = { document: openApiPath, ...(sandbox && { credentials: sandbox.credentials }) };
  return {
    html: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>REST · Payments</title>
<link rel="icon" href="${icon}">
${files.styles.map((style) => html`<link rel="stylesheet" href="${style}">`)}
<script type="application/json" id="settings">${raw(JSON.stringify(settings).replaceAll('<', '\\u003c'))}</script>
${files.scripts.map((script) => html`<script type="module" src="${script}"></script>`)}
</head>
<body>
<nav class="back"><a href="/">Payments</a></nav>
<div id="console"></div>
<noscript>The console needs JavaScript. The document of the API is at <a href="${openApiPath}">${openApiPath}</a>.</noscript>
</body>
</html>`,
    policy: scriptPolicy,
  };
}
