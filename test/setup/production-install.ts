import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { startEmbeddedPostgres } from '../../src/infra/database/embedded/embedded.ts';
import { makeServingLogin } from '../../src/infra/database/embedded/serving-login.ts';
import { type ChildGateway, startChildGateway, temporaryDataDirectory } from './child-gateway.ts';

// `npm run check:production`: copies only the repository's files to a new folder, installs them there with a new home
// directory, and starts a gateway, which must become ready and stop on SIGTERM. This is done in two ways:
// 1. As in the README: without development packages, and with the embedded Postgres.
// 2. As in the image (deploy/install.sh): with NODE_ENV=production and an external Postgres, as an unprivileged user,
//    and in a read-only folder.

const root = path.resolve(import.meta.dirname, '../..');

/** What the copy leaves out: `.git`, and the folders that `.gitignore` names. */
const ignored = ['.git', ...readFileSync(path.join(root, '.gitignore'), 'utf8').split('\n').filter(Boolean)].map(
  (name) => path.join(path.sep, name).replace(/\/$/, ''),
);

async function copyProject(project: string): Promise<void> {
  await cp(root, project, { recursive: true, filter: (file) => !ignored.some((name) => file.endsWith(name)) });
}

/** Checks that a gateway becomes ready and stops in time. */
async function check(gateway: ChildGateway, how: string): Promise<void> {
  const ready = await fetch(`${gateway.url}/health/ready`);
  const start = performance.now();
  const ended = await gateway.end('SIGTERM');
  const seconds = (performance.now() - start) / 1_000;
  if (ready.status !== 200) throw new Error(`/health/ready answered ${ready.status}`);
  if (ended !== 0) throw new Error(`${how} exited with ${ended} after SIGTERM:\n${gateway.output()}`);
  if (seconds > 10) throw new Error(`${how} took ${seconds} s to stop, but Docker kills it after 10 s`);
}

/** Runs a program to completion, and throws an error with its output if it fails. */
function run([command = '', ...args]: readonly string[], cwd: string, environment: NodeJS.ProcessEnv): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', env: environment });
  if (status !== 0) throw error ?? new Error(`${command} ${args.join(' ')} exited with ${status}:\n${stdout}${stderr}`);
}

async function checkSandbox(folder: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const project = path.join(folder, 'sandbox');
  await copyProject(project);
  run(['npm', 'ci', '--omit=dev', '--no-audit', '--no-fund'], project, { ...process.env, ...environment });
  const data = { ...environment, DATA_DIR: path.join(folder, 'data') };
  await check(await startChildGateway(data, ['npm', 'start'], project), 'npm start');
  console.log('A production installation starts, is ready, and stops.');
}

/** Installs the project as in the image, creates its tables, and starts an instance that cannot write to its folder. */
async function checkImage(folder: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const project = path.join(folder, 'image');
  await copyProject(project);
  // The image has only one version of Node. Here, the version that runs this program is used.
  const PATH = `${path.dirname(process.execPath)}${path.delimiter}${environment.PATH}`;
  run(['sh', 'deploy/install.sh'], project, { ...process.env, ...environment, PATH });
  if (existsSync(path.join(project, 'node_modules/@prisma/internals')))
    throw new Error('the image has development tools');
  run(['chmod', '-R', 'a-w,a+rX', project], folder, process.env);

  const server = await startEmbeddedPostgres({ dataDir: path.join(folder, 'server') });
  try {
    const node = [process.execPath, '--disable-warning=ExperimentalWarning'];
    const user = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
    const settings = {
      HOME: '/nonexistent',
      NODE_ENV: 'production',
      SECRET_KEY: randomBytes(32).toString('base64'),
      CLIENT_TOKEN_KEY: randomBytes(32).toString('base64'),
    };
    const migrate = [...user, ...node, 'src/commands.ts', 'ops', 'migrate'];
    run(migrate, project, { ...process.env, ...settings, DATABASE_OWNER_URL: server.url });
    await makeServingLogin(server.url);
    const program = [...user, ...node, 'src/main.ts'];
    await check(await startChildGateway({ ...settings, DATABASE_URL: server.url }, program, project), 'the instance');
  } finally {
    await server.stop();
  }
  const { stdout } = spawnSync('du', ['-sm', path.join(project, 'node_modules')], { encoding: 'utf8' });
  console.log(
    `An installation as in the image starts from a read-only folder, and stops. Its packages take ${parseInt(stdout, 10)} MB.`,
  );
}

const folder = await temporaryDataDirectory();
try {
  const home = path.join(folder.path, 'home');
  await mkdir(home);
  // Leaves out this project's own programs, including its Node, which come first in this process's PATH.
  const own = path.join(root, 'node_modules', '.bin');
  const PATH = (process.env.PATH ?? '').split(path.delimiter).filter((entry) => entry !== own);
  const environment = { HOME: home, PATH: PATH.join(path.delimiter) };
  await checkSandbox(folder.path, environment);
  await checkImage(folder.path, environment);
} finally {
  spawnSync('chmod', ['-R', 'u+w', folder.path]);
  await folder.remove();
}
