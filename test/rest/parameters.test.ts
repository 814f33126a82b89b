import { describe, expect, test } from 'vitest';
import type { Data } from '../setup/gateway.ts';
import { type Endpoint, neededQuery, openCatalog } from '../setup/rest-catalog.ts';

const catalog = await openCatalog();

/** Returns the endpoint's path followed by the given query and any required parameters that it lacks. */
const withQuery = ({ id, path }: Endpoint, query: string) => {
  const [name = ''] = query.split('=', 1);
  const needed = (neededQuery[id] ?? []).filter((one) => !one.startsWith(`${name}=`));
  return `${path}?${[...needed, query].join('&')}`;
};

describe('every endpoint', () => {
  test('refuses methods that its path does not support, and lists the supported ones', async () => {
    const { rest, endpoints } = catalog;
    for (const [path, all] of Map.groupBy(endpoints, ({ path }) => path)) {
      const methods = all.map(({ method }) => method);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((name) => !methods.includes(name))) {
        const answer = await rest.call(method, path);
        expect({ path, method, ...answer }).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED' } });
        expect(answer.headers.get('allow')?.split(', ').sort()).toEqual([...methods].sort());
      }
    }
  });

  test('refuses values that its parameters do not accept, and a repeated single-value parameter', async () => {
    const { rest, endpoints } = catalog;
    const bad: Record<string, string[]> = {
      integer: ['0', '101', 'x', '-1', '1.5', ''],
      boolean: ['yes', '1', ''],
      'date-time': [
        'yesterday',
        '2026-01-01',
        '2026-13-01T00:00:00Z',
        '2026-01-01T00:00:00',
        '0000-06-01T00:00:00Z',
        '9999-12-31T23:59:59-01:00',
      ],
      enum: ['NOPE', 'pending', ''],
      sendingAmount: ['0', 'x', '1.5'],
      minAmount: ['-1', 'x', '1.5', ''],
      maxAmount: ['-1', 'x', '1.5', ''],
      cursor: ['x', 'Zm9v'],
    };
    for (const endpoint of endpoints) {
      for (const { name, schema } of endpoint.parameters.filter((one) => one.in === 'query')) {
        const one = schema.items ?? schema;
        const kind = one.enum ? 'enum' : one.format === 'date-time' ? 'date-time' : one.type;
        for (const value of bad[name] ?? bad[kind] ?? []) {
          const answer = await rest.call('GET', withQuery(endpoint, `${name}=${value}`));
          expect({ id: endpoint.id, name, value, ...answer }).toMatchObject({ status: 400 });
          expect(answer.body.details.field).toBe(name);
          expect(answer.body.details.reason).not.toMatch(value === '-1' ? /must be an integer of/ : /required/);
          for (const allowed of one.enum ?? []) expect(answer.body.details.reason).toContain(`"${allowed}"`);
        }
        if (schema.type === 'array' && one.enum) {
          const second = await rest.call('GET', withQuery(endpoint, `${name}=${one.enum[0]}&${name}=NOPE`));
          expect(second).toMatchObject({ status: 400, body: { details: { field: name } } });
        }
        const unstorable = await rest.call('GET', withQuery(endpoint, `${name}=%00`));
        expect(unstorable).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', details: { field: name } } });
        if (schema.type === 'array' || name === 'sourceCurrency') continue;
        const twice = await rest.call('GET', withQuery(endpoint, `${name}=1&${name}=2`));
        expect({ id: endpoint.id, name, ...twice }).toMatchObject({ status: 400, body: { details: { field: name } } });
        if (endpoint.method === 'GET') expect(twice.body.message).toMatch(/not a list$|one of/);
      }
    }
  });
});

describe('every list', () => {
  test('accepts every kind of value that the OpenAPI document allows for its parameters', async () => {
    const { rest, endpoints } = catalog;
    const good: Record<string, string[]> = {
      integer: ['1', '100'],
      boolean: ['true', 'false'],
      'date-time': ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123+05:30'],
    };
    for (const endpoint of endpoints.filter(({ id }) => id.startsWith('list'))) {
      for (const { name, schema } of endpoint.parameters) {
        const one = schema.items ?? schema;
        const kind = one.format === 'date-time' ? 'date-time' : one.type;
        const values = name === 'sendingAmount' ? ['20000'] : (one.enum ?? good[kind] ?? []);
        for (const value of values) {
          // Amount filters require a currency.
          const more = /^m(in|ax)Amount$/.test(name) ? '&currency=USD' : '';
          const answer = await rest.call('GET', withQuery(endpoint, `${name}=${encodeURIComponent(value)}${more}`));
          expect({ id: endpoint.id, name, value, ...answer }).toMatchObject({ status: 200 });
        }
      }
    }
  });

  test('accepts each of its filters, and finds nothing for an unknown id', async () => {
    const { rest, endpoints } = catalog;
    for (const endpoint of endpoints.filter(({ id }) => id.startsWith('list') && id !== 'listExchangeRates')) {
      const all = await rest.ask('GET', endpoint.path);
      if (endpoint.id !== 'listPlatformExternalAccounts') expect(all.data, endpoint.id).not.toEqual([]);
      for (const { name, schema } of endpoint.parameters.filter((one) => one.in === 'query')) {
        const free = schema.type === 'string' && !schema.enum && !schema.format && name !== 'cursor';
        if (!free) continue;
        for (const value of ['nothing', '', 'Customer:x', '%24nobody%40example.com']) {
          // Names are matched by prefix, so an empty name matches every customer.
          if (endpoint.id === 'listCustomers' && name === 'name' && value === '') continue;
          const { data } = await rest.ask('GET', `${endpoint.path}?${name}=${value}`);
          expect(data, `${endpoint.id} ${name}`).toEqual([]);
        }
      }
    }
  });

  test('includes both ends of a date range', async () => {
    const { rest, quoteId } = catalog;
    const quote = await rest.ask('GET', `/quotes/${quoteId}`);
    const at = encodeURIComponent(quote.createdAt);
    const { data } = await rest.ask('GET', `/quotes?createdAfter=${at}&createdBefore=${at}`);
    expect(data).toContainEqual(quote);
    const transaction = await rest.ask('GET', `/transactions/${quote.transactionId}`);
    const then = encodeURIComponent(transaction.createdAt);
    const transactions = await rest.ask('GET', `/transactions?startDate=${then}&endDate=${then}`);
    expect(transactions.data).toContainEqual(transaction);
    const several = await rest.ask('GET', '/transactions?status=PENDING&status=COMPLETED&limit=100');
    expect(several.data.every(({ status }: Data) => status === 'PENDING' || status === 'COMPLETED')).toBe(true);
  });
});
