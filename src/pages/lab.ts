import { html, raw } from 'hono/html';
import type { Assets } from './assets.ts';
import { docsPath } from './docs.ts';
import { icon, type Page, plainPage, scriptPolicy } from './layout.ts';
import type { Shown } from './shown.ts';

/** What the lab loads: its page, and its workers. */
export const labFiles = ['lab', 'editor.worker', 'json.worker', 'graphql.worker'] as const;

/**
 * Makes the page of the lab: GraphiQL, which `npm run pages` has bundled. Its policy lets it run its own files, and talk to
 * this server alone.
 */
export function labPage(assets: Assets, { sandbox, documents }: Shown): Page {
  const lab = assets.of('lab');
  if (!lab) {
    return plainPage(
      'Lab',
      html`<main><h1>The lab is not there</h1><p>Its files are made when the project is installed. To make them now, run <code>npm run pages</code> and start the service again.</p></main>`,
    );
  }
  const worker = (name: string) => assets.of(`${name}.worker`)?.scripts[0];
  const settings = {
    ...(sandbox && {
      sandbox: {
        ...sandbox.credentials,
        sourceAccountId: sandbox.sourceAccountId,
        destinationAccountId: sandbox.destinationAccountId,
      },
    }),
    ...(documents && { docs: docsPath }),
    workers: { editor: worker('editor'), json: worker('json'), graphql: worker('graphql') },
  };
  return {
    html: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Lab · Payments</title>
<link rel="icon" href="${icon}">
${lab.styles.map((style) => html`<link rel="stylesheet" href="${style}">`)}
<script type="application/json" id="settings">${raw(JSON.stringify(settings).replaceAll('<', '\\u003c'))}</script>
${lab.scripts.map((script) => html`<script type="module" src="${script}"></script>`)}
</head>
<body>
<div id="lab"></div>
<noscript>The lab needs JavaScript.</noscript>
</body>
</html>`,
    policy: scriptPolicy,
  };
}
