import { readFileSync } from 'node:fs';

/** The value to use if the system does not report a limit. */
const usual = 10_000;

/** Returns the maximum number of files and connections of this process, which Node has raised to the system's. */
export function maxOpenFiles(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? usual : Number(soft);
  } catch {
    return usual;
  }
}
