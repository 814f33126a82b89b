import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The paths of the guides in the repository. */
export const guides = globSync('docs/guides/*.md', { cwd: root });
export const readGuide = (guide: string) => readFileSync(path.join(root, guide), 'utf8');

/** Returns a guide's JavaScript blocks, which together form one program. */
export const programOf = (guide: string) =>
  [...readGuide(guide).matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = '']) => code).join('\n');

export interface Reader {
  readonly url: string;
  readonly credentials: string;
  readonly customer: string;
  readonly payee: string;
  readonly payees?: readonly string[];
}

/** Creates a folder in which the guides' programs run unchanged and find the packages that an app would install. */
export async function guidePrograms() {
  // The folder is inside the repository, so that the programs find its packages.
  await mkdir(path.join(root, 'node_modules/.cache'), { recursive: true });
  const folder = await mkdtemp(path.join(root, 'node_modules/.cache/guides-'));
  // Uses the client package's source; test/client/install.test.ts tests the package that npm installs.
  const client = path.join(folder, 'node_modules/payments-client');
  await mkdir(client, { recursive: true });
  await symlink(path.join(root, 'src/apps/client'), path.join(client, 'src'));
  const exports = { '.': './src/payments.ts', './operations': './src/generated/operations.ts' };
  await writeFile(path.join(client, 'package.json'), JSON.stringify({ type: 'module', exports }));
  return {
    remove: () => rm(folder, { recursive: true }),
    async runGuide(guide: string, { url, credentials, customer, payee, payees = [] }: Reader): Promise<string> {
      const program = programOf(guide)
        .replaceAll('http://127.0.0.1:4000', url)
        .replaceAll('sandbox:sandbox', credentials);
      const file = path.join(folder, `${path.basename(guide, '.md')}.mjs`);
      await writeFile(file, program);
      const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', file], {
        env: { ...process.env, CUSTOMER: customer, PAYEE: payee, PAYEES: payees.join(' ') },
        timeout: 120_000,
      });
      return stdout;
    },
  };
}
