import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Directory } from '../../src/clusters/directory.ts';
import { frontSettings, readFrontSettings } from '../../src/front/settings.ts';

const page = readFileSync('docs/clusters.md', 'utf8');

test('the page of clusters has every setting of a front, with its default, and no other', () => {
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| (?:`([^`]+)`)? *\|/gm)].map(([, name, value]) => [name, value]);
  const defaults = readFrontSettings({ CLUSTER_DIRECTORY: 'clusters.json' });
  const hasDefault = (name: string) => name !== 'CLUSTER_DIRECTORY' && Reflect.get(defaults, name) !== undefined;
  const expected = Object.keys(frontSettings).map((name) => [
    name,
    hasDefault(name) ? String(Reflect.get(defaults, name)) : undefined,
  ]);
  expect(rows).toEqual(expected);
  expect(() => readFrontSettings({ PORT: 'x' })).toThrow(/PORT must be.*CLUSTER_DIRECTORY must be/s);
});

test('the directory of the page is one', () => {
  const [, example = ''] = /```json\n([^`]+)```/.exec(page) ?? [];
  const directory = new Directory(example);
  expect([...directory.clusters.keys()]).toEqual(['north', 'south']);
  expect(directory.clusterOfDomain('acme.north.uma.money')).toBe('north');
  expect(directory.clusterOfDomain('pay.bank.example')).toBe('south');
  expect(directory.clusterOfDomain('bank.example')).toBeUndefined();
});

test.each([
  ['{', 'not JSON'],
  ['{"clusters": {"North": {"instances": ["http://a"]}}, "default": "North"}', 'name of a cluster'],
  ['{"clusters": {"north": {"instances": ["http://a"]}}, "default": "south"}', 'there is no cluster south'],
  ['{"clusters": {"north": {"instances": []}}, "default": "north"}', 'instances'],
  [
    '{"clusters": {"a": {"instances": ["http://a"], "domains": ["x.test"]}, "b": {"instances": ["http://b"], "domains": ["x.test"]}}, "default": "a"}',
    'the domain x.test is given to a and to b',
  ],
])('a directory that is none is refused: %s', (text, reason) => {
  expect(() => new Directory(text)).toThrow(reason);
});
