import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Data } from '../setup/gateway.ts';
import { base, restTransfer } from '../setup/rest.ts';
import { openCatalog } from '../setup/rest-catalog.ts';

const catalog = await openCatalog();

describe('every command', () => {
  const withBodies = () => catalog.endpoints.filter(({ required }) => required !== undefined);

  test('has a sample request in this test', () => {
    const { endpoints, commands } = catalog;
    const known = endpoints.flatMap(({ id, method }) => (method === 'GET' ? [] : [id]));
    expect(known.sort()).toEqual([...commands].sort());
  });

  test('refuses malformed JSON, and JSON that is not an object', async () => {
    const { rest, good } = catalog;
    for (const { id, method, bodyIsOptional } of withBodies()) {
      const { path } = await good(id);
      for (const raw of ['{', ...(bodyIsOptional ? [] : ['']), '{"a":}', 'null x']) {
        const answer = await rest.call(method, path, { raw });
        expect({ id, raw, ...answer }).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST_FORMAT' } });
      }
      for (const raw of ['null', '[]', '"x"', '7']) {
        const answer = await rest.call(method, path, { raw });
        expect({ id, raw, ...answer }).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
      }
    }
  });

  test('refuses a body of an unsupported type or encoding, and names the accepted encoding', async () => {
    const { rest, good } = catalog;
    const { path, body } = await good('createCustomer');
    const plain = JSON.stringify(body);
    for (const raw of [plain, new Uint8Array(gzipSync(plain))]) {
      const answer = await rest.call('POST', path, { raw, headers: { 'content-encoding': 'gzip' } });
      expect(answer).toMatchObject({ status: 415, body: { code: 'INVALID_REQUEST_FORMAT' } });
      expect(answer.headers.get('accept-encoding')).toBe('identity');
    }
    const forms = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];
    const charsets = ['application/json; charset=iso-8859-1', 'application/json;charset="utf-16"'];
    for (const type of [...forms, 'application/jsonx', ...charsets]) {
      for (const raw of type === 'text/plain' ? [plain, ''] : [plain]) {
        const answer = await rest.call('POST', path, { raw, headers: { 'content-type': type } });
        expect(answer).toMatchObject({ status: 415, body: { code: 'INVALID_REQUEST_FORMAT' } });
      }
    }
    for (const [name, value] of [
      ['content-encoding', 'identity'],
      ['content-type', 'application/json; charset="UTF-8"'],
      ['content-type', 'application/json ; charset=utf-8'],
      ['content-type', 'application/json;'],
    ] as const) {
      const { path, body } = await good('createCustomer');
      expect(await rest.call('POST', path, { body, headers: { [name]: value } })).toMatchObject({ status: 201 });
    }
  });

  test('accepts only UTF-8 text, with or without a byte order mark', async () => {
    const { rest, good } = catalog;
    const { path, body } = await good('createCustomer');
    const bytes = (fullName: Buffer) =>
      new Uint8Array(
        Buffer.concat([Buffer.from(`${JSON.stringify(body).slice(0, -1)},"fullName":"`), fullName, Buffer.from('"}')]),
      );
    for (const wrong of [[0xff], [0x47, 0xe9, 0x61], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80]]) {
      const answer = await rest.call('POST', path, { raw: bytes(Buffer.from(wrong)) });
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST_FORMAT' } });
    }
    const marked = await rest.call('POST', path, { raw: `\ufeff${JSON.stringify(body)}` });
    expect(marked).toMatchObject({ status: 201 });
  });

  test('accepts a streamed body without Content-Length, and rejects one that is too large', async () => {
    const { t, good } = catalog;
    const send = (path: string, text: string) =>
      fetch(`${t.url}${base}${path}`, {
        method: 'POST',
        headers: { authorization: t.platform.authorization, 'content-type': 'application/json' },
        body: new Blob([text]).stream(),
        duplex: 'half',
      } as RequestInit);
    const response = await send('/transfer-out', 'x'.repeat(180_000));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
    const { path, body } = await good('createCustomer');
    expect((await send(path, JSON.stringify(body))).status).toBe(201);
  });

  test('names all missing, unknown and wrongly typed fields in one error', async () => {
    const { rest, good } = catalog;
    /** The fields that accept one of the wrong values below, each with the value that it accepts. */
    const right: Record<string, unknown> = { 'updateExternalAccount.defaultUmaDepositAccount': true };
    for (const { id, method, required } of withBodies()) {
      // A manifest's keys are document hashes, so none is an unknown field: the error names a document instead.
      if (id === 'registerTrustedDocuments') continue;
      const { path, body = {} } = await good(id);
      const fields = Object.keys(body).filter((field) => field !== 'customerType');
      for (const wrong of [true, [], { x: 1 }]) {
        const spoilt = Object.fromEntries(fields.map((field) => [field, wrong]));
        const answer = await rest.call(method, path, { body: { ...body, ...spoilt, extra: 1 } });
        expect({ id, ...answer }).toMatchObject({ id, status: 400 });
        const named = answer.body.details.errors.map((error: Data) => error.field.split('.')[0]);
        const refused = fields.filter((field) => right[`${id}.${field}`] !== wrong);
        expect(named).toEqual(expect.arrayContaining([...refused, 'extra']));
      }
      const empty = await rest.call(method, path, { body: {} });
      const missing = (empty.body.details?.errors ?? []).filter((error: Data) => error.constraint === 'required');
      expect({ id, status: empty.status, missing: missing.map((error: Data) => error.field).sort() }).toEqual({
        id,
        status: required?.length ? 400 : 200,
        // The OpenAPI document does not list the two parties as required, because a lookup can replace them.
        missing: [...(required ?? []), ...(id === 'createQuote' ? ['source', 'destination'] : [])].sort(),
      });
      const unknown = await rest.call(method, path, { body: { ...body, extra: 1 } });
      expect({ id, ...unknown }).toMatchObject({ status: 400, body: { details: { errors: [{ field: 'extra' }] } } });
    }
  });

  test('refuses a wrong type in each field of its body, in every variant, and names the field', async () => {
    const { rest, good } = catalog;
    for (const { id, method, variants } of withBodies()) {
      const { path } = await good(id);
      for (const { chosen, fields } of variants) {
        for (const field of fields) {
          const wrong = await rest.call(method, path, { body: { ...chosen, [field]: [7] } });
          expect({ id, field, ...wrong }).toMatchObject({ status: 400 });
          const named = wrong.body.details.errors.map((error: Data) => error.field.split('.')[0]);
          expect(named, `${id} ${field}`).toContain(field);
        }
      }
    }
  });

  test('may be sent without a body if the body is optional, with or without a content type', async () => {
    const { rest, good, endpoints } = catalog;
    const optional = endpoints.filter(({ bodyIsOptional }) => bodyIsOptional);
    expect(optional.map(({ id }) => id).sort()).toEqual(['approveTransaction', 'rejectTransaction', 'testWebhook']);
    for (const { id, method } of optional) {
      for (const named of [false, true]) {
        const headers: Record<string, string> = named ? { 'content-type': 'application/json' } : {};
        const answer = await rest.call(method, (await good(id)).path, { headers });
        expect({ id, ...answer }).toMatchObject({ id, status: 200 });
      }
    }
  });

  test('refuses fields in a body if it takes no body, instead of ignoring them', async () => {
    const { rest, good, endpoints } = catalog;
    const bare = endpoints.filter(({ method, required }) => method !== 'GET' && required === undefined);
    expect(bare.map(({ id }) => id)).toEqual(expect.arrayContaining(['executeQuote', 'deleteCustomer', 'deleteToken']));
    for (const { id, method } of bare) {
      const { path } = await good(id);
      const refused = await rest.call(method, path, { body: { expectedVersion: 7 } });
      expect({ id, ...refused }).toMatchObject({ status: 400, body: { details: { field: 'expectedVersion' } } });
      for (const raw of ['null', '{}']) {
        const { path } = await good(id);
        expect((await rest.call(method, path, { raw })).status, id).toBeLessThan(300);
      }
    }
  });

  test('refuses a precondition that it does not check, instead of ignoring it', async () => {
    const { rest, good, endpoints } = catalog;
    for (const { id, method, statuses } of endpoints.filter(({ method }) => method !== 'GET')) {
      for (const header of ['If-Match', 'If-None-Match', 'If-Unmodified-Since']) {
        const { path, body } = await good(id);
        const answered = await rest.call(method, path, { body, headers: { [header]: '"999"' } });
        if (header === 'If-Match' && statuses.includes(412)) expect({ id, ...answered }).toMatchObject({ status: 412 });
        else expect({ id, ...answered }).toMatchObject({ status: 400, body: { details: { field: header } } });
      }
    }
  });

  test('takes effect once per idempotency key, and returns the same response byte for byte', async () => {
    const { rest, endpoints, good } = catalog;
    const keyed = endpoints.filter((endpoint) => endpoint.keyed);
    expect(keyed.map(({ id }) => id)).toEqual(
      expect.arrayContaining(
        // A manifest needs no key: registering it again changes nothing.
        endpoints
          .filter(({ id, method }) => method === 'POST' && id !== 'registerTrustedDocuments')
          .map(({ id }) => id),
      ),
    );
    for (const { id, method } of keyed) {
      const { path, body } = await good(id);
      const key = `contract-${id}`;
      const first = await rest.call(method, path, { body, key });
      expect({ id, ...first }).toMatchObject({ id, status: first.status < 300 ? first.status : 200 });
      expect(first.headers.has('idempotency-replayed')).toBe(false);
      const again = await rest.call(method, path, { body, key });
      if (id === 'createToken' || id === 'rotateToken') {
        // The response contains a secret and is not stored.
        const existing = { code: 'CONFLICT', details: { existingId: first.body.id } };
        expect(again).toMatchObject({ status: 409, body: existing });
      } else {
        expect({ id, status: again.status, text: again.text }).toEqual({ id, status: first.status, text: first.text });
        expect(again.headers.get('idempotency-replayed')).toBe('true');
      }
    }
  });

  test('accepts a key as a plain or structured string, and refuses a misnamed header', async () => {
    const { rest, good } = catalog;
    const { path, body } = await good('createCustomer');
    const first = await rest.call('POST', path, { body, key: 'a"\\b' });
    const again = await rest.call('POST', path, { body, key: '"a\\"\\\\b"' });
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    for (const key of ['"', '"half', 'half"', '"a"b"']) {
      const { path: other, body: own } = await good('createCustomer');
      const made = await rest.call('POST', other, { body: own, key });
      expect([key, made.status, made.headers.has('idempotency-replayed')]).toEqual([key, 201, false]);
    }
    const refused = { status: 400, body: { code: 'INVALID_INPUT', details: { field: 'Idempotency-Key' } } };
    const malformed = ['""', '"with blanks"', Buffer.from('"ümlaut"').toString('latin1')];
    for (const key of [...malformed, 'with space', 'é'.normalize('NFC'), 'x'.repeat(256)])
      expect(await rest.call('POST', path, { body, key })).toMatchObject(refused);
    const misnamed = await rest.call('POST', path, { body, headers: { 'x-idempotency-key': 'k' } });
    expect(misnamed).toMatchObject({ status: 400, body: { details: { field: 'X-Idempotency-Key' } } });
  });

  test('replays a stored refusal, and does not store the refusal of invalid input', async () => {
    const { rest, scene } = catalog;
    const body = restTransfer(scene.eur.id, scene.outsideEur.id, 50);
    const refused = await rest.call('POST', '/transfer-out', { body, key: 'refused' });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'INSUFFICIENT_BALANCE', details: { field: 'source.accountId' } },
    });
    await rest.ask('POST', `/sandbox/internal-accounts/${scene.eur.id}/fund`, { amount: 1_000 });
    const again = await rest.call('POST', '/transfer-out', { body, key: 'refused' });
    expect(again.text).toBe(refused.text);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect((await rest.call('POST', '/transfer-out', { body: { ...body, amount: 0 }, key: 'later' })).status).toBe(400);
    expect((await rest.call('POST', '/transfer-out', { body, key: 'later' })).status).toBe(201);
  });
});
