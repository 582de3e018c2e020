import type { Bench } from '../bench.ts';
import { type Row, speedRow } from '../row.ts';
import { limitProgram, peerProgram, verifyProgram } from '../verifiers.ts';

const KINDS = [
  { id: 'any-order', what: 'any key order', canonical: false, seals: false },
  { id: 'canonical', what: 'canonical', canonical: true, seals: false },
  { id: 'seals', what: 'any key order, with seals', canonical: false, seals: true },
] as const;
const THREADS = [
  { id: 'one-thread', what: 'one thread', flag: { threads: 1 }, atLeast: 0.35 },
  { id: 'all-cores', what: 'all cores', flag: {}, atLeast: 0.6 },
] as const;
const PEER_AT_LEAST = 5;

/** One package, by us, by the limit and by the peer, each with and without seals. */
export async function benchVerify(bench: Bench): Promise<Row[]> {
  const data = await bench.data(bench.options.entries);
  // Without the flag a second run would be the same run.
  const threads = bench.programs.hasThreads ? THREADS : THREADS.slice(1);
  const variants = KINDS.flatMap((kind) => threads.map((thread) => ({ kind, thread })));
  const ours = variants.map(({ kind, thread }) => [
    `${kind.id}-${thread.id}`,
    verifyProgram(bench, data, { ...kind, ...thread.flag }),
  ]);
  const figures = await bench.measureInTurn({
    limit: limitProgram(bench, data),
    'limit seal': limitProgram(bench, data, { seals: true }),
    'peer.py': peerProgram(bench, data),
    'peer.py seals': peerProgram(bench, data, { seals: true }),
    ...Object.fromEntries(ours),
  });
  const against = (id: string, name: keyof typeof figures, what: string, atLeast: number) =>
    speedRow({ id: `verify/${id}`, what, atLeast }, secondsOf(figures, id.replace(/-against-peer$/, '')), {
      name,
      seconds: secondsOf(figures, name),
    });
  const title = `verify ${bench.options.entries.toLocaleString('en')} entries`;
  const rows = variants.map(({ kind, thread }) =>
    against(
      `${kind.id}-${thread.id}`,
      kind.seals ? 'limit seal' : 'limit',
      `${title}, ${kind.what}, ${thread.what}`,
      thread.atLeast,
    ),
  );
  const peers = KINDS.filter(({ canonical }) => !canonical).map(({ id, what, seals }) =>
    against(
      `${id}-all-cores-against-peer`,
      seals ? 'peer.py seals' : 'peer.py',
      `${title}, ${what}, all cores`,
      PEER_AT_LEAST,
    ),
  );
  return [...rows, ...peers];
}

function secondsOf(figures: Record<string, { seconds: number }>, name: string): number {
  const seconds = figures[name]?.seconds;
  if (seconds === undefined) throw new Error(`${name} was not measured`);
  return seconds;
}
