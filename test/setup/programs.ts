import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect } from 'vitest';

/** Returns whether all of the given programs are installed. */
export const isOnPath = (...programs: readonly string[]): boolean =>
  programs.every((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0);

/** A folder for npm packages that are not among the project's dependencies, and for programs that use them. */
export class ProgramFolder {
  readonly path = mkdtempSync(path.join(tmpdir(), 'programs-'));

  constructor() {
    afterAll(() => rmSync(this.path, { recursive: true, force: true }));
    this.write('package.json', JSON.stringify({ type: 'module', private: true }));
  }

  write(name: string, text: string): void {
    const file = path.join(this.path, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Installs packages, along with the tools that compile and run programs. */
  install(...packages: string[]): Promise<string> {
    const options = ['--no-audit', '--no-fund', '--ignore-scripts'];
    return this.#run('npm', 'install', ...options, ...packages, 'typescript@5', '@types/node@24', 'tsx@4');
  }

  /** Runs a program from a package. If the program fails, the test fails with the program's output. */
  bin(name: string, ...args: string[]): Promise<string> {
    return this.#run(path.join(this.path, 'node_modules/.bin', name), ...args);
  }

  /** Compiles a program under strict options and runs it. Returns its output. */
  async compileAndRun(file: string, program: string): Promise<string> {
    this.write(file, program);
    const options = ['--strict', '--noEmit', '--skipLibCheck', '--allowImportingTsExtensions', '--target', 'esnext'];
    await this.bin('tsc', ...options, '--module', 'esnext', '--moduleResolution', 'bundler', '--types', 'node', file);
    return (await this.bin('tsx', file)).trim();
  }

  async #run(command: string, ...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(command, args, { cwd: this.path, maxBuffer: 2 ** 26 }).catch(
      (error: { readonly message: string; readonly stdout: string }) => expect.fail(`${error.message} ${error.stdout}`),
    );
    return stdout;
  }
}
