import { hash } from 'node:crypto';
import { utf8Bytes } from '../../../core/bytes.ts';
import { EvidenceError } from '../../../core/errors.ts';
import type { KernelExports } from './instance.ts';
import type { ChainKind, Hash, Key, Path, PreimageStep } from './kind.ts';

/** Layout of `settings.h`. */
const EXCHANGE_BYTES = 4096;
const MAX_NAME = 256;
const NOWHERE = 255;
const NO_STEP = 0xffffffff;
const ROLES = ['sequence', 'previous', 'digest', 'streamId', 'timestamp', 'entryId', 'seal', 'sealKey', 'digestKey'];
const STEPS: readonly PreimageStep['kind'][] = [
  ...(['text', 'previous', 'previous-bytes', 'entry', 'value', 'field', 'borders', 'number-border'] as const),
];
const ALGORITHMS: readonly Hash[] = ['sha-256', 'sha-384', 'sha-512'];
const ENCODINGS: readonly string[] = ['hex', 'base64', 'base64url'];
const TIME_UNITS: readonly string[] = ['none', 'text', 'seconds', 'milliseconds'];
const GENESIS = { zeros: 0, absent: 1, literal: 2 };
const HMAC_BLOCK: Record<Hash, number> = { 'sha-256': 64, 'sha-384': 128, 'sha-512': 128 };

/** Tells a kernel what it has to know of a kind of chain, a stream and its keys. */
export class KernelSettings {
  readonly #kernel: KernelExports;
  readonly #kind: ChainKind;
  /** Of what is never covered, what is not known yet. */
  readonly #unknown: Set<string>;
  readonly #known = new Set<string>();
  /** By what they leave open. */
  readonly #steps = new Map<string, number[]>();
  /** The ids of the keys that the kernel was given, in order: for digests, for seals. */
  readonly #keyIds: [string[], string[]] = [[], []];

  /** @throws EvidenceError `config` for what the kernel cannot hold. */
  constructor(kernel: KernelExports, kind: ChainKind, streamId: string) {
    this.#kernel = kernel;
    this.#kind = kind;
    this.#unknown = new Set(kind.uncovered);
    const { form, digest, roles, timestampUnit, textNumbers } = kind;
    const python = form.kind === 'python' ? form : null;
    kernel.set_form(
      Number(form.kind === 'as-sent'),
      Number(python?.ascii ?? false),
      Number(form.kind === 'rfc8785' || python?.sorted === true),
      Number(form.kind === 'rfc8785'),
      Number(python?.spaced ?? false),
      Number(kind.fields !== null),
    );
    kernel.set_values(Number(textNumbers), TIME_UNITS.indexOf(roles.timestamp === null ? 'none' : timestampUnit));
    const prefix = this.#put(digest.prefix, 'the prefix of digests');
    hold(kernel.set_digest(ALGORITHMS.indexOf(digest.algorithm), ENCODINGS.indexOf(digest.encoding), prefix), 'prefix');
    this.#setGenesis();
    this.#nameMembers();
    for (const step of kind.preimage) this.#addStep(step);
    if (!streamId.isWellFormed()) throw new EvidenceError('config', 'the stream id is not well-formed');
    hold(kernel.expect_stream(this.#put(streamId, 'the stream id')), 'the stream id');
  }

  /**
   * From now on digests are checked with these keys, where the kind makes them with one, and seals with any; without
   * keys, the form of seals alone.
   */
  setKeys(keys: ReadonlyMap<string, Uint8Array>): void {
    const { digest, digestKey, seal } = this.#kind;
    if (digestKey !== null) {
      if (keys.size === 0) throw new EvidenceError('config', 'digests are made with a key, and none is given');
      if ('member' in digestKey) this.#play('digestKey', digestKey.member);
      this.#kernel.key_digests();
      this.#addKeys(0, digest.algorithm, digestKey, keys);
    }
    if (seal === null) return;
    this.#play('seal', seal.value);
    this.#kernel.expect_seals(ALGORITHMS.indexOf(seal.algorithm), ENCODINGS.indexOf(seal.encoding));
    if (keys.size === 0) return;
    if ('member' in seal.key) this.#play('sealKey', seal.key.member);
    this.#kernel.check_seals(Number(seal.over === 'digest-bytes'));
    this.#addKeys(1, seal.algorithm, seal.key, keys);
  }

  /** The ids of the keys that regular entries have named. */
  get usedKeyIds(): string[] {
    return this.#keyIds.flatMap((ids, forSeals) => ids.filter((_id, index) => this.#kernel.used_key(forSeals, index)));
  }

  /** Whether all is known that no digest of this kind covers: before that, nothing is regular. */
  get areCertain(): boolean {
    return this.#unknown.size === 0;
  }

  /**
   * What it is known that digests do not cover, as `Content.uncovered` says it: entries that leave open more than that
   * are not regular.
   */
  know(uncovered: ReadonlySet<string>): void {
    if (uncovered.size === this.#known.size) return;
    for (const what of uncovered) {
      if (this.#known.has(what)) continue;
      this.#known.add(what);
      this.#unknown.delete(what);
      for (const step of this.#steps.get(what) ?? []) this.#kernel.know_step(step);
      const group = this.#kind.groups.findIndex((one) => one.uncovered === what);
      if (group !== -1) this.#kernel.know_group(group);
      const [name = '', inner, ...more] = what.split('.');
      // A name with dots is quoted there. What the kernel cannot hold is left to the slow path, whenever it comes.
      const isMember =
        group === -1 && !this.#steps.has(what) && !this.#kind.uncovered.includes(what) && more.length === 0;
      if (!isMember || !isWrittenAsItIs(what) || what.length > MAX_NAME) continue;
      this.#tryName(inner === undefined ? [name] : [name, inner], { known: true });
    }
  }

  #setGenesis(): void {
    const { genesis } = this.#kind;
    const isLiteral = typeof genesis === 'object';
    const length = this.#put(isLiteral ? genesis.literal : '', 'what the first entry says of its predecessor');
    hold(this.#kernel.set_genesis(isLiteral ? GENESIS.literal : GENESIS[genesis], length), 'the genesis value');
  }

  #nameMembers(): void {
    const { fields, without, covered, roles, groups } = this.#kind;
    // First those that are chosen, in their order.
    for (const name of fields ?? []) this.#name([name]);
    for (const name of without) this.#name([name]);
    for (const path of covered) this.#name(path, { covered: true });
    for (const [group, { paths }] of groups.entries())
      for (const path of paths) this.#kernel.group(this.#name(path), group);
    for (const [role, path] of Object.entries(roles)) if (path !== null) this.#play(role, path);
  }

  #play(role: string, path: Path): void {
    this.#kernel.play(ROLES.indexOf(role), this.#name(path));
  }

  #addStep(step: PreimageStep): void {
    const row = 'path' in step ? this.#name(step.path) : 'from' in step ? step.from : 0;
    const { text, count = 0 } = detailsOf(step);
    const length = this.#put(text, 'a part of what is hashed');
    const pinned = step.kind === 'field' && step.uncovered === null;
    const index = this.#kernel.step(STEPS.indexOf(step.kind), row, count, length, Number(pinned)) >>> 0;
    hold(Number(index !== NO_STEP), 'a part of what is hashed');
    const uncovered = 'uncovered' in step ? step.uncovered : null;
    if (uncovered !== null) this.#steps.set(uncovered, [...(this.#steps.get(uncovered) ?? []), index]);
  }

  /** A key that does not fit is one that the kernel does not know: entries that are made with it are not regular. */
  #addKeys(forSeals: 0 | 1, algorithm: Hash, chosen: Key, keys: ReadonlyMap<string, Uint8Array>): void {
    for (const [id, key] of keys) {
      if (!id.isWellFormed() || ('id' in chosen && chosen.id !== id)) continue;
      // RFC 2104 section 2: a key that is longer than a block stands for its digest.
      const isLong = key.length > HMAC_BLOCK[algorithm];
      const secret = isLong ? hash(algorithm.replace('-', ''), key, 'buffer') : key;
      const text = utf8Bytes(id);
      if (text.length + secret.length <= EXCHANGE_BYTES) {
        this.#exchange.set(text);
        this.#exchange.set(secret, text.length);
        const isTaken = this.#kernel.add_key(forSeals, text.length, secret.length) !== 0;
        if (isTaken) this.#keyIds[forSeals].push(id);
      }
      if (isLong) secret.fill(0);
    }
  }

  #name(path: Path, more: { covered?: boolean } = {}): number {
    const row = this.#tryName(path, more);
    if (row === NOWHERE)
      throw new EvidenceError('config', `the member name ${path.join('.')} is too long, or there are too many`);
    return row;
  }

  #tryName(path: Path, { covered = false, known = false }: { covered?: boolean; known?: boolean }): number {
    const [name, inner] = path;
    const isLast = inner === undefined;
    const { fields, without } = this.#kind;
    const isWritten = fields === null ? !without.includes(name) : fields.includes(name);
    const hasEntry = this.#kind.preimage.some(({ kind }) => kind === 'entry');
    const row = this.#nameOne(name, NOWHERE, hasEntry && isWritten, isLast && covered, isLast && known);
    return isLast || row === NOWHERE ? row : this.#nameOne(inner, row, false, covered, known);
  }

  #nameOne(name: string, container: number, written: boolean, covered: boolean, known: boolean): number {
    if (!isWrittenAsItIs(name)) throw new EvidenceError('config', `the member name ${name} is not written as it is`);
    const length = this.#put(name, 'a member name');
    return this.#kernel.name(length, container, Number(written), Number(covered), Number(known));
  }

  #put(text: string, what: string): number {
    const bytes = utf8Bytes(text);
    hold(Number(bytes.length <= EXCHANGE_BYTES), what);
    this.#exchange.set(bytes);
    return bytes.length;
  }

  get #exchange(): Uint8Array {
    return new Uint8Array(this.#kernel.memory.buffer, this.#kernel.exchange.value, EXCHANGE_BYTES);
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
    case 'borders':
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
