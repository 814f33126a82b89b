import { publicId } from '../../core/ids.ts';
import { withoutNulls } from '../../core/json.ts';
import type { Address } from '../../domain/commands/information.ts';
import type { BeneficialOwner } from '../../domain/customers/customers.ts';
import { type Customer, trustedJson } from '../../infra/database/rows.ts';
import { frozenRecord, metadataRecord } from './fields.ts';

/** Converts a row to a customer's record. Omits values that are null. */
export function customerRecord(row: Customer) {
  // createCustomer stores the address and owners in these forms.
  const address = trustedJson<Address | null>(row.address);
  const common = {
    id: publicId('Customer', row.id),
    platformCustomerId: row.platformCustomerId,
    umaAddress: row.umaAddress,
    kycStatus: row.kycStatus,
    isDeleted: row.isDeleted,
    ...frozenRecord(row),
    ...(address && { address: withoutNulls(address) }),
    ...metadataRecord(row),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
  if (row.customerType === 'INDIVIDUAL') {
    return {
      ...common,
      customerType: 'INDIVIDUAL' as const,
      ...(row.name !== null && { fullName: row.name }),
      ...(row.birthDate !== null && { birthDate: row.birthDate.toISOString().slice(0, 10) }),
      ...(row.nationality !== null && { nationality: row.nationality }),
    };
  }
  return {
    ...common,
    customerType: 'BUSINESS' as const,
    businessInfo: {
      legalName: row.name ?? '',
      ...(row.registrationNumber !== null && { registrationNumber: row.registrationNumber }),
      ...(row.taxId !== null && { taxId: row.taxId }),
    },
    beneficialOwners: trustedJson<BeneficialOwner[]>(row.beneficialOwners).map((owner) => withoutNulls(owner)),
  };
}
