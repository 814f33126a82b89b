/** The parts of the package `invoices` (BOLT 11 payment requests) that are used here. The package has no types. */
declare module 'invoices' {
  interface UnsignedRequest {
    /** The signed data, in hex. */
    readonly hash: string;
    /** The part before the separator: network and amount. */
    readonly hrp: string;
    /** Everything except the signature, as 5-bit words. */
    readonly tags: number[];
  }

  interface Invoices {
    createUnsignedRequest(request: {
      readonly created_at: string;
      readonly expires_at: string;
      readonly description: string;
      /** The receiving node's compressed public key, as hex. */
      readonly destination: string;
      /** Feature bits of BOLT 9. */
      readonly features: readonly { readonly bit: number }[];
      /** The payment hash, as hex. */
      readonly id: string;
      /** Thousandths of a satoshi, as a string of digits; if omitted, the payer chooses the amount. */
      readonly mtokens?: string | undefined;
      readonly network: 'bitcoin' | 'testnet' | 'regtest' | 'signet';
      /** The payment secret, as hex. */
      readonly payment: string;
    }): UnsignedRequest;
    createSignedRequest(request: {
      readonly destination: string;
      readonly hrp: string;
      /** 64 bytes, as hex. */
      readonly signature: string;
      readonly tags: readonly number[];
    }): { readonly request: string };
    /** Throws if the string is not an invoice. */
    parsePaymentRequest(request: { readonly request: string }): {
      readonly expires_at: string;
    };
  }

  const invoices: Invoices;
  export default invoices;
}
