import { readFileSync } from 'node:fs';

/** The limit to assume if the system does not report one. */
const usual = 10_000;

/** Returns how many files and connections this process may open. Node has raised this limit to the system's maximum. */
export function maxOpenFiles(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? usual : Number(soft);
  } catch {
    return usual;
  }
}
