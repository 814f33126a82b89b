import { html } from 'hono/html';
import type { Assets } from './assets.ts';
import { docsPath } from './docs.ts';
import { type Page, plainPage, type Shown } from './layout.ts';

/** The root of the REST API. */
export const restPath = '/2025-10-13';
export const consolePath = `${restPath}/docs`;

/**
 * Returns the links to everything that runs here and may be shown: human-readable pages, data that a browser can show,
 * and APIs. `key` is the name of a link in the JSON form of the front page.
 */
export function frontLinks({ sandbox, lab, documents, metricsUrl }: Shown) {
  const isSandbox = sandbox !== undefined;
  const all = [
    [lab, 'PAGE', 'lab', '/lab', 'Lab', 'Make a payment step by step in GraphiQL.'],
    [isSandbox, 'PAGE', 'wallet', '/wallet', 'Wallet', 'Pay as a customer would, in an example app.'],
    [documents, 'PAGE', 'rest_console', consolePath, 'REST console', 'Explore and try every REST endpoint.'],
    [documents, 'PAGE', 'docs', docsPath, 'Docs', 'How to start, and how everything works.'],
    [true, 'API', 'graphql', '/graphql', 'GraphQL', 'Queries, mutations and streams, over HTTP and WebSocket.'],
    [true, 'API', 'rest', restPath, 'REST', 'The same domain, for servers.'],
    [documents, 'DATA', 'openapi', `${restPath}/openapi.json`, 'OpenAPI', 'The REST API in machine-readable form.'],
    [true, 'DATA', 'health', '/health/ready', 'Health', 'Whether this instance can do its work.'],
    [metricsUrl !== undefined, 'DATA', 'metrics', `${metricsUrl}/metrics`, 'Metrics', 'Figures for Prometheus.'],
  ] as const;
  return all.flatMap(([isShown, kind, key, path, name, about]) => (isShown ? [{ kind, key, path, name, about }] : []));
}

/** The payment statuses, in the order in which a payment may reach them. */
const statuses = ['CREATED', 'PENDING', 'PROCESSING', 'COMPLETED', 'REFUNDED', 'FAILED', 'REJECTED', 'EXPIRED'];

/** Builds the front page: what runs here (on this port), how to sign in, and where to go. */
export function frontPage(assets: Assets, shown: Shown, port: number | undefined): Page {
  const links = frontLinks(shown);
  const contents = html`<header>
<h1>Payments</h1>
<p>A service that moves money for platforms and their customers: quotes, transfers, accounts and live status streams. It has one GraphQL API, and a REST API over the same domain.</p>
</header>
<main>
<ul class="cards">${links
    .filter(({ kind }) => kind === 'PAGE')
    .map(({ path, name, about }) => html`<li><a href="${path}"><strong>${name}</strong></a>${about}</li>`)}</ul>
${assets.of('front') && sandboxNow(shown)}
${waysIn(shown)}
${firstMinutes(shown)}
${credentials(shown, port)}
<h2>Endpoints</h2>
<table>${links
    .filter(({ kind }) => kind !== 'PAGE')
    .map(
      ({ path, name, about, kind }) =>
        html`<tr><th scope="row">${name}</th><td>${kind === 'DATA' ? html`<a href="${path}">${path}</a>` : html`<code>${path}</code>`}<br>${about}</td></tr>`,
    )}</table>
</main>`;
  return plainPage('Payments', contents, shown.sandbox && { assets, settings: { sandbox: shown.sandbox.credentials } });
}

/** The sandbox's payment counts by status and the latest changes, both filled in by the page's script. */
function sandboxNow({ sandbox }: Shown) {
  if (!sandbox) return '';
  return html`<section aria-labelledby="now">
<h2 id="now">The sandbox now <small id="connection" role="status"></small></h2>
<noscript>This part needs JavaScript.</noscript>
<ul class="statuses" id="statuses" aria-busy="true">${statuses.map((status) => html`<li class="quiet" data-status="${status}"><strong>0</strong>${status}</li>`)}</ul>
<ol class="rows" id="moves" aria-label="Payments that have moved"><li class="quiet" id="no-moves">No payment has moved since you opened this page. Make one in the wallet or the lab.</li></ol>
</section>`;
}

/** Where each kind of reader starts, with the documentation pages by name. */
const starts: Readonly<Record<string, readonly [about: string, pages: Readonly<Record<string, string>>]>> = {
  Frontend: [
    'A web app that shows payments as they move.',
    {
      Guide: 'docs/guides/web.md',
      'Client package': 'src/apps/client/README.md',
      'Example app': 'src/apps/wallet/README.md',
    },
  ],
  Mobile: [
    'An app that goes offline and misses nothing.',
    { Guide: 'docs/mobile.md', Screens: 'docs/screens.md', Errors: 'docs/guides/errors.md' },
  ],
  Server: [
    'A backend that gets quotes, pays and receives webhooks.',
    { Guide: 'docs/guides/server.md', REST: 'docs/rest.md', Webhooks: 'src/api/webhooks/README.md' },
  ],
  Operator: [
    'The service itself: its settings, its database, its alerts.',
    { Guide: 'docs/operating.md', Settings: 'docs/settings.md', Production: 'docs/production.md' },
  ],
};

function waysIn({ documents }: Shown) {
  if (!documents) return '';
  return html`<section aria-labelledby="start">
<h2 id="start">Where to start</h2>
<ul class="cards">${Object.entries(starts).map(
    ([reader, [about, pages]]) =>
      html`<li><strong>${reader}</strong>${about}<span>${Object.entries(pages).map(([name, path]) => html`<a href="${docsPath}/${path}" aria-label="${name}: ${reader}">${name}</a> `)}</span></li>`,
  )}</ul>
</section>`;
}

/** Guides a newcomer through the service: a payment, its events, a network outage, a failure and its reason. */
function firstMinutes({ sandbox, lab, documents }: Shown) {
  if (!sandbox || !lab) return '';
  return html`<section aria-labelledby="first">
<h2 id="first">The first five minutes</h2>
<ol>
<li>Pay: open the <a href="/wallet">wallet</a>, enter an amount, get a quote, and pay it.</li>
<li>Watch: open the <a href="/lab">lab</a> beside it. Its events show the payment.</li>
<li>In the wallet, cut the network with the button at the top.</li>
<li>Fail on purpose: in the lab, open the tab <b>Fail on purpose</b>, and press its button ▶. Then restore the wallet's network: the wallet shows the payment that it missed.</li>
<li>Read why: click the event FAILED in the lab. The tab <b>Timeline</b> opens: press its button ▶.</li>
<li>Take the request with you: press “Copy as curl”.</li>
</ol>
${documents ? html`<p>The docs show the same steps <a href="${docsPath}/docs/guides/first-five-minutes.md">with pictures</a>.</p>` : ''}
</section>`;
}

function credentials({ sandbox }: Shown, port: number | undefined) {
  if (!sandbox) return '';
  const { clientId, secret } = sandbox.credentials;
  const query = '{"query": "{ accounts(first: 3) { edges { node { id currency { code } } } } }"}';
  return html`<h2>Credentials of the sandbox</h2>
<p>clientId <code>${clientId}</code>, secret <code>${secret}</code>. They exist only here, on this machine. No real money moves: banks and wallets are simulated.</p>
<pre tabindex="0"><code>curl -s -u ${clientId}:${secret} http://127.0.0.1:${port}/graphql \\
  -H 'content-type: application/json' \\
  -d '${query}'</code></pre>`;
}
