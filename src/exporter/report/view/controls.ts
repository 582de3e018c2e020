import { CLAIMS, type ClaimName } from '../../../verifier/claims/claim.ts';
import type { Controls } from '../../../verifier/records/controls.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';
import { matchesStream } from '../../../verifier/records/stream-glob.ts';

/** Evidence of the run for one control. */
export interface ControlView {
  id: string;
  title: string;
  speaksTo: string;
  doesNotShow: string;
  /** Number of streams that speak to the control, and the counts of their claims. */
  streams: number;
  refuted: number;
  claims: { name: ClaimName; proved: number }[];
}

export interface FrameworkView {
  framework: string;
  note: string | null;
  controls: ControlView[];
}

export function toFrameworks({ report, streams }: RunRecord): FrameworkView[] {
  const frameworks = report.controls.map(({ framework, note, controls }) => ({
    framework,
    note: note ?? null,
    tallies: controls.map((control) => new ControlTally(control)),
  }));
  const tallies = frameworks.flatMap((one) => one.tallies);
  // A stream without entries is no evidence for a control.
  if (tallies.length > 0)
    for (const stream of streams) if (stream.entries > 0) for (const one of tallies) one.add(stream);
  return frameworks.map(({ framework, note, tallies: of }) => ({
    framework,
    note,
    controls: of.map((one) => one.view),
  }));
}

/** Counts the streams that speak to one control. */
class ControlTally {
  readonly view: ControlView;
  readonly #globs: readonly string[] | undefined;

  constructor(control: Controls['controls'][number]) {
    this.#globs = control.streams;
    this.view = {
      id: control.id,
      title: control.title,
      speaksTo: control.speaks_to,
      doesNotShow: control.does_not_show,
      streams: 0,
      refuted: 0,
      claims: CLAIMS.filter((name) => control.claims.includes(name)).map((name) => ({ name, proved: 0 })),
    };
  }

  add({ stream_id, status, claims }: RunStream): void {
    if (this.#globs?.every((glob) => !matchesStream(stream_id, glob)) === true) return;
    this.view.streams++;
    if (status === 'refuted') this.view.refuted++;
    for (const claim of this.view.claims) if (claims[claim.name].state === 'proved') claim.proved++;
  }
}
