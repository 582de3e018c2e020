import { utf8Bytes, utf8Text } from '../../core/bytes.ts';
import { readWritten, type Written } from '../../core/json/source-text.ts';
import type { ReferenceDecoder } from '../decode/reference/decoder.ts';
import type { WasmDecoder } from '../decode/wasm/decoder.ts';
import type { EntryBatch } from '../model/batch.ts';
import type { EntryReader } from '../reading/contract.ts';

const COLUMNS = [
  'sequences',
  'times',
  'flags',
  'previous',
  'stated',
  'computed',
  'statedSeals',
  'computedSeals',
] as const satisfies readonly (keyof EntryBatch)[];

type Program = NonNullable<EntryReader['program']>;

export type TrialColumn = (typeof COLUMNS)[number];

/**
 * Tries a decoder on a question with a known answer: an entry that is forged to state another digest and another seal,
 * followed by the entry itself, which does not link to it. On a sound chain, a decoder that copies values instead of
 * computing them, or copies the link from the entry before, answers like a correct one; on these two entries it does
 * not.
 * @param entry one that the decoder accepts.
 * @returns the columns that differ from the reference decoder's; null if the entry is too large for a trial.
 */
export function tryDecoder(
  decoder: WasmDecoder,
  reference: ReferenceDecoder,
  program: Program,
  entry: Uint8Array,
): readonly TrialColumn[] | null {
  const text = utf8Text(entry);
  const bytes = utf8Bytes(`${forged(text, program)},${text}]`);
  if (bytes.length > decoder.input.length) return null;
  decoder.input.set(bytes);
  const { columns } = decoder.run(0, bytes.length, bytes.length, 'first');
  const expected = reference.decode(bytes, 0, 'first').batch;
  if (columns === null || expected === null) return COLUMNS;
  const said = decoder.toBatch(columns);
  return COLUMNS.filter((name) => String(said[name]) !== String(expected[name]));
}

/** Returns the entry with another digest and another seal of the same form. */
function forged(text: string, { roles, digest, seal }: Program): string {
  const written = readWritten(text);
  const withDigest = withOtherDigit(text, memberAt(written, roles.digest), digest.prefix.length);
  return seal === null ? withDigest : withOtherDigit(withDigest, memberAt(written, seal.value), 0);
}

/** Replaces one digit, so that the length of the text stays the same. */
function withOtherDigit(text: string, member: Written | undefined, prefix: number): string {
  if (member?.kind !== 'string') return text;
  const at = member.start + 1 + prefix;
  return `${text.slice(0, at)}${text[at] === '0' ? '1' : '0'}${text.slice(at + 1)}`;
}

function memberAt(root: Written, path: readonly string[]): Written | undefined {
  let here: Written | undefined = root;
  for (const name of path)
    here = here?.kind === 'object' ? here.members.find((member) => member.name === name)?.value : undefined;
  return here;
}
