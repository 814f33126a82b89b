import type { ClusterCalls } from './cluster-calls.ts';
import type { DirectoryFile } from './directory.ts';

/** One of several clusters: what an installation knows of itself, and how it reaches the others. */
export interface Cluster {
  readonly name: string;
  readonly directory: DirectoryFile;
  readonly calls: ClusterCalls;
}

/** Returns the other cluster that has a UMA domain; undefined where it is this one's, or no cluster's. */
export function otherClusterOf(
  { name, directory }: Pick<Cluster, 'name' | 'directory'>,
  umaDomain: string,
): string | undefined {
  const cluster = directory.current.clusterOfDomain(umaDomain);
  return cluster === name ? undefined : cluster;
}
