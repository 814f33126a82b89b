import { html } from 'hono/html';
import type { Assets } from './assets.ts';
import { bundledPage, type Page } from './layout.ts';
import type { Shown } from './shown.ts';

export const consolePath = '/2025-10-13/docs';

const openApiPath = '/2025-10-13/openapi.json';

/** Makes the page of the REST API's console, in which requests can be tried. */
export function consolePage(assets: Assets, { sandbox }: Shown): Page {
  return bundledPage(assets, {
    name: 'console',
    title: 'REST',
    settings: { document: openApiPath, ...(sandbox && { credentials: sandbox.credentials }) },
    before: html`<nav class="back"><a href="/">Payments</a></nav>`,
    otherwise: html`The document of the API is at <a href="${openApiPath}">${openApiPath}</a>.`,
  });
}
