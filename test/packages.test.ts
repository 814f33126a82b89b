import { readFileSync } from 'node:fs';
import semver from 'semver';
import { expect, test } from 'vitest';

interface Package {
  readonly version?: string;
  readonly integrity?: string;
  readonly engines?: { readonly node?: string };
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const packages: Readonly<Record<string, Package>> = read('package-lock.json').packages;
const readme = readFileSync('README.md', 'utf8');

function refusing(node: string): string[] {
  return Object.entries(packages)
    .filter(([, { engines }]) => engines?.node !== undefined && !semver.satisfies(node, engines.node))
    .map(([path]) => path);
}

function named(sentence: RegExp): string {
  const version = sentence.exec(readme)?.[1];
  if (version === undefined) throw new Error(`the README does not say ${sentence}`);
  return version;
}

test('every package supports the Node version that npm installs with the service', () => {
  const { version = '' } = packages['node_modules/node'] ?? {};
  expect(version.split('.')[0]).toBe(named(/also installs Node (\d+)/));
  expect(refusing(version)).toEqual([]);
});

test('package.json requires the Node version that the README names', () => {
  const least = named(/Node ([\d.]+) or newer/);
  expect(read('package.json').engines.node).toBe(`>=${least}`);
});

test('npm warns on the oldest supported Node version, but not on the later one that the README names', () => {
  const silent = named(/a Node version older than ([\d.]+), npm warns/);
  expect(refusing(`${silent}.0`)).toEqual([]);
  expect(refusing(`${named(/Node ([\d.]+) or newer/)}.0`)).not.toEqual([]);
});

test('the lock file contains no download host', () => {
  expect(readFileSync('package-lock.json', 'utf8')).not.toContain('"resolved"');
});

test.each(['package-lock.json', 'bench/package-lock.json'])('each package in %s has a checksum', (file) => {
  const locked: Readonly<Record<string, Package>> = read(file).packages;
  expect(Object.keys(locked).filter((path) => path !== '' && !locked[path]?.integrity)).toEqual([]);
});
