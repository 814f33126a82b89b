import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { openDocs } from '../src/api/pages/docs.ts';
import { readConfig, secretSettings } from '../src/server/config.ts';
import { settings } from '../src/server/settings.ts';
import { isWeakKey } from '../src/server/start/unsafe-settings.ts';

// These tests check that everything named in the deployment files exists. They do not deploy anything.

const root = path.resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const yamlFiles = globSync('deploy/**/*.{yaml,yml}', { cwd: root });
const files = [
  'Dockerfile',
  'deploy/systemd/payments-gateway@.service',
  ...yamlFiles.filter((file) => !file.startsWith('deploy/prometheus/')),
];

const foreign = /^(POSTGRES_|NODE_IMAGE|CMD|ALL|CASCADE)/;
const settingNames = new Set([...Object.keys(settings), ...secretSettings.map((name) => `${name}_FILE`)]);

const effective = (file: string) => read(file).replace(/^\s*#.*$/gm, '');

describe.each(files)('%s', (file) => {
  test('sets only settings that exist', () => {
    const names = [...effective(file).matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)].map(([name]) => name);
    const unknown = names.filter((name) => !settingNames.has(name) && !foreign.test(name));
    expect(unknown.filter((name) => !/^(AF_INET|AF_UNIX)/.test(name))).toEqual([]);
  });

  test('names only existing files and health paths', () => {
    const text = read(file);
    const programs = [...text.matchAll(/\bsrc\/[\w/.-]+\.ts\b|\bdeploy\/[\w/.-]+\.(?:sh|yaml|service)\b/g)];
    for (const [name] of programs) expect([name, existsSync(path.join(root, name))]).toEqual([name, true]);
    const paths = [...text.matchAll(/\/health\/\w+/g)].map(([name]) => name);
    expect(paths.filter((name) => !['/health/live', '/health/ready'].includes(name))).toEqual([]);
  });
});

test('the secrets in compose.yaml are created only once, are accessible only to their owner, and are not served as pages', async () => {
  const folder = mkdtempSync(path.join(root, 'deploy', 'compose-test-'));
  try {
    cpSync(path.join(root, 'deploy/compose/make-secrets.sh'), path.join(folder, 'make-secrets.sh'));
    const make = () => execFileSync('sh', [path.join(folder, 'make-secrets.sh')]);
    make();
    const secrets = path.join(folder, 'secrets');
    const names = readdirSync(secrets);
    const named = [...read('deploy/compose/compose.yaml').matchAll(/\{ file: secrets\/([\w-]+) \}/g)].map(
      ([, name]) => name,
    );
    expect(names.sort()).toEqual(named.sort());
    const before = names.map((name) => readFileSync(path.join(secrets, name), 'utf8'));
    make();
    expect(names.map((name) => readFileSync(path.join(secrets, name), 'utf8'))).toEqual(before);
    expect(statSync(secrets).mode & 0o777).toBe(0o700);
    const environment = { SECRET_KEY_FILE: path.join(secrets, 'secret-key') };
    expect(isWeakKey(readConfig(environment).SECRET_KEY ?? '')).toBe(false);

    const docs = await openDocs();
    const page = (file: string) => docs.page(`/docs/${path.relative(root, path.join(folder, file))}`);
    expect(await page('make-secrets.sh')).toBeDefined();
    for (const name of names) expect([name, await page(`secrets/${name}`)]).toEqual([name, undefined]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each(yamlFiles)('%s is valid YAML', (file) => {
  for (const document of parseAllDocuments(read(file))) {
    expect('errors' in document ? document.errors : []).toEqual([]);
  }
});

/** Checks objects against the Kubernetes API's types. Returns the compiler's messages. */
function faultsOf(objects: readonly { readonly apiVersion: string; readonly kind: string }[]): string {
  const source = objects.map((object, at) => {
    const module = object.apiVersion.includes('/') ? object.apiVersion : `core/${object.apiVersion}`;
    return `import type { ${object.kind} as Kind${at} } from 'kubernetes-types/${module}';
      export const object${at}: Kind${at} = ${JSON.stringify(object)};`;
  });
  // The folder is inside node_modules so that the compiler finds the types.
  const folder = mkdtempSync(path.join(root, 'node_modules', 'kubernetes-'));
  try {
    writeFileSync(path.join(folder, 'objects.ts'), source.join('\n'));
    const options = ['--noEmit', '--strict', '--module', 'esnext', '--moduleResolution', 'bundler', '--ignoreConfig'];
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
    return spawnSync(process.execPath, [tsc, ...options, 'objects.ts'], { cwd: folder, encoding: 'utf8' }).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('Kubernetes objects use only fields that the Kubernetes API declares, and include all fields that it requires', () => {
  const objects = globSync('deploy/kubernetes/*.yaml', { cwd: root }).flatMap((file) =>
    parseAllDocuments(read(file)).map((document) => document.toJS()),
  );
  expect(objects.map(({ kind }) => kind).sort()).toEqual(
    ['Deployment', 'Job', 'PodDisruptionBudget', 'Service', 'ServiceAccount'].sort(),
  );
  expect(faultsOf(objects)).toBe('');
  const misspelt = JSON.parse(JSON.stringify(objects).replace('"readinessProbe"', '"readynessProbe"'));
  expect(faultsOf(misspelt)).toMatch(/readynessProbe.* does not exist in type 'Container'/);
});

test('in every deployment, a graceful shutdown ends before the process would be killed', () => {
  const seconds = (pattern: RegExp, file: string) => Number(pattern.exec(read(file))?.[1]);
  // The maximum time for a shutdown after SHUTDOWN_DELAY_MS: deadlinesMs in src/server/stop.ts plus half a second.
  const stopSeconds = 7;
  expect(seconds(/stop_grace_period: (\d+)s/, 'deploy/compose/compose.yaml')).toBeGreaterThan(2 + stopSeconds);
  const kubernetes = 'deploy/kubernetes/gateway.yaml';
  expect(seconds(/terminationGracePeriodSeconds: (\d+)/, kubernetes)).toBeGreaterThan(
    seconds(/SHUTDOWN_DELAY_MS, value: "(\d+)000"/, kubernetes) + stopSeconds,
  );
  expect(seconds(/^TimeoutStopSec=(\d+)/m, 'deploy/systemd/payments-gateway@.service')).toBeGreaterThan(
    2 + stopSeconds,
  );
});

test('the image contains every file that the service reads', () => {
  const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, names = '']) =>
    names.split(' '),
  );
  for (const name of copied) {
    expect([name, existsSync(path.join(root, name))]).toEqual([name, true]);
    expect(read('.dockerignore').split('\n')).toContain(`!${name}`);
  }
  expect(copied).toEqual(expect.arrayContaining(['src', 'prisma', 'package.json']));
});
