/** The terminal of a command. */
export interface Screen {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Writes lines of the answer. */
  readonly out: (text: string) => void;
  /** Writes lines about what goes on, or went wrong. */
  readonly err: (text: string) => void;
  /** Aborted when its user wants no more. */
  readonly signal: AbortSignal;
}

/** A command that cannot go on, in words for its user. */
export class Failure extends Error {
  /** The code of the refusal, where the service refused it. */
  readonly code: string | undefined;
  constructor(message: string, code?: string) {
    super(message);
    this.name = 'Failure';
    this.code = code;
  }
}

/** Returns the time of day of an instant, for people. */
export function timeOfDay(instant: string): string {
  const date = new Date(instant);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
