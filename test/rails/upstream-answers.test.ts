import { createServer } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { quoteRecord, UpstreamClient } from '../../src/rails/upstream/upstream-client.ts';
import { listen } from '../setup/free-port.ts';

/** Contradictory responses from an upstream service leave the outcome unknown and do not end the payment. */

let answer = { status: 200, text: '' };
const server = createServer((_request, response) => response.writeHead(answer.status).end(answer.text));
const baseUrl = `http://127.0.0.1:${await listen(server)}`;
const client = new UpstreamClient(async () => ({ baseUrl, clientId: 'a', secret: 'b' }));
afterAll(async () => {
  await client.close();
  server.close();
});

test.each([
  ['a duplicate amount', 200, '{"totalSendingAmount":1,"totalSendingAmount":5000}'],
  ['a rate with too many digits', 200, '{"exchangeRate":1.08695652173913043478}'],
  ['a duplicate code in an otherwise final refusal', 400, '{"code":"QUOTE_EXPIRED","c\\u006fde":"OK","message":"no"}'],
])('a response with %s leaves the outcome unknown', async (_name, status, text) => {
  answer = { status, text };
  await expect(client.post('/quotes', quoteRecord, { key: 'k' })).rejects.toMatchObject({
    name: 'UpstreamFault',
    code: 'UNREADABLE',
    message: "upstream's answer to POST /quotes contains inexact numbers",
  });
});
