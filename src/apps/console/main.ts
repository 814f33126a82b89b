import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import '../pages.css';
import './console.css';
import { makeAccessible, replacedComponents } from './accessible.ts';
import { type ExampleDocument, fillExamples, findIds } from './fill-examples.ts';
import { opsFilter } from './ops-filter.ts';

// The REST API's console, which shows the OpenAPI document and sends the requests it describes.

/** The settings that the server has written into the page. */
interface Settings {
  readonly document: string;
  /** The credentials of the local sandbox, which are publicly known. */
  readonly credentials?: { readonly clientId: string; readonly secret: string };
  /** The ids of a sandbox customer who can pay, by name. */
  readonly payer?: Readonly<Record<string, string>>;
}

const settings = JSON.parse(document.getElementById('settings')?.textContent ?? '{}') as Settings;

const dark = matchMedia('(prefers-color-scheme: dark)');
const setTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', setTheme);
setTheme();

// The service's own document, whose structure a test checks. Its server address is relative to the document's URL.
const original = (await (await fetch(settings.document)).json()) as ExampleDocument;
const documentUrl = new URL(settings.document, location.href);
original.servers = original.servers.map(({ url }) => ({ url: new URL(url, documentUrl).href }));

/** Puts the sandbox's own ids into the examples, including those of the newest quotes and payments. */
async function filled(): Promise<ExampleDocument> {
  const { credentials, payer = {} } = settings;
  if (!credentials) return original;
  const headers = { authorization: `Basic ${btoa(`${credentials.clientId}:${credentials.secret}`)}` };
  // Waits for the ids, but only briefly, because the console shows nothing until then.
  const signal = AbortSignal.timeout(5_000);
  const get = (path: string) =>
    fetch(settings.document.replace('/openapi.json', path), { headers, signal })
      .then((response) => (response.ok ? response.text() : ''))
      .catch(() => '');
  return fillExamples(original, await findIds(original, get, payer));
}

const root = document.getElementById('console');
if (root) makeAccessible(root);

const ui = SwaggerUI({
  dom_id: '#console',
  spec: await filled(),
  requestInterceptor: (request: { credentials?: RequestCredentials }) => {
    // Otherwise the browser would respond to a 401 with its own login prompt instead of showing the response.
    request.credentials = 'omit';
    return request;
  },
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  filter: true,
  plugins: [{ fn: { opsFilter } }, replacedComponents],
  // Sends nothing to an external validator.
  validatorUrl: null,
  onComplete: () => {
    const { credentials } = settings;
    if (credentials) ui.preauthorizeBasic('token', credentials.clientId, credentials.secret);
  },
});
