import { ReadableStream as NodeStream, TextEncoderStream } from 'node:stream/web';
import { z } from '@hono/zod-openapi';
import type { Payments } from '../../../domain/commands/command.ts';
import { readStatementHead, statementEntries, statementWriter } from '../../../domain/statements/statement.ts';
import { asPlatform } from '../../../infra/database/connections/platform-scope.ts';
import { iterateHere } from '../../../infra/instruments/iterate-here.ts';
import { accesses, type Endpoints, errorResponses } from '../endpoint.ts';
import { requiredMoment } from '../lists.ts';
import { id } from '../schemas/fields.ts';

const csvType = 'text/csv; charset=utf-8; header=present';
const camtType = 'application/xml';

/** Adds the statement endpoint, which is not in the specification. */
export function statementEndpoints(endpoints: Endpoints, { database }: Payments): void {
  endpoints.add('getAccountStatement', {
    summary: "Export an internal account's statement",
    description:
      'The opening balance, every entry in the period with the running balance, and the closing balance. The response is a stream; it is incomplete if the last line (CSV) or the closing element (camt.053) is missing.',
    at: '/internal-accounts/{accountId}/statement',
    params: z.object({ accountId: id('InternalAccount', 'The id of the account.') }),
    query: z.strictObject({
      from: requiredMoment('The start of the period, inclusive.').openapi({ example: '2026-01-01T00:00:00Z' }),
      to: requiredMoment('The end of the period, exclusive, so that consecutive periods do not overlap.').openapi({
        example: '2030-01-01T00:00:00Z',
      }),
      format: z
        .enum(['csv', 'camt.053'])
        .default('csv')
        .describe('The format: CSV, or ISO 20022 camt.053.001.08 for ISO 4217 currencies.'),
    }),
    middleware: accesses.VIEW,
    responses: {
      200: {
        description: 'The statement.',
        content: { 'text/csv': { schema: z.string() }, 'application/xml': { schema: z.string() } },
      },
      ...errorResponses(404),
    },
    handle: async ({ accountId, format, ...period }, context) => {
      const viewer = context.get('viewer');
      const head = await readStatementHead(database, viewer, accountId, period);
      const write = statementWriter(format, head);
      // The lines are read after this handler has returned, but still on behalf of the platform.
      const lines = asPlatform(viewer.platformId, () =>
        iterateHere(write(head, period, statementEntries(database, viewer, head))),
      );
      // The lines are read only as fast as the client consumes them. Node and the DOM declare different types for the
      // same stream.
      const body = NodeStream.from(lines).pipeThrough(new TextEncoderStream());
      return context.body(body as ReadableStream<Uint8Array<ArrayBuffer>>, 200, {
        'content-type': format === 'csv' ? csvType : camtType,
        'content-disposition': `attachment; filename="statement.${format === 'csv' ? 'csv' : 'xml'}"`,
      });
    },
  });
}
