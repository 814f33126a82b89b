import { randomUUID } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { type NatsAddress, optionsOf } from './nats-address.ts';
import { answerMs, findStream, passedOnSubject, wantedSubject } from './stream.ts';

/**
 * Looks whether a relay would carry events, as an instance would use it, and changes nothing there.
 * @returns a few words about it
 * @throws with the reason why it would not
 */
export async function examineRelay(address: NatsAddress): Promise<string> {
  const [{ connect, credsAuthenticator }, { jetstreamManager }] = await Promise.all([
    import('@nats-io/transport-node'),
    import('@nats-io/jetstream'),
  ]);
  const connection = await connect({
    ...optionsOf(address, credsAuthenticator),
    reconnect: false,
    timeout: answerMs,
    name: 'payments-gateway doctor',
  });
  try {
    await requireSubscribing(connection, [wantedSubject, passedOnSubject(randomUUID())]);
    const manager = await jetstreamManager(connection, { timeout: answerMs });
    const where = `connected to ${connection.getServer()}`;
    return (await findStream(manager))
      ? `${where}, and its stream passes events on`
      : `${where}; the first instance makes the stream`;
  } finally {
    await connection.close();
  }
}

/** Subscribes as instances do. @throws where the server permits it not */
async function requireSubscribing(connection: NatsConnection, subjects: readonly string[]): Promise<void> {
  const refused: Error[] = [];
  for (const subject of subjects) {
    connection.subscribe(subject, { callback: (error) => void (error && refused.push(error)) });
  }
  // The server refuses before it answers this.
  await connection.flush();
  if (refused[0]) throw refused[0];
}
