import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Metafile } from 'esbuild';
import { assetPath, type Bundle, bundleFolder } from './assets.ts';

// `npm run pages` bundles and compresses the pages' scripts. It also runs during installation.

const root = path.resolve(import.meta.dirname, '../../..');

/** The files that browsers load, by name. The pages themselves start the workers. */
const entryPoints = {
  lab: 'src/apps/lab/main.tsx',
  wallet: 'src/apps/wallet/main.tsx',
  front: 'src/apps/lab/front.ts',
  console: 'src/apps/console/main.ts',
  'editor.worker': 'monaco-editor/esm/vs/editor/editor.worker.js',
  'json.worker': 'monaco-editor/esm/vs/language/json/json.worker.js',
  'graphql.worker': 'monaco-graphql/esm/graphql.worker.js',
};

async function bundle(folder: string): Promise<Bundle> {
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: folder,
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.ttf': 'file' },
    // GraphiQL formats variables with `prettier/parser-babel`, a CommonJS file whose parsers are not found in a bundle.
    alias: { 'prettier/parser-babel': 'prettier/plugins/babel' },
    ...{ entryNames: '[name]-[hash]', chunkNames: '[name]-[hash]', assetNames: '[name]-[hash]' },
    legalComments: 'none',
    write: false,
    metafile: true,
    logLevel: 'warning',
  });
  const made = Object.entries(metafile.outputs);
  const pages = Object.keys(entryPoints).map((name) => {
    const [file, output] =
      made.find(([file]) => path.basename(file).startsWith(`${name}-`) && file.endsWith('.js')) ?? [];
    if (file === undefined || !output?.entryPoint) throw new Error(`${name} was not built`);
    // A page's styles already include those of the parts that it loads later.
    const { cssBundle } = output;
    const loaded = [...loadedBy(metafile, [file, ...(cssBundle === undefined ? [] : [cssBundle])])];
    return [
      name,
      {
        scripts: [assetPath + path.basename(file)],
        styles: cssBundle === undefined ? [] : [assetPath + path.basename(cssBundle)],
        files: loaded.map((one) => path.basename(one)),
      },
    ] as const;
  });
  const files = new Set(pages.flatMap(([, page]) => page.files));
  for (const { path: made, contents } of outputFiles) {
    const name = path.basename(made);
    if (files.has(name)) await writeFile(path.join(folder, `${name}.gz`), await promisify(gzip)(contents));
  }
  return { pages: Object.fromEntries(pages) };
}

/** Returns the given files and everything that they load, whether immediately, later or from their styles. */
function loadedBy(
  { outputs }: Pick<Metafile, 'outputs'>,
  files: readonly string[],
  known = new Set<string>(),
): ReadonlySet<string> {
  for (const file of files) {
    if (known.has(file)) continue;
    known.add(file);
    loadedBy({ outputs }, outputs[file]?.imports.map((one) => one.path).filter((one) => one in outputs) ?? [], known);
  }
  return known;
}

/** Returns whether the pages' packages are installed. They are optional, and production images omit them. */
function hasPackages(): boolean {
  try {
    import.meta.resolve('esbuild');
    return true;
  } catch {
    return false;
  }
}

if (!hasPackages()) {
  console.log('The lab, the wallet and the REST console will be missing, because their packages are not installed.');
} else {
  // Builds into a new folder, so that a service that starts in the meantime finds either the old or the new output.
  const folder = `${bundleFolder}-${process.pid}`;
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'bundle.json'), JSON.stringify(await bundle(folder)));
  await rm(bundleFolder, { recursive: true, force: true });
  await rename(folder, bundleFolder);
}
