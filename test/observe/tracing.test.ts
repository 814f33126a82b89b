import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { startTracing } from '../../src/server/start/tracing.ts';
import { usdToEur } from '../setup/acts.ts';
import { mutationDocument } from '../setup/documents.ts';
import { listen } from '../setup/free-port.ts';
import { type Data, startTestGateway } from '../setup/gateway.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { ownReceiver } from '../webhooks/receiver.ts';

interface Collected {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

const spans: Collected[] = [];
const credentials = new Set<string | undefined>();
const collector = createServer(async (request, response) => {
  credentials.add(request.headers.authorization);
  const { resourceSpans } = (await json(request)) as Data;
  for (const { scopeSpans } of resourceSpans) {
    for (const span of scopeSpans.flatMap((scope: Data) => scope.spans)) {
      const attributes = span.attributes.map(({ key, value }: Data) => [key, Object.values(value)[0]]);
      spans.push({ ...span, attributes: Object.fromEntries(attributes) });
    }
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});
const endpoint = `http://127.0.0.1:${await listen(collector)}`;
afterAll(() => collector.close());

function inside(span: Collected): Collected[] {
  return spans
    .filter(({ parentSpanId, traceId }) => parentSpanId === span.spanId && traceId === span.traceId)
    .flatMap((child) => [child, ...inside(child)]);
}

const sampled = {
  OTEL_EXPORTER_OTLP_HEADERS: { authorization: 'Bearer secret' },
  OTEL_SERVICE_NAME: 'gateway under test',
  OTEL_TRACES_SAMPLER_ARG: 1,
};

test('a payment is traced from its request to its statements, rail and webhook, and spans contain no personal data', async () => {
  const tracing = await startTracing({ ...sampled, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
  const t = await startTestGateway();
  const receiver = await ownReceiver();
  await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['OUTGOING_PAYMENT'] });
  const scene = await t.platform.makeScene();
  const callersTrace = '0af7651916cd43dd8448eb211c80319c';
  const input = { ...usdToEur(scene, { immediatelyExecute: true }), description: 'for my birthday' };
  const response = await t.platform.post(
    { query: mutationDocument('createQuote', 'quote { transaction { id } }'), variables: { input } },
    { traceparent: `00-${callersTrace}-b7ad6b7169203331-01` },
  );
  const { data } = (await response.json()) as Data;
  const { id } = data.createQuote.quote.transaction;
  await t.platform.ended(id);
  await receiver.until((received) => received.some(({ body }) => body.transaction?.status === 'COMPLETED'));
  const readers = [1, 2, 3, 4].map((number) => `${number}`.repeat(32));
  const read = (trace: string) =>
    t.platform.post({ query: '{ customers { totalCount } }' }, { traceparent: `00-${trace}-b7ad6b7169203331-01` });
  await Promise.all(readers.map(read));
  await t.stop();
  await tracing?.stop();

  const [request] = spans.filter(({ traceId, kind }) => traceId === callersTrace && kind === 2);
  expect(request).toMatchObject({
    name: 'mutation createQuote',
    parentSpanId: 'b7ad6b7169203331',
    attributes: {
      'http.request.method': 'POST',
      'url.path': '/graphql',
      'http.response.status_code': 200,
      'payments.request.id': response.headers.get('x-request-id'),
      'payments.platform.id': t.platform.platformId,
    },
  });
  const names = request ? inside(request).map(({ name }) => name) : [];
  expect(names).toEqual(expect.arrayContaining(['mutation createQuote', 'rail rate', 'commit_batches']));

  const settled = spans.filter(
    ({ name, attributes }) => name === 'settle order' && attributes['payments.transaction.id'] === id,
  );
  // 3 is OTLP's number for a client span.
  expect(settled.flatMap(inside)).toContainEqual(expect.objectContaining({ name: 'rail payOut', kind: 3 }));
  const rounds = spans.filter(({ name }) => name === 'settle orders');
  expect(rounds.every(({ parentSpanId }) => !parentSpanId)).toBe(true);
  expect(rounds.flatMap(inside).map(({ name }) => name)).toEqual(
    expect.arrayContaining(['settle order', 'commit_batches']),
  );
  expect(spans.some(({ name }) => name === 'deliver webhook')).toBe(true);

  // A combined read has a span in the trace of each request that it serves.
  for (const trace of readers) {
    const statements = spans.filter(({ traceId, kind }) => traceId === trace && kind === 3);
    expect(statements).toMatchObject([{ attributes: { 'db.query.text': expect.stringMatching(/count/) } }]);
  }

  const text = JSON.stringify(spans);
  for (const value of ['birthday', 'Grace Hopper', '37040044', receiver.url, t.platform.authorization])
    expect(text).not.toContain(value);
  expect([...credentials]).toEqual(['Bearer secret']);
});

test('an unreachable collector does not affect requests or delay shutdown', async () => {
  const tracing = await startTracing({ ...sampled, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  const t = await startTestGateway();
  expect(await t.platform.ask('{ customers { totalCount } }')).toEqual({ customers: { totalCount: 0 } });
  await t.stop();
  await tracing?.stop();
});
