import { openPayments } from '../../src/apps/client/payments.ts';
import { type App, type Following, followed } from './follow-transactions.ts';

/**
 * Follows transactions over a WebSocket, in a browser or React Native. (If there is no global `WebSocket`, pass an
 * implementation as `webSocketImpl`.) The package renews the token on the open socket before it expires.
 */
export function followOverWebSocket(app: App, webSocketImpl?: unknown): Following {
  const payments = openPayments({ url: app.url, token: app.token, webSocketImpl });
  const following = payments.follow(followed(app, payments));
  return { ...following, stop: () => payments.stop() };
}
