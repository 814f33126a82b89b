import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isLoopbackAddress, isPublicAddress } from '../../src/outside/addresses.ts';
import { findDomainProof, type ProofLookup } from '../../src/outside/domain-proof.ts';
import { certificate } from '../setup/certificate.ts';

/** The owner of a domain publishes a text in it: as a TXT record, or in a file that is read over HTTPS. */

const text = 'uma-platform=0123456789abcdef0123456789abcdef01234567';

let server: Server;
let lookup: ProofLookup;
let connections = 0;
const sockets = new Set<Socket>();
/** What the host answers, and the path that it was asked for. */
let file: { readonly status: number; readonly body: string; readonly location?: string } | 'NEVER';
let askedFor: (string | undefined)[] = [];
let txt: () => Promise<string[][]>;
let askedName: string | undefined;

beforeAll(async () => {
  server = createServer(certificate, (request, response) => {
    askedFor.push(request.url);
    if (file === 'NEVER') return;
    response.writeHead(file.status, file.location === undefined ? {} : { location: file.location }).end(file.body);
  });
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  lookup = {
    resolveTxt: (name) => {
      askedName = name;
      return txt();
    },
    resolve: async () => ['127.0.0.1'],
    isAllowed: isLoopbackAddress,
    port: (server.address() as AddressInfo).port,
    ca: certificate.cert,
  };
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((closed) => server.close(closed));
});
beforeEach(() => {
  file = { status: 404, body: '' };
  txt = failing('ENODATA');
  connections = 0;
  askedFor = [];
});

function failing(code: string) {
  return () => Promise.reject(Object.assign(new Error(code), { code }));
}

const find = (changes: Partial<ProofLookup> = {}) => findDomainProof('pay.bank.com', text, { ...lookup, ...changes });

describe('a TXT record', () => {
  test('that is the text proves it, whatever else is there', async () => {
    txt = async () => [['v=spf1 -all'], [text.slice(0, 9), text.slice(9)]];
    expect(await find()).toBe('FOUND');
    expect(askedName).toBe('_uma-platform.pay.bank.com');
  });

  test.each([
    ['another text', `${text.slice(0, -1)}8`],
    ['a longer one', `${text}0`],
    ['the start of it', text.slice(0, -1)],
    ['one that has it in it', `not ${text}`],
  ])('that is %s proves nothing', async (_what, record) => {
    txt = async () => [[record]];
    expect(await find()).toBe('ABSENT');
  });

  test.each(['ENODATA', 'ENOTFOUND'])('that is not there (%s) is absent', async (code) => {
    txt = failing(code);
    expect(await find()).toBe('ABSENT');
  });

  test.each(['ESERVFAIL', 'ETIMEOUT', 'ECONNREFUSED'])('that cannot be looked up (%s) is unknown', async (code) => {
    txt = failing(code);
    expect(await find()).toBe('UNKNOWN');
  });
});

describe('a file', () => {
  test('that has the text in a line proves it, though the name servers do not answer', async () => {
    file = { status: 200, body: `# ours\r\n${text}\r\n` };
    txt = failing('ESERVFAIL');
    expect(await find()).toBe('FOUND');
    expect(askedFor).toEqual(['/.well-known/uma-platform.txt']);
  });

  test.each([
    ['no such text', { status: 200, body: `${text}0` }],
    ['no success', { status: 404, body: text }],
    ['a redirect', { status: 302, body: text, location: 'https://pay.bank.com/elsewhere' }],
    ['the text behind its first bytes', { status: 200, body: `${'\n'.repeat(5_000)}${text}` }],
  ])('with %s proves nothing', async (_what, answered) => {
    file = answered;
    expect(await find()).toBe('ABSENT');
    expect(askedFor).toEqual(['/.well-known/uma-platform.txt']);
  });

  test('of a host whose certificate is not trusted, or of another name, proves nothing', async () => {
    file = { status: 200, body: text };
    const { ca: _ca, ...untrusting } = lookup;
    expect(await findDomainProof('pay.bank.com', text, untrusting)).toBe('ABSENT');
    expect(await findDomainProof('other.bank.com', text, lookup)).toBe('ABSENT');
    expect(askedFor).toEqual([]);
  });

  test('is not asked for at an address inside, alone or beside a public one', async () => {
    file = { status: 200, body: text };
    for (const found of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::1'], ['169.254.169.254'], ['10.0.0.1'], []]) {
      expect(await find({ isAllowed: isPublicAddress, resolve: async () => found }), String(found)).toBe('ABSENT');
    }
    expect(connections).toBe(0);
  });
});
