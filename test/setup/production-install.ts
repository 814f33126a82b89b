import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { startChildGateway, temporaryDataDirectory } from './child-gateway.ts';

// `npm run check:production`: the files of the repository alone, in a new folder and with a new home, are installed
// without the packages of development and started. The gateway must answer that it is ready, and stop on SIGTERM.

const root = path.resolve(import.meta.dirname, '../..');

/** Installs without the packages of development, and throws what npm printed when it fails. */
function install(project: string, environment: Readonly<Record<string, string>>): void {
  const { status, stdout, stderr, error } = spawnSync('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  });
  if (status !== 0) throw error ?? new Error(`npm ended with ${status}:\n${stdout}${stderr}`);
}

/** What a clone has not. `.gitignore` names folders only. */
const ignored = ['.git', ...readFileSync(path.join(root, '.gitignore'), 'utf8').split('\n').filter(Boolean)].map(
  (name) => path.join(path.sep, name).replace(/\/$/, ''),
);

const folder = await temporaryDataDirectory();
try {
  const project = path.join(folder.path, 'project');
  const home = path.join(folder.path, 'home');
  await mkdir(home);
  await cp(root, project, { recursive: true, filter: (file) => !ignored.some((name) => file.endsWith(name)) });

  // The path of this process begins with this project's own programs, its Node among them.
  const own = path.join(root, 'node_modules', '.bin');
  const PATH = (process.env.PATH ?? '').split(path.delimiter).filter((entry) => entry !== own);
  const environment = { HOME: home, PATH: PATH.join(path.delimiter) };
  install(project, environment);

  const gateway = await startChildGateway(
    { ...environment, DATA_DIR: path.join(folder.path, 'data') },
    ['npm', 'start'],
    project,
  );
  const ready = await fetch(`${gateway.url}/health/ready`);
  const ended = await gateway.end('SIGTERM');
  if (ready.status !== 200) throw new Error(`/health/ready answered ${ready.status}`);
  if (ended !== 0) throw new Error(`npm start ended with ${ended} after SIGTERM`);
  console.log('A production install starts, is ready, and stops.');
} finally {
  await folder.remove();
}
