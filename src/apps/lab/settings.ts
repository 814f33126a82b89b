/** The settings that the server has written into the page. */
export interface Settings {
  /** The platform of the local sandbox, whose credentials are publicly known. */
  readonly sandbox?: {
    readonly clientId: string;
    readonly secret: string;
    readonly customerId: string;
    readonly sourceAccountId: string;
    readonly destinationAccountId: string;
  };
  /** The address of the documentation, if it is served. */
  readonly docs?: string;
  readonly workers: Readonly<Record<'editor' | 'json' | 'graphql', string>>;
}

/** Reads the settings that the service has written into the page. */
export function readSettings(): Settings {
  return JSON.parse(document.getElementById('settings')?.textContent ?? '{}') as Settings;
}

/** Returns the Authorization header for an API token's credentials. */
export function basicAuthorization(clientId: string, secret: string): string {
  const bytes = new TextEncoder().encode(`${clientId}:${secret}`);
  return `Basic ${btoa(String.fromCodePoint(...bytes))}`;
}
