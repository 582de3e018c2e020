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
  /** Of the package that is verified; every other amount is in proportion to it. */
  entries: number;
  /** Medians are of so many. */
  runs: number;
  /** Ten times as many entries too, where the question is what grows. */
  full: boolean;
  /** Tells what is being done. */
  log: (line: string) => void;
}

/** One session: a folder, the programs, the data, each made once. */
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

  /** A chain of so many entries. */
  data(entries: number): Promise<Data> {
    const made = this.#data.get(entries) ?? this.makeData(entries, `data-${entries}`);
    this.#data.set(entries, made);
    return made;
  }

  /** @param altered sequence number of an entry that is changed after it was sealed. */
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

  /** Stops with the bench at the latest, and once only. */
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

  /** A service that answers as the platform answered when each of these programs was run once. */
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

  /** Ends what still runs. */
  async close(): Promise<void> {
    await Promise.all([...this.#services].map((service) => service.stop()));
  }

  /** Medians of programs that are run in turn. */
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
