import { hash } from 'node:crypto';

/** A whole tree of 2^level leaves. */
interface Subtree {
  level: number;
  digest: Buffer;
}

const LEAF = Buffer.of(0x00);
const NODE = Buffer.of(0x01);

/** The Merkle tree hash of RFC 6962 section 2.1 over leaves that come one by one; holds one digest a level. */
export class MerkleTree {
  readonly #subtrees: Subtree[] = [];
  #size = 0;

  /** How many leaves there are. */
  get size(): number {
    return this.#size;
  }

  /** @param leaf its bytes; of text, the UTF-8. */
  add(leaf: Uint8Array | string): void {
    let subtree: Subtree = { level: 0, digest: digestOf(LEAF, Buffer.from(leaf as string)) };
    for (let left = this.#subtrees.at(-1); left?.level === subtree.level; left = this.#subtrees.at(-1)) {
      this.#subtrees.pop();
      subtree = { level: left.level + 1, digest: nodeOf(left.digest, subtree.digest) };
    }
    this.#subtrees.push(subtree);
    this.#size++;
  }

  /** Lower-case hex over all leaves until now; more may follow. Over none, the digest of nothing. */
  root(): string {
    const digest = this.#subtrees.reduceRight<Buffer | null>(
      (right, { digest: left }) => (right === null ? left : nodeOf(left, right)),
      null,
    );
    return (digest ?? digestOf()).toString('hex');
  }
}

function nodeOf(left: Buffer, right: Buffer): Buffer {
  return digestOf(NODE, left, right);
}

function digestOf(...parts: Buffer[]): Buffer {
  return hash('sha256', Buffer.concat(parts), 'buffer');
}
