import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SandboxPlatform } from './layout.ts';

const mutation = `mutation ($input: CreateClientTokenInput!) {
  createClientToken(input: $input) {
    ... on CreateClientTokenSuccess { token expiresAt }
    ... on UserError { message }
  }
}`;

/**
 * Responds to POST /wallet/token in the role of the small server that every wallet needs: that server has the
 * platform's credentials, knows the signed-in user (in the sandbox, the sample customer), and gets a client token for
 * the wallet through the public API.
 */
export async function answerWalletToken(
  request: IncomingMessage,
  response: ServerResponse,
  { credentials: { clientId, secret }, payer }: SandboxPlatform,
): Promise<void> {
  const { customerId } = await payer();
  const answer = await fetch(`http://127.0.0.1:${request.socket.localPort}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      query: mutation,
      variables: {
        input: { boundTo: { customerId }, permissions: ['VIEW', 'TRANSACT'], grants: ['ADD_BENEFICIARIES'] },
      },
    }),
    signal: AbortSignal.timeout(10_000),
  });
  const { data } = (await answer.json()) as { readonly data?: { readonly createClientToken: object } | null };
  const body = JSON.stringify(data?.createClientToken ?? {});
  response
    .writeHead(data && 'token' in data.createClientToken ? 200 : 503, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
    })
    .end(body);
}
