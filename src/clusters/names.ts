/**
 * The names of clusters, and where credentials carry them. What is read here is not proven: it says only which cluster is to look
 * at the credentials.
 */

/** A name of a cluster: it stands in client ids, domains and files. */
export const clusterName = /^[a-z][a-z0-9-]{0,30}$/;

/** Where credentials, an address or a token belong, as they say themselves. */
export interface Claim {
  /** The cluster that made them. */
  readonly cluster?: string | undefined;
  /** The uuid of their platform, which may have moved since. */
  readonly platformId?: string | undefined;
  /** The client id of an API token. */
  readonly clientId?: string | undefined;
}

/**
 * Returns the client id of an API token: in a named cluster it carries the cluster and the platform, so that a front finds both
 * without asking anybody.
 * @param unique what makes it the token's own, in base64url
 */
export function clientIdOf(cluster: string | undefined, platformId: string, unique: string): string {
  if (cluster === undefined) return unique;
  const platform = Buffer.from(platformId.replaceAll('-', ''), 'hex').toString('base64url');
  return `${cluster}.${platform}.${unique}`;
}

/** Returns what an Authorization header says of itself, of either kind. Undefined where it can be no credentials. */
export function claimOfAuthorization(authorization: string | undefined): Claim | undefined {
  const [, scheme = '', credentials = ''] = /^(basic|bearer) +([^\s]+)$/i.exec(authorization ?? '') ?? [];
  if (scheme === '') return undefined;
  if (scheme.toLowerCase() === 'bearer') return claimOfToken(credentials);
  const [clientId = ''] = Buffer.from(credentials, 'base64').toString('utf8').split(':', 1);
  return clientId === '' ? undefined : { clientId, ...partsOf(clientId) };
}

function partsOf(clientId: string): Pick<Claim, 'cluster' | 'platformId'> {
  const [cluster = '', platform = '', unique, ...more] = clientId.split('.');
  if (!clusterName.test(cluster) || !unique || more.length > 0 || !/^[\w-]{22}$/.test(platform)) return {};
  return { cluster, platformId: uuidOf(Buffer.from(platform, 'base64url').toString('hex')) };
}

function uuidOf(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Returns what a client token or a ticket says of itself: its claims, without a look at its signature. */
export function claimOfToken(token: string): Claim | undefined {
  const [, payload = ''] = token.split('.');
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    if (typeof claims !== 'object' || claims === null) return undefined;
    const { cluster, platform } = claims as { readonly cluster?: unknown; readonly platform?: unknown };
    return {
      ...(typeof cluster === 'string' && { cluster }),
      ...(typeof platform === 'string' && { platformId: platform }),
    };
  } catch {
    return undefined;
  }
}

/** Returns the name of an instance in the tokens of its event streams: in a named cluster with the cluster's. */
export function instanceName(cluster: string | undefined, unique: string): string {
  return cluster === undefined ? unique : `${cluster}:${unique}`;
}

/** Returns the instance that the token of a reserved event stream names, and its cluster. */
export function claimOfStream(token: string): { readonly instance: string; readonly claim: Claim } {
  const [instance = ''] = token.split('.', 1);
  const [cluster = '', unique] = instance.split(':');
  return { instance, claim: unique === undefined ? {} : { cluster } };
}

/** The header of `/health/ready` in which an instance of a named cluster says its name. */
export const instanceHeader = 'payments-instance';
