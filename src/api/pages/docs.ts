import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { html, raw } from 'hono/html';
import MarkdownIt, { type Token } from 'markdown-it';
import { type Html, type Page, plainPage } from './layout.ts';

/** The root of the documentation: each file is shown below it at its repository path, so that links work. */
export const docsPath = '/docs';

const root = path.resolve(import.meta.dirname, '../../..');

/** The repository's documentation and the files that it refers to, as glob patterns. */
const documented = [
  ...['*.md', 'docs/**/*', 'bench/*.md', 'src/**/*.md', 'schema.graphql', 'LICENSE', 'Dockerfile'],
  // By extension, since deploy/compose/secrets holds passwords and keys in files without one.
  'deploy/**/*.{json,service,sh,yaml,yml}',
];

export type Docs = Awaited<ReturnType<typeof openDocs>>;

/** The pages by audience, in reading order, each with a summary. Pages not listed come last. */
const readers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Try it': {
    'README.md': 'what the service is, how to start it, and which API to choose',
    'docs/guides/first-five-minutes.md': 'pay in an app, watch it, lose the network, and find out why a payment failed',
    'docs/guides/concepts.md': 'customers, accounts, quotes, payments and events, and how they belong together',
    'docs/guides/glossary.md': 'the words of these pages',
  },
  'Build an app': {
    'docs/guides/web.md': 'a program that quotes, pays and follows the payment',
    'docs/mobile.md': 'payments on a phone, with Apollo Kotlin and Apollo iOS',
    'docs/guides/money.md': 'how to read, show and send amounts and rates',
    'docs/guides/errors.md': 'where errors are in a response, and which to retry',
    'docs/lists.md': 'which rows a list contains, in which order, page by page',
    'docs/streams.md': 'how an app follows changes and misses none',
    'docs/guides/caching.md': 'how a client’s cache stays correct beside streams and mutations',
    'docs/screens.md': 'the requests to copy for balances, payees, quotes, receipts and support',
    'docs/trusted-documents.md': 'how to restrict your tokens to the documents of your app',
    'src/apps/client/README.md': 'sockets, tokens, hooks and cache settings for an app',
    'src/apps/wallet/README.md': 'an example app with React and Apollo Client',
    'src/apps/lab/README.md': 'what the lab adds to GraphiQL',
  },
  'Build a server': {
    'docs/guides/server.md': 'a program that pays, and receives a webhook',
    'docs/guides/keys.md': 'how to limit a token that you give to an app, a colleague or an agent',
    'docs/rest.md': 'how REST differs from GraphQL',
    'src/api/webhooks/README.md': 'how webhooks are signed, retried and repeated',
    'docs/accounts.md': 'the fields and formats of every kind of account',
    'docs/limits.md': 'how many requests, sockets and streams are allowed',
    'src/rails/sandbox/README.md': 'how to make payments fail, wait or return',
    'docs/command-line.md': 'commands that show events, forward webhooks and trigger payments',
    'docs/interface-specification.md': 'the contract of the REST API',
    'docs/compatibility.md': 'which changes your code should be prepared for',
  },
  'Operate the service': {
    'docs/operating.md': 'configure, upgrade, back up and watch an installation',
    'docs/settings.md': 'every environment variable',
    'docs/production.md': 'from a new machine to two instances behind a load balancer',
    'docs/night.md': 'what to do when an alert fires',
    'docs/growing.md': 'how much one database carries, and what to do beyond that',
    'docs/database-roles.md': 'what each login of the database may do',
    'SECURITY.md': 'what is promised, and how to report a vulnerability',
  },
  'Connect a bank or a provider': {
    'docs/rails.md': 'how to connect a rail, and what to do when it and the ledger disagree',
    'src/rails/README.md': 'how to write a rail, method by method',
  },
  'Change the code': {
    'ARCHITECTURE.md': 'the folders, the imports, and the path of a request',
    'CONTRIBUTING.md': 'how to build, test and change the code',
    'docs/decisions.md': 'what was decided where the specification leaves room',
    'docs/prisma.md': 'which tables go through Prisma, which through SQL, and why',
    'docs/database-functions.md': 'the functions that move the money',
    'docs/proofs.md': 'what is proved about prices, lanes and the feed',
    'docs/faults.md': 'what the fault tests break, and what must survive',
    'docs/attacks.md': 'hostile requests, and what they got',
    'docs/coverage.md': 'where each rule of the specification is implemented and tested',
    'bench/RESULTS.md': 'how fast it is',
    'CHANGELOG.md': 'what is new',
    'bench/LOG.md': 'what was measured, changed and kept to make it faster',
  },
};

const abouts = new Map(Object.values(readers).flatMap((pages) => Object.entries(pages)));

/** How many points pages lose in a search if they are not for users of the APIs. */
const handicaps: Readonly<Record<string, number>> = {
  ...{ 'Operate the service': 40, 'Connect a bank or a provider': 40, 'Change the code': 400 },
};
const handicapOf = new Map(
  Object.entries(readers).flatMap(([reader, pages]) =>
    Object.keys(pages).map((file) => [file, handicaps[reader] ?? 0] as const),
  ),
);

const isPicture = (file: string) => file.endsWith('.png');
const isPage = (file: string) => file.endsWith('.md');

/** Reads the documentation's files. */
export async function openDocs() {
  const files = new Map<string, Buffer>();
  for await (const file of glob(documented, { cwd: root, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const found = path.join(file.parentPath, file.name);
    files.set(path.relative(root, found).replaceAll(path.sep, '/'), await readFile(found));
  }
  const grouped = groupsOf([...files.keys()].filter(isPage).sort());
  const texts = new Map(grouped.flatMap(([, pages]) => pages).map((file) => [file, String(files.get(file))] as const));
  const titles = new Map([...texts].map(([file, text]) => [file, titleOf(text, file)] as const));
  const others = [...files.keys()].filter((file) => !isPage(file) && !isPicture(file));
  const rendered = new Map<string, Page>([['', listPage(grouped, titles, others)]]);
  const fileAt = (requested: string) => requested.slice(docsPath.length + 1);
  return {
    /** Renders a file, or the list of all pages; undefined for an unknown path. */
    page(requested: string): Page | undefined {
      const file = fileAt(requested);
      const text = files.get(file);
      if (rendered.has(file) || !text || isPicture(file)) return rendered.get(file);
      const page = isPage(file) ? filePage(file, String(text), files, titles) : sourcePage(file, String(text));
      rendered.set(file, page);
      return page;
    },
    found: (words: string): Page => foundPage(words, search(texts, words), titles),
    /** Returns a page, or the list of all pages, in Markdown for programs; undefined for an unknown path. */
    text(requested: string): string | undefined {
      const file = fileAt(requested);
      return file === '' ? listText(grouped, titles) : texts.get(file);
    },
    picture(requested: string): Buffer | undefined {
      const file = fileAt(requested);
      return isPicture(file) ? files.get(file) : undefined;
    },
  };
}

type Groups = readonly (readonly [reader: string, files: readonly string[]])[];
type Titles = ReadonlyMap<string, string>;

const groupsOf = (pages: readonly string[]): Groups =>
  [
    ...Object.entries(readers).map(
      ([reader, about]) => [reader, Object.keys(about).filter((file) => pages.includes(file))] as const,
    ),
    ['Other pages', pages.filter((file) => !abouts.has(file))] as const,
  ].filter(([, files]) => files.length > 0);

/** Moves the focus to the search field when / is pressed outside an input. */
const searchKey = `addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input')) return;
  event.preventDefault();
  const search = document.querySelector('[type=search]');
  search.focus();
  search.select();
});`;

/** Builds a page with a header that contains breadcrumbs, ending with `here`, and the search field. */
const docsPage = (title: string, contents: Html, here?: string, words = ''): Page =>
  plainPage(
    title,
    html`<header class="crumbs"><nav aria-label="Path"><a href="/">Payments</a> / ${here === undefined ? 'Docs' : html`<a href="${docsPath}">Docs</a> / ${here}`}</nav>
<form role="search" action="${docsPath}"><input type="search" name="q" value="${words}" placeholder="Search the docs" aria-label="Search the docs" aria-keyshortcuts="/" title="Press / to search" required> <button>Search</button></form></header>
${contents}`,
    searchKey,
  );

const linkTo = (file: string, titles: Titles) => html`<a href="${docsPath}/${file}">${titles.get(file)}</a>`;

function filePage(file: string, text: string, files: ReadonlyMap<string, unknown>, titles: Titles): Page {
  const { html: contents, sections } = renderMarkdown(text, file, files);
  const ordered = [...titles.keys()];
  const place = ordered.indexOf(file);
  const [before, after] = [ordered[place - 1], ordered[place + 1]];
  return docsPage(
    titleOf(text, file),
    html`${
      sections.length > 2 &&
      html`<details class="contents"><summary>On this page</summary><ul>${sections.map(({ title, anchor }) => html`<li><a href="#${anchor}">${title}</a></li>`)}</ul></details>`
    }<main>${raw(contents)}</main><nav class="beside" aria-label="Pages beside this one"><span>${before && html`← ${linkTo(before, titles)}`}</span><span>${after && html`${linkTo(after, titles)} →`}</span></nav>`,
    titleOf(text, file),
  );
}

function sourcePage(file: string, text: string): Page {
  return docsPage(file, html`<main><h1>${file}</h1><pre tabindex="0"><code>${text}</code></pre></main>`, file);
}

function listPage(groups: Groups, titles: Titles, others: readonly string[]): Page {
  return docsPage(
    'Docs',
    html`<main><h1>Docs</h1>
${groups.map(([reader, pages]) => html`<h2>${reader}</h2><ul>${pages.map((file) => html`<li>${linkTo(file, titles)} <span class="quiet">${abouts.get(file)}</span></li>`)}</ul>`)}
<details><summary>Files that these pages refer to</summary><ul>${others.map((file) => html`<li><a href="${docsPath}/${file}">${file}</a></li>`)}</ul></details></main>`,
  );
}

function foundPage(words: string, found: readonly Found[], titles: Titles): Page {
  return docsPage(
    `${words} · Docs`,
    html`<main><h1>Search results</h1><p role="status">${!found[0]?.isComplete && html`No section contains all of these words: ${words}. ${found.length > 0 ? 'These contain some of them.' : html`<a href="${docsPath}">See all pages</a>.`}`}</p>
<ul>${found.map(({ file, title, anchor, excerpt }) => html`<li><a href="${docsPath}/${file}#${anchor}">${title}</a> <span class="quiet">${titles.get(file)}</span><br>${marked(excerpt, words)}</li>`)}</ul></main>`,
    'Search',
    words,
  );
}

/** Words in questions that almost every section contains. */
const common = new Set(
  'a after an and are at by can do does for from how i if in is it my of on or right that the to was we what when where which who why with you'.split(
    ' ',
  ),
);

/** Words that newcomers use, and the corresponding words in these pages. */
const synonyms: Readonly<Record<string, string>> = { add: 'create', change: 'update', show: 'display' };

/** Returns patterns for the words to search for. Common words are left out, unless there are no others. */
function patternsOf(words: string): readonly string[] {
  const all = words.toLowerCase().match(/[^\s?!,;]+/g) ?? [];
  const rare = all.filter((word) => !common.has(word));
  return (rare.length > 0 ? rare : all).slice(0, 10).map((word) => {
    const stems = [word, synonyms[word]].flatMap((one) => one?.replace(ending, '').replaceAll(special, '\\$&') ?? []);
    // Matches only at the beginning of a word: a section about upstreams is not about streams.
    return `(?<![\\p{L}\\p{N}])(?:${stems.join('|')})(?:${endings})?`;
  });
}

/** Endings that distinguish the forms of a word: "retries", "retried" and "retrying" are the word "retry". */
const endings = 'ies?|ied|ying|es|s|ed|ing|y|e';
const ending = new RegExp(`(?<=[a-z]{3})(?:${endings})$`);
const special = /[\\^$.*+?()[\]{}|]/g;

function marked(excerpt: string, words: string) {
  // The pattern has a capturing group, so every second part is a match.
  const parts = excerpt.split(new RegExp(`(${patternsOf(words).join('|')})`, 'iu'));
  return parts.map((part, index) => (index % 2 ? html`<mark>${part}</mark>` : part));
}

/** Lists the pages for programs, in the llms.txt format. Each is Markdown for clients that do not request HTML. */
function listText(groups: Groups, titles: Titles): string {
  const lists = groups.map(
    ([reader, pages]) =>
      `## ${reader}\n\n${pages.map((file) => `- [${titles.get(file)}](${docsPath.slice(1)}/${file})${abouts.has(file) ? `: ${abouts.get(file)}` : ''}`).join('\n')}\n`,
  );
  return `# Payments\n\n> Moves money for platforms and their customers: one GraphQL API, and a REST API over the same domain.\n\n${lists.join('\n')}`;
}

function titleOf(text: string, file: string): string {
  if (file === 'README.md') return 'Overview';
  return /^# +(.+)$/m.exec(text)?.[1] ?? file;
}

/** A section of a page that contains words of a search. */
interface Found extends Section {
  readonly file: string;
  /** Whether it or its page's title contains all of the words except the common ones. */
  readonly isComplete: boolean;
  /** The text around the first match. */
  readonly excerpt: string;
}

const mostFound = 20;

/**
 * Finds the sections of pages (Markdown by path) that contain these words, some of them possibly in the page's title.
 * Sections with all of the words come before those with some. Among them, sections with the words in their headings
 * come first, the rarest word counting most, then those of pages for users. Pages for contributors come last.
 */
function search(pages: ReadonlyMap<string, string>, words: string): readonly Found[] {
  const patterns = patternsOf(words).map((pattern) => new RegExp(pattern, 'giu'));
  const [firstPattern] = patterns;
  if (!firstPattern) return [];
  const sections = [...pages].flatMap(([file, text]) => {
    const isOfPage = patterns.map((pattern) => titleOf(text, file).search(pattern) >= 0);
    return sectionsOf(text).map(({ title, body }) => {
      const isHeading = patterns.map((pattern) => title.search(pattern) >= 0);
      const times = patterns.map((pattern) => `${title}\n${body}`.match(pattern)?.length ?? 0);
      return { file, title, body, times, isHeading, isOfPage };
    });
  });
  const weights = patterns.map((_, word) => 1 / (1 + sections.filter(({ times }) => times[word]).length));
  const weightOf = (places: readonly boolean[]) =>
    weights.reduce((sum, weight, word) => sum + (places[word] ? weight : 0), 0) /
    weights.reduce((sum, each) => sum + each);
  const found = sections
    .filter(({ times }) => times.some((count) => count > 0))
    .map(({ file, title, body, times, isHeading, isOfPage }) => {
      const held = times.filter((count, word) => count > 0 || isOfPage[word]).length;
      const isComplete = held === times.length;
      const placed = 100 * weightOf(isHeading) + 50 * weightOf(isOfPage.map((is, word) => is && !isHeading[word]));
      const frequency = times.reduce((sum, count) => sum + Math.min(count, 9), 0) / times.length;
      const rank =
        placed + frequency - (handicapOf.get(file) ?? 600) + (isComplete ? 1_000 : (400 * held) / times.length);
      const first = body.search(firstPattern);
      const [from, to] = [Math.max(0, first - 80), Math.max(0, first) + 160];
      // Whole words, without Markdown markup.
      const around = body.slice(from, to).replaceAll(/^```\w*|^ *- |[`*|#]|-{3,}|\]\([^)]*\)|!?\[/gm, '');
      const begun = from > 0 ? around.replace(/^\S*\s+/, '… ') : around;
      const excerpt = (to < body.length ? begun.replace(/\s+\S*$/, ' …') : begun).trim();
      return { file, title: title.replaceAll('`', ''), anchor: anchorOf(title), excerpt, rank, isComplete };
    });
  return found.toSorted((one, other) => other.rank - one.rank).slice(0, mostFound);
}

function sectionsOf(text: string): { readonly title: string; readonly body: string }[] {
  return text
    .split(/^#{1,3} +/m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf('\n');
      return { title: section.slice(0, end).trim(), body: section.slice(end + 1) };
    });
}

interface Section {
  readonly title: string;
  /** The anchor of the heading, in GitHub's form. */
  readonly anchor: string;
}

/**
 * Renders Markdown without embedded HTML: tags are shown as text. A link to a file that is not shown, such as a source
 * file, becomes plain text. Returns the HTML, and the page's sections: its second-level headings.
 * @param file its path in the repository
 * @param known the files that are shown
 */
function renderMarkdown(text: string, file: string, known: ReadonlyMap<string, unknown>) {
  const markdown = new MarkdownIt({ html: false });
  const { rules } = markdown.renderer;
  const sections: Section[] = [];
  markdown.core.ruler.push('page', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      const [content, close] = tokens.slice(index + 1, index + 3);
      if (token.type === 'heading_open') {
        const title = content?.children?.map((part) => part.content).join('') ?? '';
        const anchor = anchorOf(title);
        token.attrSet('id', anchor);
        if (token.tag === 'h2') sections.push({ title, anchor });
      }
      // Tables and drawings that are wider than a phone scroll on their own, and can be reached with the keyboard.
      if (token.type === 'table_open') token.attrSet('tabindex', '0');
      // An empty header cell is not a header.
      if (token.type === 'th_open' && content?.content === '' && close) token.tag = close.tag = 'td';
      // The content security policy forbids the style attribute of an aligned column.
      const [, alignment] = /^text-align:(\w+)$/.exec(String(token.attrGet('style') ?? '')) ?? [];
      if (alignment) token.attrs = [['class', alignment]];
    }
  });
  // Lines of code wrap, but lines of a drawing do not. A drawing contains box characters or columns.
  for (const name of ['fence', 'code_block'] as const) {
    const render = rules[name];
    rules[name] = (...given) => {
      const written = render?.(...given) ?? '';
      const isDrawing = /[─│]|(?:\S {2,}\S.*){3}/.test(written);
      return written.replace('<pre', `<pre ${isDrawing ? 'class="drawing" ' : ''}tabindex="0"`);
    };
  }
  // Lets a long name break between its words, so that it neither widens its column nor breaks within a word.
  const breakable = (at: RegExp) => (tokens: readonly Token[], index: number) =>
    markdown.utils.escapeHtml(tokens[index]?.content ?? '').replaceAll(at, '<wbr>');
  rules.text = breakable(/(?<=\w[_/])(?=[\w{])/g);
  const code = breakable(/(?<=\w[_./:-])(?=[\w{])|(?<=[a-z])(?=[A-Z])/g);
  rules.code_inline = (tokens, index) => `<code>${code(tokens, index)}</code>`;
  // For each link that is still open, whether it is rendered as a link.
  const leads: boolean[] = [];
  rules.link_open = (tokens, index, options, _env, renderer) => {
    const [address = ''] = String(tokens[index]?.attrGet('href') ?? '').split('#');
    const isOutside = address === '' || /^[a-z]+:/.test(address) || address.startsWith('/');
    const isLeading = isOutside || known.has(path.posix.join(path.posix.dirname(file), address));
    leads.push(isLeading);
    return isLeading ? renderer.renderToken(tokens, index, options) : '';
  };
  rules.link_close = () => (leads.pop() ? '</a>' : '');
  return { html: markdown.render(text), sections };
}

/** Returns the anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}
