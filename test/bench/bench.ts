import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ServedPlatform, servePlatform } from '../support/platform.ts';
import { run } from '../support/process.ts';
import { type Figures, inTurn, measure, type Program } from './program.ts';
import { type Programs, preparePrograms } from './programs.ts';
import { type RecordedService, recordService, type Service } from './recording.ts';

/** The files of entries.c. */
export interface Data {
  entries: number;
  canonicalLines: string;
  canonicalPackage: string;
  sentPackage: string;
}

export interface BenchOptions {
  /** Number of entries in the verified package; all other amounts scale with it. */
  entries: number;
  /** Number of runs behind each median. */
  runs: number;
  /** Adds packages with ten times as many entries to the growth section. */
  full: boolean;
  /** Reports progress. */
  log: (line: string) => void;
}

/** A session with one folder, and programs and data that are each made once. */
export class Bench {
  readonly folder: string;
  readonly options: BenchOptions;
  readonly programs: Programs;
  readonly #data = new Map<number, Promise<Data>>();
  readonly #services = new Set<{ stop(): Promise<void> }>();

  private constructor(folder: string, options: BenchOptions, programs: Programs) {
    this.folder = folder;
    this.options = options;
    this.programs = programs;
  }

  static async prepare(folder: string, options: BenchOptions): Promise<Bench> {
    options.log('compiling');
    return new Bench(folder, options, await preparePrograms(folder));
  }

  /** Returns a chain with this many entries. */
  data(entries: number): Promise<Data> {
    const made = this.#data.get(entries) ?? this.makeData(entries, `data-${entries}`);
    this.#data.set(entries, made);
    return made;
  }

  /** @param altered sequence number of an entry to change after it is sealed. */
  async makeData(entries: number, name: string, altered = 0): Promise<Data> {
    this.options.log(`making ${entries.toLocaleString('en')} entries`);
    const folder = join(this.folder, name);
    mkdirSync(folder);
    await run(this.programs.entries, [String(entries), folder, String(altered)], this.folder);
    return {
      entries,
      canonicalLines: join(folder, 'canonical.ndjson'),
      canonicalPackage: join(folder, 'package-canonical.json'),
      sentPackage: join(folder, 'package.json'),
    };
  }

  async servePlatform(): Promise<ServedPlatform> {
    return this.#keep(await servePlatform());
  }

  /** Stops a service at most once, and no later than the bench. */
  #keep<Kept extends { stop(): Promise<void> }>(service: Kept): Kept {
    const kept: Kept = {
      ...service,
      stop: async () => {
        if (this.#services.delete(kept)) await service.stop();
      },
    };
    this.#services.add(kept);
    return kept;
  }

  /** Records a platform's answers to one run of each program, and serves them. */
  async recordService(
    platform: ServedPlatform,
    programs: readonly ((service: Service) => Program)[],
  ): Promise<RecordedService> {
    this.options.log('recording what the service answers');
    const recording = await recordService(
      this.folder,
      platform,
      programs.map((program) => (service) => measure(this.programs.measure, this.folder, program(service))),
    );
    return this.#keep(recording);
  }

  /** Stops everything that is still running. */
  async close(): Promise<void> {
    await Promise.all([...this.#services].map((service) => service.stop()));
  }

  /** Returns the medians of programs that run in turn. */
  measureInTurn<Name extends string>(
    programs: Record<Name, Program>,
    runs = this.options.runs,
  ): Promise<Record<Name, Figures>> {
    return inTurn(runs, Object.keys(programs) as Name[], (name) => {
      this.options.log(`running ${name}`);
      return measure(this.programs.measure, this.folder, programs[name]);
    });
  }
}
