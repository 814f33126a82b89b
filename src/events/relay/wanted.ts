/** How long an instance wants a platform's events after it has said so: it says so again every five seconds. */
const validMs = 16_000;
/** The most platforms in one message. */
const mostInMessage = 10_000;

/** The platforms whose events other instances want. */
export class Wanted {
  readonly #until = new Map<string, number>();

  /** Reads what another instance wants. What is no list of ids is ignored. */
  note(message: { string(): string }): void {
    const now = Date.now();
    for (const [platformId, until] of this.#until) if (until < now) this.#until.delete(platformId);
    for (const platformId of message.string().split(',')) this.#until.set(platformId, now + validMs);
  }

  has(platformId: string): boolean {
    return (this.#until.get(platformId) ?? 0) >= Date.now();
  }

  /** Makes the messages with which an instance says what it wants. */
  messagesOf(platformIds: readonly string[]): string[] {
    const messages: string[] = [];
    for (let at = 0; at < platformIds.length; at += mostInMessage) {
      messages.push(platformIds.slice(at, at + mostInMessage).join(','));
    }
    return messages;
  }
}
