import { Resolver as DnsResolver } from 'node:dns/promises';
import { Agent, request } from 'undici';
import { checkedLookup, dnsResolver, isPublicAddress, type Resolver } from './addresses.ts';

/** The most milliseconds that the file of a proof may take, from the lookup of its host to its last byte. */
const fileMs = 5_000;
/** The most bytes of that file which are read. */
const fileBytes = 4_096;

const dns = new DnsResolver({ timeout: 2_000, tries: 2 });

/** How a proof is looked up. */
export interface ProofLookup {
  /** Returns the TXT records of a name, each in its parts. */
  readonly resolveTxt: (name: string) => Promise<readonly (readonly string[])[]>;
  readonly resolve: Resolver;
  /** Says which addresses may be asked for the file. */
  readonly isAllowed: (address: string) => boolean;
  readonly port: number;
  /** The certificate authority that is trusted besides the usual ones. */
  readonly ca?: string;
}

const usual: ProofLookup = {
  resolveTxt: (name) => dns.resolveTxt(name),
  resolve: dnsResolver,
  isAllowed: isPublicAddress,
  port: 443,
};

type Found = 'FOUND' | 'ABSENT' | 'UNKNOWN';

/**
 * Looks whether the owner of a domain has published a text there: as the TXT record `_uma-platform.DOMAIN`, or in the file
 * https://DOMAIN/.well-known/uma-platform.txt. Both have a line or record that is the text. The file is asked of public
 * addresses only, and redirects are not followed.
 * @returns UNKNOWN when the name servers gave no answer and the file was not there: it may be another time
 */
export async function findDomainProof(domain: string, text: string, lookup: ProofLookup = usual): Promise<Found> {
  const [record, file] = await Promise.all([findRecord(domain, text, lookup), findFile(domain, text, lookup)]);
  if (record === 'FOUND' || file) return 'FOUND';
  return record;
}

const absent: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

async function findRecord(domain: string, text: string, { resolveTxt }: ProofLookup): Promise<Found> {
  try {
    const records = await resolveTxt(`_uma-platform.${domain}`);
    return records.some((parts) => parts.join('').trim() === text) ? 'FOUND' : 'ABSENT';
  } catch (error) {
    return error instanceof Error && 'code' in error && absent.has(error.code) ? 'ABSENT' : 'UNKNOWN';
  }
}

/** Says whether the file of a domain has the text. A host that does not answer has no file: the record can still be made. */
async function findFile(domain: string, text: string, lookup: ProofLookup): Promise<boolean> {
  const { resolve, isAllowed, port, ca } = lookup;
  // One agent for one request, so that no connection outlives the check of its address.
  const agent = new Agent({
    connect: { lookup: checkedLookup(resolve, isAllowed), timeout: fileMs, ...(ca !== undefined && { ca }) },
    maxHeaderSize: 16_384,
  });
  try {
    const { statusCode, body } = await request(`https://${domain}:${port}/.well-known/uma-platform.txt`, {
      dispatcher: agent,
      headers: { 'user-agent': 'payments-gateway/1', accept: 'text/plain' },
      signal: AbortSignal.timeout(fileMs),
    });
    if (statusCode !== 200) return false;
    return (await readStart(body)).split('\n').some((line) => line.trim() === text);
  } catch {
    return false;
  } finally {
    await agent.destroy();
  }
}

/** Reads the first bytes of a file as text. */
async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= fileBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, fileBytes).toString('utf8');
}
