/** The parts of the `invoices` package (BOLT 11 payment requests) that are used here. The package has no types. */
declare module 'invoices' {
  interface Invoices {
    /** Returns the hash to sign (in hex), the prefix (network and amount), and everything else as 5-bit words. */
    createUnsignedRequest(request: object): { readonly hash: string; readonly hrp: string; readonly tags: number[] };
    createSignedRequest(request: object): { readonly request: string };
    /** Throws if the string is not an invoice. */
    parsePaymentRequest(request: { readonly request: string }): { readonly expires_at: string };
  }

  const invoices: Invoices;
  export default invoices;
}
