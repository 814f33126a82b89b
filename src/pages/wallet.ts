import { html } from 'hono/html';
import type { Assets } from './assets.ts';
import { icon, type Page, plainPage } from './layout.ts';

/** Makes the page of the wallet, an app to copy (src/wallet), which `npm run pages` has bundled. */
export function walletPage(assets: Assets): Page {
  const wallet = assets.of('wallet');
  if (!wallet) {
    return plainPage(
      'Wallet',
      html`<main><h1>The wallet is not there</h1><p>Its files are made when the project is installed. To make them now, run <code>npm run pages</code> and start the service again.</p></main>`,
    );
  }
  return {
    html: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Wallet · Payments</title>
<link rel="icon" href="${icon}">
${wallet.styles.map((style) => html`<link rel="stylesheet" href="${style}">`)}
${wallet.scripts.map((script) => html`<script type="module" src="${script}"></script>`)}
</head>
<body>
<div id="wallet"></div>
<noscript>The wallet needs JavaScript.</noscript>
</body>
</html>`,
    policy: [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      'img-src data:',
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  };
}
