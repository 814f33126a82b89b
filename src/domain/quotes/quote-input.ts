import type { GivenAmount } from '../../core/currencies.ts';
import { pathsIn } from '../../core/refusal.ts';
import type { InformationField } from '../commands/information.ts';
import type { Metadata } from '../commands/metadata.ts';
import type { GivenScenario } from '../orders/scenario.ts';

export type DestinationInput =
  | { readonly kind: 'ACCOUNT'; readonly accountId: string }
  | { readonly kind: 'UMA_ADDRESS'; readonly umaAddress: string; readonly currency?: string | null | undefined };

export interface CreateQuote {
  readonly source:
    | { readonly kind: 'ACCOUNT'; readonly accountId: string }
    | { readonly kind: 'REALTIME_FUNDING'; readonly customerId: string; readonly currency: string };
  readonly destination: DestinationInput;
  readonly lockedCurrencySide: 'SENDING' | 'RECEIVING';
  /** 1 to `maxAmount` smallest units of the locked side's currency. */
  readonly lockedCurrencyAmount: GivenAmount;
  readonly lookupId?: string | null | undefined;
  readonly immediatelyExecute: boolean;
  readonly description?: string | null | undefined;
  /** The information about the sender: the fields that the lookup requires, and the purpose. */
  readonly senderCustomerInfo?: readonly InformationField[] | null | undefined;
  readonly metadata?: Metadata | null | undefined;
  /** Sandbox: the course of the payment after its execution. */
  readonly sandboxScenario?: GivenScenario | null | undefined;
}

export const at = pathsIn<CreateQuote>();
