import type { Rows } from '../../../core/rows/rows.ts';
import { CLAIMS, type ClaimName } from '../../../verifier/claims/claim.ts';
import type { Controls } from '../../../verifier/records/controls.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';
import { matchesStream } from '../../../verifier/records/stream-glob.ts';

/** What the run has on one control. */
export interface ControlView {
  id: string;
  title: string;
  speaksTo: string;
  doesNotShow: string;
  /** How many streams of this run speak to it, and how their claims stand. */
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
  return report.controls.map(({ framework, note, controls }) => ({
    framework,
    note: note ?? null,
    controls: controls.map((control) => toControl(control, streams)),
  }));
}

function toControl(control: Controls['controls'][number], all: Rows<RunStream>): ControlView {
  const { streams: globs } = control;
  const ofControl =
    globs === undefined ? all : all.filter(({ stream_id }) => globs.some((glob) => matchesStream(stream_id, glob)));
  // A stream without entries says nothing.
  const streams = ofControl.filter(({ entries }) => entries > 0);
  return {
    id: control.id,
    title: control.title,
    speaksTo: control.speaks_to,
    doesNotShow: control.does_not_show,
    streams: streams.length,
    refuted: streams.filter(({ status }) => status === 'refuted').length,
    claims: CLAIMS.filter((name) => control.claims.includes(name)).map((name) => ({
      name,
      proved: streams.filter(({ claims }) => claims[name].state === 'proved').length,
    })),
  };
}
