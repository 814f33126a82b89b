import { pathsIn } from '../../core/path.ts';
import type { InformationField } from '../information.ts';
import type { GivenScenario } from '../orders/scenario.ts';

/** Where a quote pays to, as its caller names it. */
export type DestinationInput =
  | { readonly kind: 'ACCOUNT'; readonly accountId: string }
  | { readonly kind: 'UMA_ADDRESS'; readonly umaAddress: string; readonly currency?: string | null | undefined };

/** What a caller asks of a new quote. */
export interface CreateQuote {
  readonly source:
    | { readonly kind: 'ACCOUNT'; readonly accountId: string }
    | { readonly kind: 'REALTIME_FUNDING'; readonly customerId: string; readonly currency: string };
  readonly destination: DestinationInput;
  readonly lockedCurrencySide: 'SENDING' | 'RECEIVING';
  /** Smallest units of the locked side's currency, 1 to `maxAmount`. */
  readonly lockedCurrencyAmount: bigint;
  /** From a receiver lookup, for a UMA destination. */
  readonly lookupId?: string | null | undefined;
  readonly immediatelyExecute: boolean;
  readonly description?: string | null | undefined;
  /** What the sender tells of itself: what the lookup asks for, and its purpose. */
  readonly senderCustomerInfo?: readonly InformationField[] | null | undefined;
  /** Sandbox: what shall happen to the payment once it is executed. */
  readonly sandboxScenario?: GivenScenario | null | undefined;
}

/** Makes paths into the request of a quote. */
export const at = pathsIn<CreateQuote>();
