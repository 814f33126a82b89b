import { globSync, readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';

/** The maximum number of lines of a file of src, and of a function in it. */
export const maxFileLines = 400;
export const maxFunctionLines = 80;

/** Files and functions that may be longer, each with its maximum number of lines. The list is meant to shrink. */
const longer: Readonly<Record<string, number>> = {};

/** A file or a function, and its number of lines, from its first to its last. */
export interface Length {
  readonly name: string;
  readonly lines: number;
}

/** Returns the files of `sources`, and the functions in them, that have too many lines. */
export function tooLong(sources: Readonly<Record<string, string>>): Length[] {
  return Object.entries(sources).flatMap(([file, text]) => [
    ...[{ name: file, lines: text.trimEnd().split('\n').length }].filter(({ lines }) => lines > maxFileLines),
    ...functionsIn(text)
      .filter(({ lines }) => lines > maxFunctionLines)
      .map(({ name, lines }) => ({ name: `${file} ${name}`, lines })),
  ]);
}

const functions =
  /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ClassMethod|PrivateMethod|MethodProperty|Constructor)$/;

function functionsIn(text: string): Length[] {
  // The parser's offsets continue from earlier texts, so a statement is put in front to show where this text begins.
  const front = '0;\n';
  const bytes = Buffer.from(text);
  // The first line of a program may name its interpreter, which the parser accepts only at the very beginning.
  const module = parseSync(front + text.replace(/^#!/, '//'), { syntax: 'typescript' });
  const start = module.span.start + front.length;
  const found: Length[] = [];
  const visit = (node: unknown, name: string): void => {
    if (Array.isArray(node)) for (const item of node) visit(item, name);
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
    const { type, span, ...parts } = node as { readonly type?: string; readonly span?: { start: number; end: number } };
    const own = nameOf(parts) ?? name;
    if (type !== undefined && span && functions.test(type) && hasBody(parts)) {
      const lines = bytes
        .subarray(span.start - start, span.end - start)
        .toString()
        .split('\n').length;
      found.push({ name: own, lines });
    }
    for (const part of Object.values(parts)) visit(part, own);
  };
  visit(module.body, 'a function');
  return found;
}

/** Returns whether a function has a body. A method's body is in its `function`; a signature has none. */
function hasBody(parts: object): boolean {
  if ('function' in parts) return true;
  return 'body' in parts && parts.body !== null;
}

/** Returns the name of a declaration, a property or a method. */
function nameOf(parts: object): string | undefined {
  for (const key of ['identifier', 'id', 'key']) {
    const named: unknown = key in parts ? (parts as Readonly<Record<string, unknown>>)[key] : undefined;
    if (typeof named === 'object' && named !== null && 'value' in named) return String(named.value);
  }
  return undefined;
}

/**
 * Returns the functions and files that are too long, except allowed ones, and the allowances that are no longer needed.
 */
export function faultsIn(found: readonly Length[], allowed: Readonly<Record<string, number>>): string[] {
  const tooMany = found.filter(({ name, lines }) => lines > (allowed[name] ?? 0));
  const gone = Object.keys(allowed).filter((known) => !found.some(({ name }) => name === known));
  return [
    ...tooMany.map(({ name, lines }) => `${name} has ${lines} lines`),
    ...gone.map((name) => `${name} is short enough: remove it from the list in test/setup/lengths.ts`),
  ];
}

if (import.meta.main) {
  const files = globSync('src/**/*.ts', { exclude: (path) => path.endsWith('generated') });
  const faults = faultsIn(tooLong(Object.fromEntries(files.map((file) => [file, readFileSync(file, 'utf8')]))), longer);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) {
    console.error(`A file has at most ${maxFileLines} lines, a function ${maxFunctionLines}.`);
    process.exit(1);
  }
}
