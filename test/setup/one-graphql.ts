import { execFileSync } from 'node:child_process';

/** Fails when a second copy of graphql is installed, because its types and errors would not be recognized as ours. */
interface Tree {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, Tree>>;
}

function copies(tree: Tree): string[] {
  return Object.entries(tree.dependencies ?? {}).flatMap(([name, child]) => [
    ...(name === 'graphql' && child.version ? [child.version] : []),
    ...copies(child),
  ]);
}

const tree: Tree = JSON.parse(
  execFileSync('npm', ['ls', 'graphql', '--json', '--all'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
);
const versions = [...new Set(copies(tree))];
if (versions.length !== 1) {
  console.error(`one copy of graphql is expected, found ${versions.join(', ') || 'none'}`);
  process.exitCode = 1;
}
