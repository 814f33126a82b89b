/** The fewest different characters or bytes of a key. A random key of 32 has more, also in hexadecimal. */
const fewest = 9;
const placeholder = /change.?me|example|password|secret|sample|your.?key/i;

/** Returns whether a key is not random: few characters or bytes, an even sequence, a repetition, a placeholder. */
export function isWeakKey(key: string | Uint8Array): boolean {
  if (typeof key === 'string' && placeholder.test(key)) return true;
  const text = Buffer.from(key).toString('latin1');
  const steps = [...text].slice(1).map((character, index) => character.charCodeAt(0) - text.charCodeAt(index));
  const isRepeated = `${text}${text}`.indexOf(text, 1) < text.length;
  return new Set(text).size < fewest || new Set(steps).size < fewest || isRepeated;
}
