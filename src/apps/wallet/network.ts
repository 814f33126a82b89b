/** A switch between the wallet and the network, to show what happens when a phone is in a tunnel. */
export class Network {
  #isCut = false;

  /** Sends a request, unless the network is cut. */
  readonly fetch: typeof fetch = (input, init) =>
    this.#isCut ? Promise.reject(new TypeError('The network is cut.')) : fetch(input, init);

  /** Opens a socket, as WebSocket does; where the network is cut, one that closes at once. */
  readonly WebSocket = Object.assign(
    (() => {
      const isCut = () => this.#isCut;
      return function open(url: string, protocols?: string) {
        return isCut() ? deadSocket() : new WebSocket(url, protocols);
      };
    })(),
    { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 },
  );

  get isCut(): boolean {
    return this.#isCut;
  }

  set isCut(cut: boolean) {
    this.#isCut = cut;
  }
}

/** Makes the stand-in for a socket without a network. */
function deadSocket() {
  const socket = {
    onclose: null as ((event: object) => void) | null,
    send() {},
    close() {},
  };
  queueMicrotask(() => socket.onclose?.({ code: 1006, reason: 'no network', wasClean: false }));
  return socket;
}
