import { hash } from 'node:crypto';
import { utf8Bytes } from '../../../core/bytes.ts';
import { EvidenceError } from '../../../core/errors.ts';
import type { Hash, Key, Path, PreimageStep, RecipeProgram } from '../../recipe/recipe-program.ts';
import type { KernelExports } from './instance.ts';
import { ALGORITHMS, ENCODINGS, ENTRY_ROLES, GENESIS_KINDS, SIZES, STEPS, TIME_UNITS, valuesOf } from './layout.ts';

const HMAC_BLOCK: Record<Hash, number> = { 'sha-256': 64, 'sha-384': 128, 'sha-512': 128 };

/** The use of a member by a recipe. */
interface NameUse {
  isWritten: boolean;
  isCovered: boolean;
}

/** Configures a kernel with a contract, a stream and its keys. */
export class KernelSettings {
  readonly #kernel: KernelExports;
  readonly #program: RecipeProgram;
  /** Steps of the program, by the number that the kernel has for each. */
  readonly steps: PreimageStep[] = [];
  /** Paths of named members, by row. */
  readonly members: Path[] = [];
  /** Ids of the keys given to the kernel, in order: for digests, and for seals. */
  readonly #keyIds: [string[], string[]] = [[], []];

  /** @throws EvidenceError `config` if the kernel cannot hold a value. */
  constructor(kernel: KernelExports, program: RecipeProgram, streamId: string) {
    this.#kernel = kernel;
    this.#program = program;
    const { form, digest, roles, timestampUnit, textNumbers } = program;
    const python = form.kind === 'python' ? form : null;
    kernel.set_form(
      Number(form.kind === 'as-sent'),
      Number(python?.ascii ?? false),
      Number(form.kind === 'rfc8785' || python?.sorted === true),
      Number(form.kind === 'rfc8785'),
      Number(python?.spaced ?? false),
      Number(program.fields !== null),
    );
    kernel.set_values(Number(textNumbers), valuesOf(TIME_UNITS)[roles.timestamp === null ? 'none' : timestampUnit]);
    const prefix = this.#put(digest.prefix, 'the prefix of digests');
    const [algorithm, encoding] = [valuesOf(ALGORITHMS)[digest.algorithm], valuesOf(ENCODINGS)[digest.encoding]];
    hold(kernel.set_digest(algorithm, encoding, prefix), 'the prefix of digests');
    this.#setGenesis();
    this.#nameMembers();
    for (const step of program.preimage) this.#addStep(step);
    if (!streamId.isWellFormed()) throw new EvidenceError('config', 'the stream id is not well-formed');
    hold(kernel.expect_stream(this.#put(streamId, 'the stream id')), 'the stream id');
  }

  /**
   * Sets the keys: digests are checked with them if the recipe takes a key, and so are seals. Without keys, only the
   * form of seals is checked.
   */
  setKeys(keys: ReadonlyMap<string, Uint8Array>): void {
    const { digest, digestKey, seal } = this.#program;
    if (digestKey !== null) {
      if (keys.size === 0) throw new EvidenceError('config', 'digests are made with a key, and none is given');
      if ('member' in digestKey) this.#play('digestKey', digestKey.member);
      this.#kernel.key_digests();
      this.#addKeys(0, digest.algorithm, digestKey, keys);
    }
    if (seal === null) return;
    this.#play('seal', seal.value);
    this.#kernel.expect_seals(valuesOf(ALGORITHMS)[seal.algorithm], valuesOf(ENCODINGS)[seal.encoding]);
    if (keys.size === 0) return;
    if ('member' in seal.key) this.#play('sealKey', seal.key.member);
    this.#kernel.check_seals(Number(seal.over === 'digest-bytes'));
    this.#addKeys(1, seal.algorithm, seal.key, keys);
  }

  /** Ids of the keys that entries of the last run named. */
  get usedKeyIds(): string[] {
    return this.#keyIds.flatMap((ids, forSeals) => ids.filter((_id, index) => this.#kernel.used_key(forSeals, index)));
  }

  #setGenesis(): void {
    const { genesis } = this.#program;
    const isLiteral = typeof genesis === 'object';
    const length = this.#put(isLiteral ? genesis.literal : '', 'what the first entry says of its predecessor');
    hold(
      this.#kernel.set_genesis(valuesOf(GENESIS_KINDS)[isLiteral ? 'literal' : genesis], length),
      'the genesis value',
    );
  }

  #nameMembers(): void {
    const { fields, without, covered, roles, groups } = this.#program;
    // Chosen members come first, in their order.
    for (const name of fields ?? []) this.#name([name]);
    for (const name of without) this.#name([name]);
    for (const path of covered) this.#name(path, { covered: true });
    for (const [group, { paths }] of groups.entries())
      for (const path of paths) this.#kernel.group(this.#name(path), group);
    for (const [role, path] of Object.entries(roles))
      if (path !== null) this.#play(role as keyof typeof ENTRY_ROLES, path);
  }

  #play(role: keyof typeof ENTRY_ROLES, path: Path): void {
    this.#kernel.play(valuesOf(ENTRY_ROLES)[role], this.#name(path));
  }

  #addStep(step: PreimageStep): void {
    const row = 'path' in step ? this.#name(step.path) : 'from' in step ? step.from : 0;
    const { text, count = 0 } = detailsOf(step);
    const length = this.#put(text, 'a part of what is hashed');
    const pinned = step.kind === 'field' && step.unhashed === null;
    const index = this.#kernel.step(valuesOf(STEPS)[step.kind], row, count, length, Number(pinned)) >>> 0;
    hold(Number(index !== SIZES.NO_STEP), 'a part of what is hashed');
    this.steps.push(step);
  }

  /**
   * Adds keys that fit. The kernel does not know a key that does not fit, and leaves its entries to the reference
   * decoder.
   */
  #addKeys(forSeals: 0 | 1, algorithm: Hash, chosen: Key, keys: ReadonlyMap<string, Uint8Array>): void {
    for (const [id, key] of keys) {
      if (!id.isWellFormed() || ('id' in chosen && chosen.id !== id)) continue;
      // A key longer than a block is replaced by its digest (RFC 2104 section 2).
      const isLong = key.length > HMAC_BLOCK[algorithm];
      const secret = isLong ? hash(algorithm.replace('-', ''), key, 'buffer') : key;
      const text = utf8Bytes(id);
      if (text.length + secret.length <= SIZES.EXCHANGE_BYTES) {
        this.#exchange.set(text);
        this.#exchange.set(secret, text.length);
        const isTaken = this.#kernel.add_key(forSeals, text.length, secret.length) !== 0;
        if (isTaken) this.#keyIds[forSeals].push(id);
      }
      if (isLong) secret.fill(0);
    }
  }

  /** @returns the row of the member. */
  #name([name, inner]: Path, more: { covered?: boolean } = {}): number {
    const { fields, without, preimage } = this.#program;
    const isChosen = fields === null ? !without.includes(name) : fields.includes(name);
    const isWritten = isChosen && preimage.some(({ kind }) => kind === 'entry');
    const covered = more.covered ?? false;
    const row = this.#nameOne([name], SIZES.NOWHERE, { isWritten, isCovered: inner === undefined && covered });
    return inner === undefined ? row : this.#nameOne([name, inner], row, { isWritten: false, isCovered: covered });
  }

  #nameOne(path: Path, container: number, { isWritten, isCovered }: NameUse): number {
    const name = path.at(-1) ?? '';
    if (!isWrittenAsItIs(name)) throw new EvidenceError('config', `the member name ${name} is not written as it is`);
    const length = this.#put(name, 'a member name');
    const row = this.#kernel.name(length, container, Number(isWritten), Number(isCovered));
    if (row === SIZES.NOWHERE)
      throw new EvidenceError('config', `the member name ${path.join('.')} is too long, or there are too many`);
    this.members[row] = path;
    return row;
  }

  #put(text: string, what: string): number {
    const bytes = utf8Bytes(text);
    hold(Number(bytes.length <= SIZES.EXCHANGE_BYTES), what);
    this.#exchange.set(bytes);
    return bytes.length;
  }

  get #exchange(): Uint8Array {
    return new Uint8Array(this.#kernel.memory.buffer, this.#kernel.exchange.value, SIZES.EXCHANGE_BYTES);
  }
}

function detailsOf(step: PreimageStep): { text: string; count?: number } {
  switch (step.kind) {
    case 'text':
      return step;
    case 'previous':
      return { text: step.first ?? '', count: Number(step.first !== null) };
    case 'field':
      return { text: step.nullAs };
    case 'boundary':
      return { text: step.separator, count: step.count };
    default:
      return { text: '' };
  }
}

function isWrittenAsItIs(name: string): boolean {
  return name.isWellFormed() && JSON.stringify(name) === `"${name}"`;
}

function hold(held: number, what: string): void {
  if (held === 0) throw new EvidenceError('config', `${what} is too long, or there are too many`);
}
