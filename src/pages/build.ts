import { createHash } from 'node:crypto';
import { glob, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type Bundle, bundleFolder } from './assets.ts';

// `npm run pages`, which an installation runs: bundles what the pages of browsers run, and compresses it once. It does nothing
// where that has been done for the same sources.

const root = path.resolve(import.meta.dirname, '../..');

/** What browsers load, by name. Workers are loaded by the pages themselves. */
const entryPoints = {
  lab: 'src/lab/main.tsx',
  console: 'src/console/main.ts',
  'editor.worker': 'monaco-editor/esm/vs/editor/editor.worker.js',
  'json.worker': 'monaco-editor/esm/vs/language/json/json.worker.js',
  'graphql.worker': 'monaco-graphql/esm/graphql.worker.js',
};

/** The files that decide what is made: the sources, and the versions of all packages. */
const sources = ['src/{lab,console,client,pages}/**/*', 'package-lock.json'];

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.ttf': 'font/ttf',
};

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256');
  const names: string[] = [];
  for await (const file of glob(sources, { cwd: root, withFileTypes: true })) {
    if (file.isFile()) names.push(path.join(file.parentPath, file.name));
  }
  for (const name of names.sort()) hash.update(path.relative(root, name)).update(await readFile(name));
  return hash.digest('hex');
}

async function bundle(inputs: string, folder: string): Promise<Bundle> {
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
    if (file === undefined || !output?.entryPoint) throw new Error(`${name} was not made`);
    const styles = output.cssBundle === undefined ? [] : [path.basename(output.cssBundle)];
    return [name, { scripts: [path.basename(file)], styles }] as const;
  });
  // Styles of parts that are loaded later are in those of their page already.
  const styles = new Set(pages.flatMap(([, page]) => page.styles));
  const files = outputFiles
    .map((file) => ({ name: path.basename(file.path), contents: file.contents }))
    .filter(({ name }) => !name.endsWith('.css') || styles.has(name));
  for (const { name, contents } of files) await writeCompressed(path.join(folder, name), contents);
  return {
    inputs,
    pages: Object.fromEntries(pages),
    files: files.map(({ name }) => ({ name, type: types[path.extname(name)] ?? 'application/octet-stream' })),
  };
}

async function writeCompressed(file: string, contents: Uint8Array): Promise<void> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: contents.length };
  const [brotli, gzipped] = await Promise.all([
    promisify(brotliCompress)(contents, { params }),
    promisify(gzip)(contents),
  ]);
  await Promise.all([writeFile(`${file}.br`, brotli), writeFile(`${file}.gz`, gzipped)]);
}

/** Says whether the packages of pages are installed: they are optional, and an image for production leaves them out. */
function hasPackages(): boolean {
  try {
    import.meta.resolve('esbuild');
    return true;
  } catch {
    return false;
  }
}

const inputs = await hashOfSources();
const present = await readFile(path.join(bundleFolder, 'bundle.json'), 'utf8').catch(() => '{}');
if (!hasPackages()) {
  console.log('The packages of the lab and the REST console are not installed: the service has neither.');
} else if ((JSON.parse(present) as Partial<Bundle>).inputs !== inputs) {
  // Made beside the present one, so that who starts meanwhile finds either.
  const folder = `${bundleFolder}-${process.pid}`;
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'bundle.json'), JSON.stringify(await bundle(inputs, folder)));
  await rm(bundleFolder, { recursive: true, force: true });
  await rename(folder, bundleFolder);
}
