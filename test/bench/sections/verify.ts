import type { Bench } from '../bench.ts';
import type { Figures, Program } from '../program.ts';
import { type Row, speedRow } from '../row.ts';
import { limitProgram, peerProgram, verifyProgram } from '../verifiers.ts';

const KINDS = [
  { id: 'any-order', what: 'any key order', canonical: false, seals: false, limit: 'limit', peer: 'peer.py' },
  { id: 'canonical', what: 'canonical', canonical: true, seals: false, limit: 'limit', peer: null },
  {
    id: 'seals',
    what: 'any key order, with seals',
    canonical: false,
    seals: true,
    limit: 'limit seal',
    peer: 'peer.py seals',
  },
] as const;
const ONE_THREAD = { id: 'one-thread', what: 'one thread', flag: { threads: 1 }, atLeast: 0.35 };
const ALL_CORES = { id: 'all-cores', what: 'all cores', flag: {}, atLeast: 0.6 };
const PEER_AT_LEAST = 5;

/** Verifies one package with the verifier, the limit and the peer, each with and without seals. */
export async function benchVerify(bench: Bench): Promise<Row[]> {
  const data = await bench.data(bench.options.entries);
  // Without --threads, a second run would repeat the first.
  const variants = variantsOf(bench.programs.hasThreads ? [ONE_THREAD, ALL_CORES] : [ALL_CORES]);
  const programs: Record<string, Program> = {
    limit: limitProgram(bench, data),
    'limit seal': limitProgram(bench, data, { seals: true }),
    'peer.py': peerProgram(bench, data),
    'peer.py seals': peerProgram(bench, data, { seals: true }),
  };
  for (const { id, kind, thread } of variants) programs[id] = verifyProgram(bench, data, { ...kind, ...thread.flag });
  const figures = await bench.measureInTurn(programs);
  const title = `verify ${bench.options.entries.toLocaleString('en')} entries`;
  const limits = variants.map(({ id, what, kind, thread }) =>
    compare(figures, { id, what: `${title}, ${what}`, ours: id, other: kind.limit, atLeast: thread.atLeast }),
  );
  const peers = variants.flatMap(({ id, what, kind, thread }) =>
    thread !== ALL_CORES || kind.peer === null
      ? []
      : [
          compare(figures, {
            id: `${id}-against-peer`,
            what: `${title}, ${what}`,
            ours: id,
            other: kind.peer,
            atLeast: PEER_AT_LEAST,
          }),
        ],
  );
  return [...limits, ...peers];
}

function variantsOf(threads: readonly (typeof ONE_THREAD | typeof ALL_CORES)[]) {
  return KINDS.flatMap((kind) =>
    threads.map((thread) => ({ kind, thread, id: `${kind.id}-${thread.id}`, what: `${kind.what}, ${thread.what}` })),
  );
}

interface Comparison {
  id: string;
  what: string;
  /** Names of programs. */
  ours: string;
  other: string;
  atLeast: number;
}

function compare(figures: Record<string, Figures>, { id, what, ours, other, atLeast }: Comparison): Row {
  const [mine, theirs] = [figures[ours], figures[other]];
  if (mine === undefined || theirs === undefined) throw new Error(`${ours} or ${other} was not measured`);
  return speedRow({ id: `verify/${id}`, what, atLeast }, mine.seconds, { name: other, seconds: theirs.seconds });
}
