import { createHmac } from 'node:crypto';
import { ElementScanner } from '../../../../src/core/json/elements.ts';
import type { SealKeys } from '../../../../src/verifier/model/entry.ts';
import { defaultContract } from '../../../../src/verifier/reading/default-contract.ts';
import type { RecipeProgram } from '../../../../src/verifier/recipe/recipe-program.ts';
import { KEYS, SEAL_KEY, STREAM } from '../../../support/chain.ts';
import { ComparedDecoders, type Taken } from '../compared.ts';

if (defaultContract.program === null) throw new Error('the default contract has a program');
export const PROGRAM: RecipeProgram = defaultContract.program;

/** Opens decoders of the default contract. */
export function decoders(more: { program?: RecipeProgram; keys?: SealKeys; streamId?: string } = {}): ComparedDecoders {
  return new ComparedDecoders({ contract: defaultContract, keys: KEYS, streamId: STREAM, ...more });
}

/** Placeholders for the hash and the seal of an entry. */
export const HASH = 'h'.repeat(64);
export const SEAL = 's'.repeat(64);

export function stamp(entry: string, digest: string): string {
  return entry.replace(HASH, digest).replace(SEAL, createHmac('sha256', SEAL_KEY).update(digest).digest('hex'));
}

/** Returns the digest that the reference decoder computes; null if it computes none. */
export function slowDigest(entry: string): string | null {
  let digest: string | null = null;
  const scanner = new ElementScanner([], {
    onElement: (bytes, members) => {
      const { content } = defaultContract.readEntry(bytes, members, KEYS);
      digest = content.state === 'computed' ? content.digest : null;
    },
  });
  try {
    scanner.push(Buffer.from(`[${stamp(entry, '0'.repeat(64))}]`, 'latin1'));
  } catch {
    return null;
  }
  return digest;
}

const both = decoders();

/** Returns the entries taken from the elements after an array's bracket, given as latin1. */
export function judge(array: string, block?: number): Taken {
  return both.taken(Buffer.from(array, 'latin1'), block);
}

export function disagreement(taken: Taken): string | null {
  return both.disagreement(taken);
}

/** Returns the digest that the module computes of an element after `before`. */
export function ownDigest(before: readonly string[], entry: string): string {
  return both.ownDigest([...before, stamp(entry, '0'.repeat(64))]);
}
