import { html, raw } from 'hono/html';
import type { restDocument } from './document.ts';

type Document = ReturnType<typeof restDocument>;

interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: object;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
  readonly responses: Readonly<
    Record<
      string,
      { readonly description: string; readonly content?: Readonly<Record<string, { readonly schema: object }>> }
    >
  >;
}

/** Renders the document as one HTML page, without scripts and without resources of other servers. */
export function documentPage(document: Document) {
  const operations = operationsOf(document);
  const schemas = Object.entries(document.components?.schemas ?? {});
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${document.info.title} ${document.info.version}</title>
<style>${raw(style)}</style>
</head>
<body>
<header><h1>${document.info.title} <small>${document.info.version}</small></h1>
<p>${document.info.description}</p>
<p>For programs: <a href="openapi.json">openapi.json</a></p></header>
<nav>${(document.tags ?? []).map(
    (tag) =>
      html`<h2>${tag.name}</h2><ul>${operations
        .filter(({ operation }) => operation.tags.includes(tag.name))
        .map(({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`)}</ul>`,
  )}</nav>
<main>
${operations.map((item) => operationSection(item, document))}
<h2>Records</h2>
${schemas.map(([name, schema]) => html`<section id="schema-${name}"><h3>${name}</h3>${schemaText(schema)}</section>`)}
</main>
</body>
</html>`;
}

interface Item {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

function operationsOf(document: Document): Item[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods as Readonly<Record<string, Operation>>).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
}

function operationSection({ method, path, operation }: Item, document: Document) {
  const parameters = (operation.parameters ?? []).map((parameter) => resolved(parameter, document));
  const [requestBody] = Object.values(operation.requestBody?.content ?? {});
  return html`<section id="${operation.operationId}">
<h3><code>${method} ${path}</code></h3>
<p>${operation.summary}. ${operation.description ?? ''}</p>
${
  parameters.length > 0 &&
  html`<table><caption>Parameters</caption>${parameters.map(
    (parameter) =>
      html`<tr><td><code>${parameter.name}</code></td><td>${parameter.in}${parameter.required ? ', required' : ''}</td><td>${parameter.description ?? ''}</td></tr>`,
  )}</table>`
}
${requestBody && html`<h4>Body</h4>${schemaText(requestBody.schema)}`}
<table><caption>Responses</caption>${Object.entries(operation.responses).map(
    ([status, { description, content }]) =>
      html`<tr><td>${status}</td><td>${description}</td><td>${Object.values(content ?? {}).map(({ schema }) => schemaText(schema))}</td></tr>`,
  )}</table>
</section>`;
}

function resolved(parameter: Parameter, document: Document): Parameter {
  const name = parameter.$ref?.split('/').at(-1);
  const components = document.components?.parameters as Readonly<Record<string, Parameter>> | undefined;
  return (name !== undefined && components?.[name]) || parameter;
}

/** Renders a schema as JSON in which each reference is a link to its record. */
function schemaText(schema: object) {
  const reference = '$ref' in schema ? String(schema.$ref).split('/').at(-1) : undefined;
  if (reference !== undefined) return html`<a href="#schema-${reference}">${reference}</a>`;
  const parts = JSON.stringify(schema, null, 2).split(/("#\/components\/schemas\/[A-Za-z0-9_]+")/);
  return html`<pre>${parts.map((part) => {
    const name = /^"#\/components\/schemas\/(\w+)"$/.exec(part)?.[1];
    return name === undefined ? part : html`<a href="#schema-${name}">${name}</a>`;
  })}</pre>`;
}

const style = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem; color: #1b1f24; background: #fff; }
nav { columns: 3 14rem; } nav h2 { font-size: 1rem; margin: .5rem 0 0; break-after: avoid; } nav ul { margin: 0; padding-left: 1rem; }
section { border-top: 1px solid #d0d7de; padding: .5rem 0; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; } caption { text-align: left; font-weight: 600; }
td { border-bottom: 1px solid #eaeef2; padding: .25rem .5rem; vertical-align: top; }
pre { background: #f6f8fa; padding: .5rem; overflow-x: auto; font-size: 13px; } a { color: #0550ae; }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117; } pre { background: #161b22; } a { color: #79c0ff; } td, section { border-color: #30363d; } }
`;
