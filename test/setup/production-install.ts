import { spawnSync } from 'node:child_process';
import { cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { startChildGateway, temporaryDataDirectory } from './child-gateway.ts';

// `npm run check:production`: the files of the repository alone, in a new folder and with a new home, are installed
// without the packages of development and started. The gateway must answer that it is ready, and stop when told to.

const root = path.resolve(import.meta.dirname, '../..');

/** Runs a command to its end, and throws what it printed unless it succeeds. */
function run(command: string, args: readonly string[], cwd: string, environment: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  });
  if (status !== 0) throw error ?? new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

/** Copies what a clone would have, with the changes that are not committed yet. */
async function copyRepository(target: string): Promise<void> {
  const listed = run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], root);
  const deleted = new Set(run('git', ['ls-files', '-z', '--deleted'], root).split('\0'));
  for (const file of listed.split('\0').filter((name) => name !== '' && !deleted.has(name))) {
    await cp(path.join(root, file), path.join(target, file));
  }
}

const folder = await temporaryDataDirectory();
try {
  const project = path.join(folder.path, 'project');
  const home = path.join(folder.path, 'home');
  await Promise.all([mkdir(project), mkdir(home)]);
  await copyRepository(project);

  // The path of this process begins with this project's own programs, its Node among them.
  const own = path.join(root, 'node_modules', '.bin');
  const PATH = (process.env.PATH ?? '').split(path.delimiter).filter((entry) => entry !== own);
  const environment = { HOME: home, PATH: PATH.join(path.delimiter) };
  run('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], project, environment);

  const gateway = await startChildGateway({ ...environment, DATA_DIR: path.join(folder.path, 'data') }, ['npm', 'start'], project);
  const ready = await fetch(`${gateway.url}/health/ready`);
  const ended = await gateway.end('SIGTERM');
  if (ready.status !== 200) throw new Error(`/health/ready answered ${ready.status}`);
  if (ended !== 0) throw new Error(`npm start ended with ${ended} after SIGTERM`);
  console.log('A production install starts, is ready, and stops.');
} finally {
  await folder.remove();
}
