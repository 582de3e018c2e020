import { hash } from 'node:crypto';

/** A whole tree of 2^level leaves. */
interface Subtree {
  level: number;
  /** Its 32 bytes as a text of one byte each: a hundred thousand buffers would wait to be collected. */
  digest: string;
}

/** The input of a node's digest: its prefix, and the digests of both sides. */
const SIDES = Buffer.alloc(65, 0x01);

/** The Merkle tree hash of RFC 6962 section 2.1 over leaves that come one by one; holds one digest a level. */
export class MerkleTree {
  readonly #subtrees: Subtree[] = [];
  #size = 0;

  /** The number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** @param leaf its bytes; of text, the UTF-8. */
  add(leaf: Uint8Array | string): void {
    let subtree: Subtree = { level: 0, digest: leafOf(leaf) };
    for (let left = this.#subtrees.at(-1); left?.level === subtree.level; left = this.#subtrees.at(-1)) {
      this.#subtrees.pop();
      subtree = { level: left.level + 1, digest: nodeOf(left.digest, subtree.digest) };
    }
    this.#subtrees.push(subtree);
    this.#size++;
  }

  /** Lower-case hex over all leaves until now; more may follow. Over none, the digest of nothing. */
  root(): string {
    const digest = this.#subtrees.reduceRight<string | null>(
      (right, { digest: left }) => (right === null ? left : nodeOf(left, right)),
      null,
    );
    return Buffer.from(digest ?? hash('sha256', '', 'binary'), 'latin1').toString('hex');
  }
}

function leafOf(leaf: Uint8Array | string): string {
  const prefixed = typeof leaf === 'string' ? `\0${leaf}` : Buffer.concat([Buffer.of(0x00), leaf]);
  return hash('sha256', prefixed, 'binary');
}

function nodeOf(left: string, right: string): string {
  SIDES.write(left, 1, 'latin1');
  SIDES.write(right, 33, 'latin1');
  return hash('sha256', SIDES, 'binary');
}
