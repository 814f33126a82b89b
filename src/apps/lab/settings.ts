/** What the server has written into the page. */
export interface Settings {
  /** The platform of the local sandbox, whose credentials everybody knows. */
  readonly sandbox?: {
    readonly clientId: string;
    readonly secret: string;
    readonly sourceAccountId: string;
    readonly destinationAccountId: string;
  };
  /** Where the documentation is, if it is shown. */
  readonly docs?: string;
  /** Where the editors' workers are, by name. */
  readonly workers: Readonly<Record<'editor' | 'json' | 'graphql', string>>;
}

export function readSettings(): Settings {
  return JSON.parse(document.getElementById('settings')?.textContent ?? '{}') as Settings;
}

/** Returns the value of the Authorization header for the credentials of an API token. */
export function basicAuthorization(clientId: string, secret: string): string {
  const bytes = new TextEncoder().encode(`${clientId}:${secret}`);
  return `Basic ${btoa(String.fromCodePoint(...bytes))}`;
}
