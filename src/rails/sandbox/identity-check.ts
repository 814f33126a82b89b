import type { KycStatus } from '../../database/generated/client/client.ts';

/** What the end of a customer's name makes of its identity check; others are APPROVED. */
const statuses: Readonly<Record<string, KycStatus>> = {
  '001': 'PENDING_REVIEW',
  '002': 'REJECTED',
  '003': 'EXPIRED',
};

/** The sandbox's identity check of a customer: its name decides. */
export function checkSandboxIdentity(name: string | null): KycStatus {
  return statuses[name?.slice(-3) ?? ''] ?? 'APPROVED';
}
