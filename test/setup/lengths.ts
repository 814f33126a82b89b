import { globSync, readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';

/** No file of src has more lines than this, and no function. */
export const maxFileLines = 300;
export const maxFunctionLines = 60;

/**
 * What is longer still, with the lines that it has now: it may only become shorter, and an entry that is not needed any more is
 * an error, too.
 */
const longer: Readonly<Record<string, number>> = {};

/** A file or a function, and how many lines it has, from its first to its last. */
export interface Length {
  readonly name: string;
  readonly lines: number;
}

/** The files of `sources`, and the functions in them, that have too many lines. */
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
  // The parser counts bytes on from what it has parsed before: the statement in front tells where this text begins.
  const front = '0;\n';
  const bytes = Buffer.from(text);
  const module = parseSync(front + text, { syntax: 'typescript' });
  const start = module.span.start + front.length;
  const found: Length[] = [];
  const visit = (node: unknown, name: string): void => {
    if (Array.isArray(node)) for (const item of node) visit(item, name);
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
    const { type, span, ...parts } = node as { readonly type?: string; readonly span?: { start: number; end: number } };
    const own = nameOf(parts) ?? name;
    if (type !== undefined && span && functions.test(type) && 'body' in parts && parts.body) {
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

/** What a declaration, a property or a method is called. */
function nameOf(parts: object): string | undefined {
  for (const key of ['identifier', 'id', 'key']) {
    const named: unknown = key in parts ? (parts as Readonly<Record<string, unknown>>)[key] : undefined;
    if (typeof named === 'object' && named !== null && 'value' in named) return String(named.value);
  }
  return undefined;
}

if (import.meta.main) {
  const files = globSync('src/**/*.ts', { exclude: (path) => path.endsWith('generated') });
  const found = tooLong(Object.fromEntries(files.map((file) => [file, readFileSync(file, 'utf8')])));
  const faults = [
    ...found
      .filter(({ name, lines }) => lines > (longer[name] ?? 0))
      .map(({ name, lines }) => `${name} has ${lines} lines`),
    ...Object.entries(longer)
      .filter(([name, lines]) => !found.some((one) => one.name === name && one.lines === lines))
      .map(([name]) => `${name} is not as long as test/setup/lengths.ts says: lower its number, or take it away`),
  ];
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) {
    console.error(`A file has at most ${maxFileLines} lines, a function ${maxFunctionLines}.`);
    process.exit(1);
  }
}
