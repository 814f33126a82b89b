import type { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** A host (a name, an IPv4 address or an IPv6 address in brackets) and an optional port. `URL` checks the numbers. */
const authorityForm = /^(?:[a-z\d._~-]+|\[[a-f\d:.]+\])(?::\d{0,5})?$/i;
/** A request target that includes the host, as sent to proxies (RFC 9112, 3.2.2). */
const absoluteForm = /^https?:\/\/([^/?]*)(.*)$/i;

/**
 * Makes an HTTP server return 400 for a request without a path or without exactly one valid Host header (RFC 9112,
 * 3.2), before its listeners see it. Absolute request targets are reduced to their path here.
 */
export function refuseWrongAddresses(server: EventEmitter): void {
  const emit = server.emit.bind(server);
  server.emit = (event, ...args: unknown[]) => {
    const [request, answer] = args;
    if (event === 'clientError' && isLongAddress(request)) {
      refuseUpgrade(answer as Duplex, '414 URI Too Long');
      return true;
    }
    const fault = request instanceof IncomingMessage ? takeAddress(request) : undefined;
    if (fault === undefined) return emit(event, ...args);
    if (answer instanceof ServerResponse) refuse(answer, fault);
    else refuseUpgrade(answer as Duplex);
    return true;
  };
  // Without these listeners, Node itself would answer an Expect header before the request is checked.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (_request, response: ServerResponse) => response.writeHead(417).end());
}

/** Refuses a request, with a body in the form shared by both APIs. */
function refuse(response: ServerResponse, message: string): void {
  const code = 'BAD_REQUEST';
  const body = { status: 400, code, message, errors: [{ message, extensions: { code } }] };
  response.writeHead(400, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

/** Refuses a request for which Node provides only the socket. Does not wait for the client to close it. */
function refuseUpgrade(socket: Duplex, status = '400 Bad Request'): void {
  socket.on('error', () => undefined);
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`, () => socket.destroy());
}

/** The address is too long if the first line has more bytes than this (RFC 9110, 4.1, recommends at least 8,000). */
const longAddress = 8 * 1024;

/** Returns whether a request's head is too long because of its address. For other overlong heads, Node returns 431. */
function isLongAddress(error: unknown): boolean {
  const { code, rawPacket } = error as { readonly code?: string; readonly rawPacket?: Buffer };
  return code === 'HPE_HEADER_OVERFLOW' && rawPacket?.subarray(0, longAddress).includes('\r\n') === false;
}

/** Reduces a request's target to its path, and returns what is wrong with its address, if anything. */
function takeAddress(request: IncomingMessage): string | undefined {
  const { rawHeaders, headers, httpVersion, method, url = '' } = request;
  const { host } = headers;
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) return 'a request must have exactly one Host header';
  if (host !== undefined && !isAuthority(host)) return 'the Host header is not a valid host';
  if (url.includes('#')) return 'the path has a fragment';
  if (url.startsWith('/') || (url === '*' && method === 'OPTIONS')) return undefined;
  const [, named, path = ''] = absoluteForm.exec(url) ?? [];
  if (named === undefined) return 'the request has no path';
  if (named.toLowerCase() !== host?.toLowerCase()) return 'the request and its Host header name different hosts';
  request.url = path.startsWith('/') ? path : `/${path}`;
  return undefined;
}

/** Caches the last valid host, because most requests have the same one. */
let lastAuthority: string | undefined;

function isAuthority(host: string): boolean {
  if (host === lastAuthority) return true;
  if (!authorityForm.test(host) || !URL.canParse(`http://${host}`)) return false;
  lastAuthority = host;
  return true;
}
