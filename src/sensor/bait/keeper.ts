import { isSystemError } from '../../core/errors.ts';
import type { SensorSettings, WantedBait } from '../answers.ts';
import { type SensorClient, said } from '../client.ts';
import type { BaitNotes, BaitRead, BaitSign, PlantedBait } from '../state/notes.ts';
import type { SensorState } from '../state/state.ts';
import { lookAt, removeBait } from './looking.ts';
import { plantBait } from './planting.ts';

interface KeeperDeps {
  state: Pick<SensorState, 'bait' | 'keepBait'>;
  service: SensorClient;
  /** True if reads are noticed immediately. */
  canWatch: boolean;
}

/** Maximum number of reads in one request. */
const MOST_READS = 500;

/** Plants and inspects bait and reports it to the service, one operation at a time. */
export class BaitKeeper {
  readonly #deps: KeeperDeps;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(deps: KeeperDeps) {
    this.#deps = deps;
  }

  /**
   * Carries out the settings, and inspects all planted bait.
   * @returns what could not be done or reported; it is retried in the next round.
   * @throws EvidenceError as `SensorClient.ask`.
   */
  tend(settings: Pick<SensorSettings, 'endpointId' | 'bait' | 'roots'>): Promise<string[]> {
    return this.#inTurn(async () => {
      const { endpointId, bait: wanted, roots } = settings;
      const notes = this.#deps.state.bait();
      const isAnother = notes.endpoint_id !== null && notes.endpoint_id !== endpointId;
      if (isAnother || (wanted.length === 0 && notes.planted.length === 0 && notes.reads.length === 0)) return [];
      const own = wanted.filter((bait) => bait.wanted === 'removed' || !has(notes, bait.bait_id));
      this.#keep({ endpoint_id: endpointId, planted: notes.planted.filter(isListed(wanted)) });
      const problems: string[] = [];
      for (const bait of own) problems.push(...(await this.#doAsWanted(bait, roots)));
      for (const { bait_id } of this.#deps.state.bait().planted)
        problems.push(...(await this.#lookAfter(bait_id, null)));
      return [...problems, ...(await this.#tellReads())];
    });
  }

  /** Inspects the bait at a path after a read was noticed. @returns as `tend`. */
  look(path: string, sign: BaitSign | null): Promise<string[]> {
    return this.#inTurn(async () => {
      const bait = this.#deps.state.bait().planted.find((each) => each.path === path);
      if (bait === undefined) return [];
      return [...(await this.#lookAfter(bait.bait_id, sign)), ...(await this.#tellReads())];
    });
  }

  /** Paths of all bait. */
  paths(): string[] {
    return this.#deps.state.bait().planted.map(({ path }) => path);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work, work);
    this.#turn = done.catch(() => {});
    return done;
  }

  async #doAsWanted(bait: WantedBait, roots: readonly string[]): Promise<string[]> {
    const { bait_id, wanted, content } = bait;
    const planted = this.#deps.state.bait().planted.find((each) => each.bait_id === bait_id);
    if (wanted === 'removed') return this.#remove(bait_id, planted);
    if (content === null) return this.#stands(bait_id, FORGOTTEN);
    const planting = plantBait({ ...bait, content }, roots);
    if (planting.planted === null)
      return this.#tell(`/sensor/bait/${bait_id}/planted`, { planted: false, reason: planting.reason });
    const signs = this.#deps.canWatch ? ['inotify' as const] : [];
    this.#note({ ...planting.planted, seen_by: [...planting.planted.seen_by, ...signs] });
    return [];
  }

  async #remove(baitId: string, planted: PlantedBait | undefined): Promise<string[]> {
    if (planted === undefined) return this.#stands(baitId, FORGOTTEN);
    // Records a last read before the removal.
    const problems = await this.#lookAfter(baitId, null);
    if (!has(this.#deps.state.bait(), baitId)) return problems;
    const problem = await this.#stands(baitId, removeBait(planted));
    if (problem.length === 0) this.#forget(baitId);
    return [...problems, ...problem];
  }

  /** Records reads of the bait, and reports its standing if it is not as the sensor left it. */
  async #lookAfter(baitId: string, sign: BaitSign | null): Promise<string[]> {
    const bait = this.#deps.state.bait().planted.find(({ bait_id }) => bait_id === baitId);
    if (bait === undefined) return [];
    const look = looked(bait, sign);
    if (typeof look === 'string') return [look];
    // Stored before it is reported, so that a crash loses no read.
    if (look.read !== null) this.#addRead(look.read);
    if (look.planted !== null && look.planted !== bait) this.#note(look.planted);
    const problems = bait.confirmed ? [] : await this.#confirm(bait);
    if (look.fault === null) return problems;
    const told = await this.#stands(baitId, look.fault);
    if (look.planted === null && told.length === 0) this.#forget(baitId);
    return [...problems, ...told];
  }

  async #confirm({ bait_id, seen_by }: PlantedBait): Promise<string[]> {
    const problems = await this.#tell(`/sensor/bait/${bait_id}/planted`, { planted: true, seen_by });
    const planted = this.#deps.state.bait().planted.find((each) => each.bait_id === bait_id);
    if (problems.length === 0 && planted !== undefined) this.#note({ ...planted, confirmed: true });
    return problems;
  }

  async #tellReads(): Promise<string[]> {
    const reads = this.#deps.state.bait().reads.slice(0, MOST_READS);
    if (reads.length === 0) return [];
    const problems = await this.#tell('/sensor/bait/reads', { reads });
    if (problems.length === 0) this.#keep({ reads: this.#deps.state.bait().reads.slice(reads.length) });
    return problems;
  }

  #stands(baitId: string, standing: { standing: string; reason: string }): Promise<string[]> {
    return this.#tell(`/sensor/bait/${baitId}/standing`, standing);
  }

  /** @returns the reason that the service did not accept the request. */
  async #tell(path: string, body: object): Promise<string[]> {
    const answer = await this.#deps.service.ask(path, JSON.stringify(body));
    if (answer.status < 300) return [];
    return [`the service refused a report about bait (${path}): ${answer.status}${said(answer)}`];
  }

  #note(bait: PlantedBait): void {
    const others = this.#deps.state.bait().planted.filter(({ bait_id }) => bait_id !== bait.bait_id);
    this.#keep({ planted: [...others, bait] });
  }

  #forget(baitId: string): void {
    this.#keep({ planted: this.#deps.state.bait().planted.filter(({ bait_id }) => bait_id !== baitId) });
  }

  #addRead(read: BaitRead): void {
    this.#keep({ reads: [...this.#deps.state.bait().reads, read] });
  }

  #keep(change: Partial<BaitNotes>): void {
    this.#deps.state.keepBait({ ...this.#deps.state.bait(), ...change });
  }
}

const FORGOTTEN = { standing: 'unknown', reason: 'the sensor does not remember it: its folder is another one' };

function has({ planted }: BaitNotes, baitId: string): boolean {
  return planted.some(({ bait_id }) => bait_id === baitId);
}

function isListed(wanted: readonly WantedBait[]) {
  return ({ bait_id }: PlantedBait) => wanted.some((each) => each.bait_id === bait_id);
}

function looked(bait: PlantedBait, sign: BaitSign | null) {
  try {
    return lookAt(bait, sign);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return `bait ${bait.bait_id} cannot be checked: ${error.code}`;
  }
}
