import { anchorOf, type Section } from './markdown.ts';

/** A section of a page that contains all words of a search. */
export interface Found extends Section {
  readonly file: string;
  /** The text around the first of the words. */
  readonly excerpt: string;
}

const mostFound = 20;

/** Finds the sections of pages (Markdown by path) that contain all words, those with a word in the heading first. */
export function search(pages: ReadonlyMap<string, string>, words: string): readonly Found[] {
  const terms = words.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 10);
  if (terms.length === 0) return [];
  const found = [...pages].flatMap(([file, text]) =>
    sectionsOf(text).flatMap(({ title, body }) => {
      const [heading, all] = [title.toLowerCase(), `${title}\n${body}`.toLowerCase()];
      if (!terms.every((term) => all.includes(term))) return [];
      const rank = terms.reduce((sum, term) => sum + (heading.includes(term) ? 100 : 0) + all.split(term).length, 0);
      const first = Math.max(0, body.toLowerCase().indexOf(terms[0] ?? ''));
      // Whole words, without Markdown markup.
      const around = body
        .slice(Math.max(0, first - 80), first + 160)
        .replaceAll(/^```\w*|^ *- |[`*|#]|-{3,}|\]\([^)]*\)|\[/gm, '');
      const excerpt = around.replace(/^\S*\s+(?=.{80})|\s+\S*$/gs, ' ').trim();
      return [{ file, title, anchor: anchorOf(title), excerpt, rank }];
    }),
  );
  return found.toSorted((one, other) => other.rank - one.rank).slice(0, mostFound);
}

/** Splits a page at its headings. */
function sectionsOf(text: string): { readonly title: string; readonly body: string }[] {
  return text
    .split(/^#{1,3} +/m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf('\n');
      return { title: section.slice(0, end).trim(), body: section.slice(end + 1) };
    });
}
