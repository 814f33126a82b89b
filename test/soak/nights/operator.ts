import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Installation, Unit } from './installation.ts';

/** An operator who runs only commands from the documentation or from the output of an earlier command. */
export type Operator = ReturnType<typeof operatorOf>;

const pages = ['night', 'operating', 'production', 'rails'];

/** The commands in the documentation, where `…` and names in capitals are placeholders. */
const documented = pages.flatMap((page) => {
  const text = readFileSync(`docs/${page}.md`, 'utf8');
  return [...text.matchAll(/`([^`\n]+)`/g), ...text.matchAll(/^ {0,4}(\S.*)$/gm)].map(([, command = '']) => command);
});

const patterns = documented.map(
  (command) =>
    new RegExp(
      `^${command
        .replace(/\s+#.*$/, '')
        .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
        .replace(/…|\b[A-Z_]{2,}\b/g, '.+')}$`,
    ),
);

/** @throws Error if neither a page nor an earlier output contains the command */
function expectKnown(command: string, outputs: readonly string[]): void {
  if (outputs.some((output) => output.includes(command))) return;
  if (!patterns.some((pattern) => pattern.test(command))) throw new Error(`no page contains ${command}`);
}

export function operatorOf(machine: Installation) {
  const outputs: string[] = [];
  const known = async (command: string, run: () => Promise<string>) => {
    expectKnown(command, outputs);
    const output = await run();
    outputs.push(output);
    return {
      output,
      /** Returns the part of the output that matches. @throws Error if there is none */
      find(wanted: RegExp): string {
        const [found] = wanted.exec(output) ?? [];
        if (found === undefined) throw new Error(`${command} does not print ${wanted}:\n${output}`);
        return found;
      },
    };
  };
  return {
    machine,
    run: (command: string) => known(command, () => machine.shell(command)),
    async log(unit: Unit, wanted: RegExp): Promise<string> {
      for (;;) {
        const output = await machine.read(`${unit}.log`);
        const [found] = wanted.exec(output) ?? [];
        if (found !== undefined) return found;
        await delay(500);
      }
    },
    sql: (statement: string, server: 'postgres' | 'standby' = 'postgres') =>
      known(statement, () => machine.psql(statement, server)),
  };
}
