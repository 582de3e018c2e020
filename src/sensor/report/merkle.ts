import { hash } from 'node:crypto';

/** Complete tree of 2^level leaves. */
interface Subtree {
  level: number;
  /**
   * The 32 bytes as a Latin-1 string, because the garbage collector would have to handle a hundred thousand buffers.
   */
  digest: string;
}

/** Input of a node's digest: its prefix, and the digests of both sides. */
const SIDES = Buffer.alloc(65, 0x01);

/** Merkle tree hash of RFC 6962 section 2.1 over leaves that are added one by one. Keeps one digest for each level. */
export class MerkleTree {
  readonly #subtrees: Subtree[] = [];
  #size = 0;

  /** Number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** @param leaf bytes, or text that is encoded as UTF-8. */
  add(leaf: Uint8Array | string): void {
    let subtree: Subtree = { level: 0, digest: leafOf(leaf) };
    for (let left = this.#subtrees.at(-1); left?.level === subtree.level; left = this.#subtrees.at(-1)) {
      this.#subtrees.pop();
      subtree = { level: left.level + 1, digest: nodeOf(left.digest, subtree.digest) };
    }
    this.#subtrees.push(subtree);
    this.#size++;
  }

  /**
   * Returns the root hash over all leaves so far in lowercase hex; without leaves, the digest of nothing. More leaves
   * may follow.
   */
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
