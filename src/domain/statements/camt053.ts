import { createHash } from 'node:crypto';
import XMLBuilder from 'fast-xml-builder';
import type { Period } from '../../core/checks.ts';
import { formatDecimal, requiredCurrency } from '../../core/currencies.ts';
import { Refusal } from '../../core/refusal.ts';
import { past } from './period.ts';
import type { StatementEntry, StatementHead } from './statement.ts';

// ISO 20022, Bank to Customer Statement, camt.053.001.08. The members of the objects are in the order that the standard
// prescribes for the elements. Identifiers have at most 35 characters, so UUIDs are written without hyphens.

const namespace = 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08';
const builder = new XMLBuilder({ ignoreAttributes: false, attributeNamePrefix: '@' });

/**
 * Refuses a currency that the standard cannot express: it requires three-letter currencies (ISO 4217) and at most five
 * decimals.
 * @throws Refusal INVALID_CURRENCY
 */
export function checkCamtCurrency(code: string): void {
  const { decimals } = requiredCurrency(code);
  if (!/^[A-Z]{3}$/.test(code) || decimals > 5) {
    throw new Refusal('INVALID_CURRENCY', `camt.053 has no amounts in ${code}; use csv`, ['format']);
  }
}

const compact = (uuid: string) => uuid.replaceAll('-', '');

/** The journals that reverse an earlier debit or credit: their entries are reversals. */
const reversals: ReadonlySet<string> = new Set(['refund', 'return', 'resumption']);

class CamtWriter {
  readonly #currency: string;
  readonly #decimals: number;

  constructor(currency: string) {
    this.#currency = currency;
    this.#decimals = requiredCurrency(currency).decimals;
  }

  /** An amount without a sign, and its direction. */
  #money(amount: bigint) {
    const absolute = amount < 0n ? -amount : amount;
    return {
      Amt: { '@Ccy': this.#currency, '#text': formatDecimal(absolute, this.#decimals) },
      CdtDbtInd: amount < 0n ? 'DBIT' : 'CRDT',
    };
  }

  #balance(code: 'OPBD' | 'CLBD' | 'ITBD', amount: bigint, at: Date) {
    return { Tp: { CdOrPrtry: { Cd: code } }, ...this.#money(amount), Dt: { DtTm: at.toISOString() } };
  }

  #sum(count: number, amount: string) {
    return { NbOfNtries: String(count), Sum: formatDecimal(BigInt(amount), this.#decimals) };
  }

  /** Writes the part before the entries. If the period is not over, the last balance is an interim one, as of now. */
  head(id: string, head: StatementHead, period: Period): string {
    const { from, to } = past(period, head);
    const code = to < period.to ? 'ITBD' : 'CLBD';
    return builder.build({
      Id: id,
      CreDtTm: head.madeAt.toISOString(),
      FrToDt: { FrDtTm: from.toISOString(), ToDtTm: to.toISOString() },
      Acct: { Id: { Othr: { Id: compact(head.accountId) } }, Ccy: this.#currency },
      Bal: [this.#balance('OPBD', head.openingBalance, from), this.#balance(code, head.closingBalance, to)],
      TxsSummry: {
        TtlCdtNtries: this.#sum(head.creditCount, head.creditSum),
        TtlDbtNtries: this.#sum(head.debitCount, head.debitSum),
      },
    });
  }

  entries(entries: readonly StatementEntry[]): string {
    return builder.build({ Ntry: entries.map((entry) => this.#entry(entry)) });
  }

  #entry(entry: StatementEntry) {
    const at = { DtTm: entry.occurredAt.toISOString() };
    const { transactionId, reference } = entry;
    const refs = transactionId && { ...(reference && { EndToEndId: reference }), TxId: compact(transactionId) };
    return {
      NtryRef: String(entry.version),
      ...this.#money(entry.amount),
      ...(reversals.has(entry.kind) && { RvslInd: 'true' }),
      Sts: { Cd: 'BOOK' },
      BookgDt: at,
      ValDt: at,
      // 32 characters, a dot and the leg's number: at most 35.
      AcctSvcrRef: `${compact(entry.journalId)}.${entry.leg}`,
      BkTxCd: { Prtry: { Cd: entry.kind.toUpperCase() } },
      ...(refs && { NtryDtls: { TxDtls: { Refs: refs } } }),
    };
  }
}

/** Writes a statement as a camt.053 document. Identical contents produce identical ids. */
export async function* statementCamt(
  head: StatementHead,
  period: Period,
  chunks: AsyncIterable<StatementEntry[]>,
): AsyncGenerator<string, void, undefined> {
  const { from, to } = period;
  const writer = new CamtWriter(head.currency);
  const id = createHash('sha256')
    .update([head.accountId, from.toISOString(), to.toISOString(), head.closingVersion].join(' '))
    .digest('hex')
    .slice(0, 32);
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${namespace}"><BkToCstmrStmt>`;
  yield builder.build({ GrpHdr: { MsgId: id, CreDtTm: head.madeAt.toISOString() } });
  yield '<Stmt>';
  yield writer.head(id, head, period);
  for await (const entries of chunks) yield writer.entries(entries);
  yield '</Stmt></BkToCstmrStmt></Document>\n';
}
