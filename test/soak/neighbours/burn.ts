// Uses a processor for a part of the time, and does nothing: what a service costs that uses as much. The part is in each message.

const pieceMs = 10;
let part = 0;

function burn(): void {
  const end = performance.now() + pieceMs * part;
  while (performance.now() < end);
  setTimeout(burn, pieceMs * (1 - part));
}
burn();

process.on('message', (next: number) => {
  part = next;
});
