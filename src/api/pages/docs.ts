import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { html, raw } from 'hono/html';
import MarkdownIt from 'markdown-it';
import { type Page, plainPage } from './layout.ts';

/** Where the documentation is shown: each file below here at its path in the repository, so that links between them work. */
export const docsPath = '/docs';

const root = path.resolve(import.meta.dirname, '../../..');

/** The files of the repository that are documentation, or that it refers to. */
const documented = [
  ...['*.md', 'docs/**/*', 'bench/*.md', 'src/**/*.md', 'schema.graphql', 'LICENSE', 'Dockerfile'],
  // By their endings: deploy/compose/secrets holds passwords and keys, in files without one.
  'deploy/**/*.{json,service,sh,yaml,yml}',
];

/** The documentation: the files of the repository as pages. */
export interface Docs {
  /** Makes the page of a file, or the list of all. Undefined where there is none at this path. */
  page(requested: string): Promise<Page | undefined>;
  /** Reads a picture (PNG) that a page shows. Undefined where there is none at this path. */
  picture(requested: string): Promise<Buffer | undefined>;
}

const isPicture = (file: string) => file.endsWith('.png');

/** Finds the files of the documentation. Each is read when it is first asked for. */
export async function openDocs(): Promise<Docs> {
  const files: string[] = [];
  for await (const file of glob(documented, { cwd: root, withFileTypes: true })) {
    if (file.isFile()) files.push(path.relative(root, path.join(file.parentPath, file.name)).replaceAll(path.sep, '/'));
  }
  files.sort();
  const texts = files.filter((file) => !isPicture(file));
  const pictures = files.filter(isPicture);
  const fileAt = (requested: string) => requested.slice(docsPath.length + 1);
  const pages = once((file: string) => (file === '' ? listPage(texts) : filePage(file)));
  const contents = once((file: string) => readFile(path.join(root, file)));
  return {
    async page(requested) {
      const file = fileAt(requested);
      return file === '' || texts.includes(file) ? pages(file) : undefined;
    },
    async picture(requested) {
      const file = fileAt(requested);
      return pictures.includes(file) ? contents(file) : undefined;
    },
  };
}

/** Makes a function that creates each value once and caches it. */
function once<Thing>(make: (name: string) => Promise<Thing>): (name: string) => Promise<Thing> {
  const made = new Map<string, Promise<Thing>>();
  return (name) => {
    const thing = made.get(name) ?? make(name);
    made.set(name, thing);
    return thing;
  };
}

async function filePage(file: string): Promise<Page> {
  const text = await readFile(path.join(root, file), 'utf8');
  const isMarkdown = file.endsWith('.md');
  const contents = isMarkdown ? raw(markdown.render(text)) : html`<h1>${file}</h1><pre><code>${text}</code></pre>`;
  return plainPage(
    isMarkdown ? titleOf(text, file) : file,
    html`<nav class="crumbs"><a href="/">Payments</a> / <a href="${docsPath}">Docs</a> / ${file}</nav><main>${contents}</main>`,
  );
}

/** The order of the first pages, as a reader looks for them. */
const first = [
  'README.md',
  'docs/guides/first-five-minutes.md',
  'docs/guides/server.md',
  'docs/guides/web.md',
  'docs/guides/concepts.md',
  'docs/streams.md',
  'docs/rest.md',
  'src/api/webhooks/README.md',
  'src/rails/sandbox/README.md',
  'docs/command-line.md',
];

async function listPage(files: readonly string[]): Promise<Page> {
  const pages = files.filter((file) => file.endsWith('.md'));
  const ordered = [...first, ...pages.filter((file) => !first.includes(file))].filter((file) => files.includes(file));
  const titled = await Promise.all(
    ordered.map(async (file) => ({ file, title: titleOf(await readFile(path.join(root, file), 'utf8'), file) })),
  );
  const others = files.filter((file) => !file.endsWith('.md'));
  return plainPage(
    'Docs',
    html`<nav class="crumbs"><a href="/">Payments</a> / Docs</nav><main><h1>Docs</h1>
<ul class="cards">${titled.map(({ file, title }) => html`<li><a href="${docsPath}/${file}"><strong>${title}</strong>${file}</a></li>`)}</ul>
<h2>Files that they refer to</h2>
<ul>${others.map((file) => html`<li><a href="${docsPath}/${file}">${file}</a></li>`)}</ul></main>`,
  );
}

/** Returns the first heading of a page. */
function titleOf(text: string, file: string): string {
  return /^# +(.+)$/m.exec(text)?.[1] ?? file;
}

/** Renders Markdown without HTML of its own: a tag in a text is shown as text. Headings have the anchors that GitHub gives. */
const markdown = new MarkdownIt({ html: false });
markdown.renderer.rules.heading_open = (tokens, index, options, _env, renderer) => {
  const text = tokens[index + 1]?.children?.map(({ content }) => content).join('') ?? '';
  tokens[index]?.attrSet('id', anchorOf(text));
  return renderer.renderToken(tokens, index, options);
};

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}
