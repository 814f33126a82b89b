import { hash } from 'node:crypto';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import type { GraphiQLOptions } from 'graphql-yoga';

/**
 * Renders the page of GraphiQL with a policy that lets its own script run and no other, and lets it talk to this server
 * alone. The policy stands in the page, since the script's hash depends on the options.
 */
export function renderGraphiqlPage(options?: GraphiQLOptions): string {
  const page = renderGraphiQL(options);
  const script = /<script>([\s\S]*)<\/script>/.exec(page)?.[1] ?? '';
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash('sha256', script, 'base64')}'`,
    // Its editor runs in workers that the page makes of text.
    'worker-src blob:',
    "style-src 'unsafe-inline'",
    'font-src data:',
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return page.replace(
    '<meta charset',
    `<meta http-equiv="Content-Security-Policy" content="${policy}" />\n      <meta charset`,
  );
}
