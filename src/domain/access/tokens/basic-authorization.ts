/** The credentials of an API token. */
export interface BasicCredentials {
  readonly clientId: string;
  readonly secret: string;
}

/** Returns the value of the Authorization header for these credentials. */
export function basicAuthorization({ clientId, secret }: BasicCredentials): string {
  return `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
}
