import { hash } from 'node:crypto';
import { type DocumentNode, Kind, print, stripIgnoredCharacters, type ValueNode, visit } from 'graphql';

/** A document as its uses are counted. */
export interface DocumentForm {
  /** The document without the values in it. */
  readonly text: string;
  /** The SHA-256 of the text. */
  readonly digest: Buffer;
}

/**
 * Returns the form in which the uses of a document are counted: texts are empty, numbers 0 and lists of them empty. So it holds no
 * personal data, and a client that writes its values into its documents sends one document, and not many.
 */
export function formOf(document: DocumentNode): DocumentForm {
  const bare = visit(document, {
    StringValue: (node) => ({ ...node, value: '', block: false }),
    IntValue: (node) => ({ ...node, value: '0' }),
    FloatValue: (node) => ({ ...node, value: '0' }),
    ListValue: (node) => (node.values.some(hasNames) ? undefined : { ...node, values: [] }),
  });
  const text = stripIgnoredCharacters(print(bare));
  return { text, digest: hash('sha256', text, 'buffer') };
}

/** Tells whether a value has names of the schema in it: of enums, or of input fields. */
function hasNames({ kind }: ValueNode): boolean {
  return kind !== Kind.STRING && kind !== Kind.INT && kind !== Kind.FLOAT;
}
