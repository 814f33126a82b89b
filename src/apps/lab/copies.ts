import { isSubscription } from './operations.ts';

/** A tab's operation, as it would be sent now. */
export interface Sent {
  readonly url: string;
  readonly query: string;
  /** The operation to run, if the document has several. */
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The request headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** An operation in the page's URL. */
export interface Linked {
  readonly query: string;
  /** JSON, or empty. */
  readonly variables: string;
}

/**
 * Returns a URL that opens the operation in the lab. It contains no credentials, and the operation is in its fragment,
 * which browsers do not send.
 */
export function asLink({ url, query, variables }: Sent): string {
  const opened = new URLSearchParams({ query });
  if (Object.keys(variables).length > 0) opened.set('variables', JSON.stringify(variables, null, 2));
  return `${new URL('lab', url)}#${opened}`;
}

/** Removes the operation from the page's URL, so that a reload does not open it again. Returns the operation. */
export function takeLinked(): Linked | undefined {
  const parameters = new URLSearchParams(location.hash.slice(1) || location.search);
  const [query, variables] = [parameters.get('query'), parameters.get('variables') ?? ''];
  if (query === null) return undefined;
  history.replaceState(null, '', location.pathname);
  return { query, variables };
}

/** Writes a curl command that sends the operation. */
export function asCurl(sent: Sent): string {
  const { url, query, operationName, variables, headers } = sent;
  const usual = { 'content-type': 'application/json', ...(isSubscription(sent) && { accept: 'text/event-stream' }) };
  const body = JSON.stringify({ query, operationName, ...(Object.keys(variables).length > 0 && { variables }) });
  return [
    `curl -s${isSubscription(sent) ? 'N' : ''} ${url}`,
    ...Object.entries({ ...usual, ...headers }).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `-d ${quoted(body)}`,
  ].join(' \\\n  ');
}

/** Writes a program that sends the operation: with fetch, or with graphql-ws for a subscription. */
export function asCode(sent: Sent): string {
  const { url, query, operationName, variables, headers } = sent;
  const name = operationName === undefined ? '' : `operationName: ${JSON.stringify(operationName)}, `;
  const parts = [
    `const query = /* GraphQL */ ${'`'}\n${query.trim().replaceAll(/[`\\]|\$(?=\{)/g, '\\$&')}\n${'`'};`,
    `const variables = ${JSON.stringify(variables, null, 2)};`,
  ];
  if (isSubscription(sent)) {
    return [
      `import { createClient } from 'graphql-ws';\n`,
      ...parts,
      `const client = createClient({`,
      `  url: ${JSON.stringify(url.replace('http', 'ws'))},`,
      `  connectionParams: { authorization: ${JSON.stringify(headers.authorization)} },`,
      `});`,
      `for await (const message of client.iterate({ query, ${name}variables })) console.log(message);`,
      '',
    ].join('\n');
  }
  return [
    ...parts,
    `const headers = ${JSON.stringify({ 'content-type': 'application/json', ...headers }, null, 2)};`,
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: 'POST',`,
    `  headers,`,
    `  body: JSON.stringify({ query, ${name}variables }),`,
    `});`,
    `console.log(JSON.stringify(await response.json(), null, 2));`,
    '',
  ].join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
