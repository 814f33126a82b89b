/** The parts of the pages that the settings allow. */
export interface Shown {
  /** The platform whose credentials are publicly known: in the local sandbox only. */
  readonly sandbox: SandboxPlatform | undefined;
  readonly lab: boolean;
  /** Whether strangers may read the OpenAPI document, its console and the documentation. */
  readonly documents: boolean;
  readonly metricsUrl: string | undefined;
}

/** The platform of the local sandbox. */
export interface SandboxPlatform {
  readonly credentials: { readonly clientId: string; readonly secret: string };
  /** The customer whose wallet is shown. */
  readonly customerId: string;
  /** The two accounts of a first payment. */
  readonly sourceAccountId: string;
  readonly destinationAccountId: string;
}
