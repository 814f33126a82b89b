import path from 'node:path';
import MarkdownIt from 'markdown-it';

interface RenderedPage {
  readonly html: string;
  /** Its sections: the second-level headings. */
  readonly sections: readonly Section[];
}

/** A heading, and the content below it. */
export interface Section {
  readonly title: string;
  /** The anchor of the heading, in GitHub's form. */
  readonly anchor: string;
}

/**
 * Renders Markdown without embedded HTML: tags are shown as text. A link to a file that is not shown, such as a source
 * file, is shown as its text.
 * @param file its path in the repository
 * @param known the files that are shown
 */
export function renderMarkdown(text: string, file: string, known: ReadonlySet<string>): RenderedPage {
  const markdown = new MarkdownIt({ html: false });
  const { escapeHtml } = markdown.utils;
  const { rules } = markdown.renderer;
  const sections: Section[] = [];
  rules.heading_open = (tokens, index, options, _env, renderer) => {
    const title = tokens[index + 1]?.children?.map(({ content }) => content).join('') ?? '';
    const anchor = anchorOf(title);
    tokens[index]?.attrSet('id', anchor);
    if (tokens[index]?.tag === 'h2') sections.push({ title, anchor });
    return renderer.renderToken(tokens, index, options);
  };
  // Tables and code that are wider than a phone scroll on their own, and can be reached with the keyboard.
  rules.table_open = (tokens, index, options, _env, renderer) => {
    tokens[index]?.attrSet('tabindex', '0');
    return renderer.renderToken(tokens, index, options);
  };
  for (const name of ['fence', 'code_block'] as const) {
    const render = rules[name];
    rules[name] = (...given) => render?.(...given).replace('<pre', '<pre tabindex="0"') ?? '';
  }
  // Lets a long code break at its underscores, so that it does not widen its column.
  rules.text = (tokens, index) => escapeHtml(tokens[index]?.content ?? '').replaceAll(/_(?=\w)/g, '_<wbr>');
  // The content security policy forbids the style attribute of an aligned column.
  markdown.core.ruler.push('alignment', ({ tokens }) => {
    for (const token of tokens) {
      const [, alignment] = /^text-align:(\w+)$/.exec(String(token.attrGet('style') ?? '')) ?? [];
      if (alignment) token.attrs = [['class', alignment]];
    }
  });
  // A header cell without text is not a header.
  rules.th_open = (tokens, index, options, _env, renderer) => {
    const [open, content, close] = tokens.slice(index, index + 3);
    if (content?.content === '' && open && close) open.tag = close.tag = 'td';
    return renderer.renderToken(tokens, index, options);
  };
  // For each open link, whether it is shown as a link.
  const leads: boolean[] = [];
  rules.link_open = (tokens, index, options, _env, renderer) => {
    const [address = ''] = String(tokens[index]?.attrGet('href') ?? '').split('#');
    const isOutside = address === '' || /^[a-z]+:/.test(address) || address.startsWith('/');
    const isLeading = isOutside || known.has(path.posix.join(path.posix.dirname(file), address));
    leads.push(isLeading);
    return isLeading ? renderer.renderToken(tokens, index, options) : '';
  };
  rules.link_close = (tokens, index, options, _env, renderer) =>
    leads.pop() ? renderer.renderToken(tokens, index, options) : '';
  return { html: markdown.render(text), sections };
}

/** Returns the anchor that GitHub gives a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}
