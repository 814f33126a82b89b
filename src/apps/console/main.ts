import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import '../pages.css';
import './console.css';
import { makeAccessible, withoutNestedLinks } from './accessible.ts';
import { type ExampleDocument, fillExamples, findIds } from './fill-examples.ts';
import { type SearchedDocument, searchIn, withoutSearch } from './search.ts';

// The console of the REST API: it shows the OpenAPI document and sends its requests.

/** The settings that the server has written into the page. */
interface Settings {
  readonly document: string;
  /** The credentials of the local sandbox, which are publicly known. */
  readonly credentials?: { readonly clientId: string; readonly secret: string };
  /** The ids of its customer who can pay. */
  readonly payer?: Readonly<Record<string, string>>;
}

const settings = JSON.parse(document.getElementById('settings')?.textContent ?? '{}') as Settings;

const dark = matchMedia('(prefers-color-scheme: dark)');
const setTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', setTheme);
setTheme();

/** Requests JSON from the service, with the sandbox's token if known; undefined on failure or abort. */
async function get(url: string, signal: AbortSignal | null = null): Promise<unknown> {
  const { credentials } = settings;
  const headers = credentials && { authorization: `Basic ${btoa(`${credentials.clientId}:${credentials.secret}`)}` };
  const answer = fetch(url, { ...(headers && { headers }), signal });
  return answer.then((response) => (response.ok ? response.json() : undefined)).catch(() => undefined);
}

// The service's own document, whose structure a test checks. Its server address is relative to that of the document.
const original = (await get(settings.document)) as ExampleDocument & SearchedDocument;
const documentUrl = new URL(settings.document, location.href);
original.servers = original.servers.map(({ url }) => ({ url: new URL(url, documentUrl).href }));

/** Puts the sandbox's current ids into the examples, including those that the last request created, such as a quote. */
async function filled(signal?: AbortSignal): Promise<ExampleDocument & SearchedDocument> {
  if (!settings.credentials) return original;
  const base = settings.document.replace('/openapi.json', '');
  return fillExamples(original, await findIds(original, (path) => get(`${base}${path}`, signal), settings.payer));
}

const root = document.getElementById('console');
if (root) {
  makeAccessible(root);
  searchIn(root, original);
}

let lastMethod = '';

/** Replaces the document. Bodies that the user has not edited become the new examples. */
function update(document: ExampleDocument & SearchedDocument): void {
  const { hasUserEditedBody, activeExamplesMember } = ui.oas3Selectors;
  const bodies = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { requestBody }]) => {
      const { examples } = requestBody?.content['application/json'] ?? {};
      const example = examples?.[activeExamplesMember(path, method, 'requestBody', 'requestBody')];
      if (!example || hasUserEditedBody(path, method)) return [];
      return [{ pathMethod: [path, method], value: JSON.stringify(example.value, null, 2) }];
    }),
  );
  ui.specActions.updateJsonSpec(document);
  for (const body of bodies) ui.oas3Actions.setRequestBodyValue(body);
}

const ui = SwaggerUI({
  dom_id: '#console',
  // Waits for the ids, but only briefly, because an open operation keeps the examples it was opened with.
  spec: await filled(AbortSignal.timeout(5_000)),
  requestInterceptor: (request: { readonly method: string; credentials?: RequestCredentials }) => {
    lastMethod = request.method;
    // A browser that may add credentials responds to a 401 with its own login prompt, and does not show the response.
    request.credentials = 'omit';
    return request;
  },
  responseInterceptor: (answer: { readonly ok: boolean }) => {
    if (answer.ok && lastMethod !== 'GET') void filled().then(update);
    return answer;
  },
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  filter: true,
  plugins: [withoutSearch, withoutNestedLinks],
  // Sends nothing to an external validator.
  validatorUrl: null,
  onComplete: () => {
    const { credentials } = settings;
    if (credentials) ui.preauthorizeBasic('token', credentials.clientId, credentials.secret);
  },
});
