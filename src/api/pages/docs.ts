import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { html, raw } from 'hono/html';
import MarkdownIt, { type Token } from 'markdown-it';
import { type Html, type Page, plainPage } from './layout.ts';

/** The documentation's root, under which each file is shown at its repository path, so that links work. */
export const docsPath = '/docs';

const root = path.resolve(import.meta.dirname, '../../..');

/** The repository's documentation and the files that it refers to, as glob patterns. */
const documented = [
  ...['*.md', 'docs/**/*', 'bench/*.md', 'src/**/*.md', 'schema.graphql', 'LICENSE', 'Dockerfile'],
  // Listed by extension, because deploy/compose/secrets has passwords and keys in files without an extension.
  'deploy/**/*.{json,service,sh,yaml,yml}',
];

export type Docs = Awaited<ReturnType<typeof openDocs>>;

/** The list of all pages in reading order, by audience. */
const listFile = 'docs/README.md';

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
  const list = String(files.get(listFile));
  const linkPattern = /\[([^\]]+)\]\(([^)]+)\)/g;
  const fileOf = (link: string) => path.posix.join(path.posix.dirname(listFile), link);
  // The service's container image contains only some of the listed pages.
  const links = [...list.matchAll(linkPattern)].map(([, title = '', to = '']) => [fileOf(to), title] as const);
  const titles = new Map(links.filter(([file]) => files.has(file)));
  const ofContributors = list.slice(list.indexOf('## Change the code'));
  const sections = [...titles].flatMap(([file, title]) =>
    sectionsOf(file, title, String(files.get(file)), ofContributors.includes(`[${title}]`)),
  );
  const isShown = (line: string) => [...line.matchAll(linkPattern)].every(([, , to = '']) => files.has(fileOf(to)));
  const forPrograms = list
    .split('\n')
    .filter(isShown)
    .join('\n')
    .replaceAll(linkPattern, (_link, title, to) => `[${title}](${docsPath.slice(1)}/${fileOf(to)})`);
  const rendered = new Map<string, Page>();
  const fileAt = (requested: string) => requested.slice(docsPath.length + 1) || listFile;
  return {
    /** Renders a file (by default, the list of all pages). Returns undefined for an unknown path. */
    page(requested: string): Page | undefined {
      const file = fileAt(requested);
      const text = files.get(file);
      if (rendered.has(file) || !text || isPicture(file)) return rendered.get(file);
      const page = isPage(file) ? filePage(file, String(text), files, titles) : sourcePage(file, String(text));
      rendered.set(file, page);
      return page;
    },
    found: (phrase: string): Page => foundPage(phrase, sections, titles),
    /**
     * Returns a page as Markdown for programs, or undefined for an unknown path. The list of all pages is in llms.txt
     * format.
     */
    text(requested: string): string | undefined {
      if (requested === docsPath) return forPrograms;
      const file = fileAt(requested);
      return isPage(file) ? files.get(file)?.toString() : undefined;
    },
    picture(requested: string): Buffer | undefined {
      const file = fileAt(requested);
      return isPicture(file) ? files.get(file) : undefined;
    },
  };
}

type Titles = ReadonlyMap<string, string>;

/** Moves the focus to the search field when / is pressed outside an input. */
const searchKey = `addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input')) return;
  event.preventDefault();
  const search = document.querySelector('[type=search]');
  search.focus();
  search.select();
});`;

/** Builds a page whose header contains the search field and breadcrumbs that end with `here`. */
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
  const title = titles.get(file);
  return docsPage(
    title ?? 'Docs',
    html`${
      sections.length > 2 &&
      html`<details class="contents"><summary>On this page</summary><ul>${sections.map(({ title, anchor }) => html`<li><a href="#${anchor}">${title}</a></li>`)}</ul></details>`
    }<main>${raw(contents)}</main><nav class="beside" aria-label="Previous and next page"><span>${before && html`← ${linkTo(before, titles)}`}</span><span>${after && html`${linkTo(after, titles)} →`}</span></nav>`,
    title,
  );
}

function sourcePage(file: string, text: string): Page {
  return docsPage(file, html`<main><h1>${file}</h1><pre tabindex="0"><code>${text}</code></pre></main>`, file);
}

/** A section of a page, with its words in searchable form: each preceded by a space, and the last followed by one. */
interface Section extends Heading {
  readonly file: string;
  /** Whether the page is only for people who change the code. */
  readonly isInternal: boolean;
  readonly text: string;
  readonly inHeading: string;
  readonly inTitle: string;
  readonly inText: string;
}

function sectionsOf(file: string, pageTitle: string, text: string, isInternal: boolean): Section[] {
  const inTitle = searchable(pageTitle);
  const parts = text.split(/^#{1,3} +/m).slice(1);
  return parts.map((part) => {
    const [heading = '', ...lines] = part.split('\n');
    const title = heading.replaceAll('`', '').trim();
    // Removes Markdown markup and the lines of text diagrams.
    const plain = lines
      .join('\n')
      .replaceAll(/^.*[\u2500-\u25ff].*$|^[-:| ]+$|^\||\|$|^```\w*|^ *- |[`*#]|\]\([^)]*\)|!?\[/gm, '')
      .replaceAll(/ +\| +/g, ' · ');
    const words = { inHeading: searchable(title), inTitle, inText: searchable(part) };
    return { file, isInternal, title, anchor: anchorOf(title), text: plain, ...words };
  });
}

/** Words that a search ignores if it has other words, because almost every section contains them. */
const common = new Set(
  `an and are as at be by can do does for from how if in is it make many much my of on or per right show that the to
   was what when where which who why with you`.split(/\s+/),
);

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];

/** Returns a word with a space before it and without its ending: "retries" and "retrying" both become " retr". */
const stemOf = (word: string) => ` ${word.replace(/(?<=[a-z]{3})(?:ies?|ied|ying|es|s|ed|ing|y|e)$/, '')}`;

const searchable = (text: string) => `${wordsOf(text).map(stemOf).join('')} `;

const mostFound = 20;

/**
 * Lists the sections that contain words from the phrase, starting with those that contain the most. Among equals, pages
 * for users come first, then sections with the words in their headings, then those with the words in their page titles.
 */
function foundPage(phrase: string, sections: readonly Section[], titles: Titles): Page {
  const all = wordsOf(phrase);
  const rare = all.filter((word) => !common.has(word));
  const stems = (rare.length > 0 ? rare : all).slice(0, 10).map(stemOf);
  // Stems of up to three letters must match whole words: "cors" (stem "cor") should not find "correct".
  const words = stems.map((stem) => (stem.length > 4 ? stem : `${stem} `));
  const ranked = sections.map((section) => {
    const { inHeading, inTitle, inText, isInternal } = section;
    const held = words.filter((word) => inText.includes(word) || inTitle.includes(word)).length;
    const leading = words.map((word) => (inHeading.includes(word) ? 3 : inTitle.includes(word) ? 1 : 0));
    const rank = leading.reduce<number>((sum, each) => sum + each, 1_000 * held - (isInternal ? 500 : 0));
    return { section, held, rank };
  });
  const found = ranked.filter(({ held }) => held > 0).toSorted((one, other) => other.rank - one.rank);
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])((?:${words.map((word) => word.trim()).join('|')})\\p{L}*)`, 'iu');
  return docsPage(
    `${phrase} · Docs`,
    html`<main><h1>Search results</h1><p role="status">${(!found[0] || found[0].held < words.length) && html`No section contains all of these words: ${phrase}. ${found.length > 0 ? 'These contain some of them.' : html`<a href="${docsPath}">See all pages</a>.`}`}</p>
<ul>${found.slice(0, mostFound).map(({ section: { file, title, anchor, text } }) => html`<li><a href="${docsPath}/${file}#${anchor}">${title}</a> <span class="quiet">${titles.get(file)}</span><br>${excerptOf(text, pattern)}</li>`)}</ul></main>`,
    'Search',
    phrase,
  );
}

/** Returns the text around the first match, with each match marked. */
function excerptOf(text: string, pattern: RegExp) {
  const words = text.trim().split(/\s+/);
  const first = words.findIndex((word) => pattern.test(word));
  const [from, to] = [Math.max(0, first - 12), Math.max(0, first) + 24];
  const shown = [...(from > 0 ? ['…'] : []), ...words.slice(from, to), ...(to < words.length ? ['…'] : [])].join(' ');
  // The pattern has a capturing group, so every other part is a match.
  return shown.split(pattern).map((part, index) => (index % 2 ? html`<mark>${part}</mark>` : part));
}

interface Heading {
  readonly title: string;
  /** The anchor of the heading, in GitHub's form. */
  readonly anchor: string;
}

/**
 * Renders Markdown. Embedded HTML is shown as text. A link to a file that is not shown, such as a source file, becomes
 * plain text. Returns the HTML, and the page's sections: its second-level headings.
 * @param file the path of the Markdown file in the repository
 * @param known the files that are shown
 */
function renderMarkdown(text: string, file: string, known: ReadonlyMap<string, unknown>) {
  const markdown = new MarkdownIt({ html: false });
  const { rules } = markdown.renderer;
  const sections: Heading[] = [];
  markdown.core.ruler.push('page', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      const [content, close] = tokens.slice(index + 1, index + 3);
      if (token.type === 'heading_open') {
        const title = content?.children?.map((part) => part.content).join('') ?? '';
        const anchor = anchorOf(title);
        token.attrSet('id', anchor);
        if (token.tag === 'h2') sections.push({ title, anchor });
      }
      // Makes tables focusable, so that those wider than the screen can be scrolled with the keyboard.
      if (token.type === 'table_open') token.attrSet('tabindex', '0');
      // An empty header cell is not a header.
      if (token.type === 'th_open' && content?.content === '' && close) token.tag = close.tag = 'td';
      // The content security policy forbids style attributes, so the cells of an aligned column get a class.
      const [, alignment] = /^text-align:(\w+)$/.exec(String(token.attrGet('style') ?? '')) ?? [];
      if (alignment) token.attrs = [['class', alignment]];
    }
  });
  // Lines of code wrap, but those of drawings do not. A drawing contains box-drawing characters or columns.
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
  // For each Markdown link that has not been closed yet, whether it is rendered as a link.
  const leads: boolean[] = [];
  rules.link_open = (tokens, index, options, _env, renderer) => {
    const link = String(tokens[index]?.attrGet('href') ?? '');
    const [address = '', anchor] = link.split('#');
    const isOutside = address === '' || /^[a-z]+:/.test(address) || address.startsWith('/');
    const target = path.posix.join(path.posix.dirname(file), address);
    if (!isOutside) tokens[index]?.attrSet('href', `${docsPath}/${target}${anchor ? `#${anchor}` : ''}`);
    const isLeading = isOutside || known.has(target);
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
