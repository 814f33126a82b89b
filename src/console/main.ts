import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import './console.css';
import { findOperations } from './find-operations.ts';

// The console of the REST API: its document, in which requests can be tried.

/** What the server has written into the page. */
interface Settings {
  readonly document: string;
  /** The credentials of the local sandbox, which everybody knows. */
  readonly credentials?: { readonly clientId: string; readonly secret: string };
}

const settings = JSON.parse(document.getElementById('settings')?.textContent ?? '{}') as Settings;

const dark = matchMedia('(prefers-color-scheme: dark)');
const setTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', setTheme);
setTheme();

const ui = SwaggerUI({
  dom_id: '#console',
  url: settings.document,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  filter: true,
  // Its own search looks at the names of groups alone.
  plugins: [{ fn: { opsFilter: findOperations } }],
  // Nothing is sent elsewhere to be checked.
  validatorUrl: null,
  onComplete: () => {
    const { credentials } = settings;
    if (credentials) ui.preauthorizeBasic('token', credentials.clientId, credentials.secret);
  },
});
