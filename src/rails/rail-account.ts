import type { ExternalAccountType } from '../infra/database/generated/client/client.ts';

/** An external account or wallet, as the rail sees it. */
export interface RailAccount {
  readonly type: ExternalAccountType;
  /**
   * The number of the account at its bank or network, in canonical form: account number, IBAN, address, … Two banks may
   * have the same number: `details` name the bank.
   */
  readonly identifier: string;
  /** The details of the account by their names in the interface, such as `routingNumber`. */
  readonly details: Readonly<Record<string, string>>;
}
