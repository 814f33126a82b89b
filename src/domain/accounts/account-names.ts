import type { ExternalAccountType } from '../../infra/database/generated/client/client.ts';
import { type Account, trustedJson } from '../../infra/database/rows.ts';
import { type Beneficiary, ownerName } from './beneficiary.ts';

/** The display names of wallets, which have no owner. */
const wallets: { readonly [Type in ExternalAccountType]?: string } = {
  LAYER2_WALLET: 'Bitcoin wallet',
  LIGHTNING: 'Lightning wallet',
  SOLANA_WALLET: 'Solana wallet',
  TRON_WALLET: 'Tron wallet',
  POLYGON_WALLET: 'Polygon wallet',
  BASE_WALLET: 'Base wallet',
};

/** Returns the display name of an account: its owner, or its kind. The SQL equivalent is account_name. */
export function displayName({ accountType, beneficiary, currency }: Account): string {
  // Stored in this form by createExternalAccount.
  const owner = ownerName(trustedJson<Beneficiary | null>(beneficiary));
  return owner ?? (accountType && wallets[accountType]) ?? `${currency} account`;
}

/**
 * Returns the last four characters of an account's identifier for display, or fewer if it is short: at least half stays
 * hidden. For an address user@domain, they come from the user, and the domain follows. The identifier of an
 * internal account is its id. The SQL equivalent is account_number.
 */
export function maskedNumber({ kind, id, identifier }: Pick<Account, 'kind' | 'id' | 'identifier'>): string {
  const [number = '', domain] = (kind === 'INTERNAL' ? id.toUpperCase() : (identifier ?? '')).split('@');
  const characters = [...number];
  const shown = Math.min(4, Math.floor(characters.length / 2));
  return `•••• ${characters.slice(characters.length - shown).join('')}${domain === undefined ? '' : `@${domain}`}`;
}
