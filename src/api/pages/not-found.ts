import { html } from 'hono/html';
import { frontLinks } from './front.ts';
import { type Page, plainPage } from './layout.ts';
import type { Shown } from './shown.ts';

/** Makes the page for an unknown path, which names the pages that exist. */
export function notFoundPage(path: string, shown: Shown): Page {
  const pages = frontLinks(shown).filter(({ kind }) => kind === 'PAGE');
  return plainPage(
    'Nothing here',
    html`<main>
<h1>There is nothing here</h1>
<p>This service has nothing at <code>${path}</code>.</p>
<p><a href="/">Go to the front page</a>${pages.map(({ path: to, name }) => html`, or to <a href="${to}">${name}</a>`)}.</p>
</main>`,
  );
}
