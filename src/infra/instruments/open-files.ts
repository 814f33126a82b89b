import { readFileSync } from 'node:fs';

/** The value to use if the system does not report a limit. */
const usual = 10_000;

/** Returns how many files and connections this process may have open. Node has raised it to the system's limit. */
export function maxOpenFiles(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? usual : Number(soft);
  } catch {
    return usual;
  }
}
