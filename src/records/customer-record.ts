import { publicId } from '../core/ids.ts';
import type { Customer } from '../database/rows.ts';
import { trustedJson } from '../database/trusted-json.ts';
import type { BeneficialOwner } from '../payments/customers/customers.ts';
import type { Metadata } from '../payments/metadata.ts';
import type { Address } from '../payments/people.ts';
import { frozenRecord } from './frozen-record.ts';
import { metadataRecord } from './metadata-record.ts';
import { withoutNulls } from './numbers.ts';
import { type AddressRecord, addressRecord } from './people-record.ts';

interface CommonRecord {
  readonly id: string;
  readonly platformCustomerId: string;
  readonly umaAddress: string;
  readonly kycStatus: Customer['kycStatus'];
  readonly isDeleted: boolean;
  readonly frozenAt?: string;
  readonly address?: AddressRecord;
  readonly metadata?: Metadata;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/**
 * A customer (specification 2.8); `customerType` tells the two forms apart, and the business fields are decision 47.
 */
export type CustomerRecord =
  | (CommonRecord & {
      readonly customerType: 'INDIVIDUAL';
      readonly fullName?: string;
      readonly birthDate?: string;
      readonly nationality?: string;
    })
  | (CommonRecord & {
      readonly customerType: 'BUSINESS';
      readonly businessInfo: {
        readonly legalName: string;
        readonly registrationNumber?: string;
        readonly taxId?: string;
      };
      readonly beneficialOwners: BeneficialOwnerRecord[];
    });

/** The roles that a person can have in a company (decision 47). */
export const individualTypes = [
  'DIRECTOR',
  'CONTROL_PERSON',
  'BUSINESS_POINT_OF_CONTACT',
  'TRUSTEE',
  'SETTLOR',
  'GENERAL_PARTNER',
] as const;

/** A person who owns or controls a company. */
export interface BeneficialOwnerRecord {
  readonly fullName: string;
  readonly individualType: (typeof individualTypes)[number];
  readonly emailAddress?: string;
  readonly phoneNumber?: string;
  readonly taxId?: string;
  readonly birthDate?: string;
  readonly nationality?: string;
  readonly address?: AddressRecord;
  readonly percentageOwnership?: number;
  readonly title?: string;
}

/** Converts a row to the record of a customer. Unknown fields are left out (decision 13). */
export function customerRecord(row: Customer): CustomerRecord {
  // createCustomer has stored address and owners in these forms.
  const address = trustedJson<Address | null>(row.address);
  const common = {
    id: publicId('Customer', row.id),
    platformCustomerId: row.platformCustomerId,
    umaAddress: row.umaAddress,
    kycStatus: row.kycStatus,
    isDeleted: row.isDeleted,
    ...frozenRecord(row),
    ...(address && { address: addressRecord(address) }),
    ...metadataRecord(row),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
  if (row.customerType === 'INDIVIDUAL') {
    return {
      ...common,
      customerType: 'INDIVIDUAL',
      ...(row.name !== null && { fullName: row.name }),
      ...(row.birthDate !== null && { birthDate: row.birthDate.toISOString().slice(0, 10) }),
      ...(row.nationality !== null && { nationality: row.nationality }),
    };
  }
  return {
    ...common,
    customerType: 'BUSINESS',
    businessInfo: {
      legalName: row.name ?? '',
      ...(row.registrationNumber !== null && { registrationNumber: row.registrationNumber }),
      ...(row.taxId !== null && { taxId: row.taxId }),
    },
    beneficialOwners: trustedJson<BeneficialOwner[]>(row.beneficialOwners).map(ownerRecord),
  };
}

function ownerRecord({ address, ...owner }: BeneficialOwner): BeneficialOwnerRecord {
  return {
    ...withoutNulls(owner),
    // Its type is text in the domain; both APIs accept only these values.
    individualType: owner.individualType as BeneficialOwnerRecord['individualType'],
    ...(address && { address: addressRecord(address) }),
  };
}
