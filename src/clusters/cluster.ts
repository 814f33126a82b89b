import type { DirectoryFile } from './directory.ts';

/** One of several clusters: what an installation knows of itself and of the others. */
export interface Cluster {
  readonly name: string;
  readonly directory: DirectoryFile;
}
