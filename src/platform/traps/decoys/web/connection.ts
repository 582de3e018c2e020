import type { Duplex } from 'node:stream';
import { RequestReader } from './request-reader.ts';
import { isClosing, nginxPage, type WebAnswer, written } from './site.ts';
import type { WebRequest } from './web-request.ts';

/** Client of a connection, and its protocol. */
export interface Peer {
  address: string | null;
  /** True for plain HTTP on an HTTPS port. */
  isPlainToTls: boolean;
}

export interface ConnectionDeps {
  clock: () => Date;
  /** Reports whether nginx passes requests for a path on to an upstream. */
  passesOn(path: string): boolean;
  /** Answers a request that nginx would pass on. */
  answer(request: WebRequest, peer: Peer): Promise<WebAnswer>;
  /** Handles a request that nginx itself refuses. */
  see(request: WebRequest, peer: Peer): Promise<void>;
}

/** Values of nginx's `keepalive_requests` and `lingering_timeout`. */
const MOST_REQUESTS = 1000;
const LINGER_MS = 5000;

/** Answers the requests of one connection in order. */
export function serveConnection(socket: Duplex, peer: Peer, deps: ConnectionDeps): void {
  const reader = new RequestReader(deps.passesOn);
  let busy = false;
  let ended = false;
  let answered = 0;
  const step = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    for (let request = reader.next(); request !== null && !socket.destroyed; request = reader.next()) {
      socket.pause();
      const { answer, mayStay } = await answerOf(request, peer, deps);
      answered++;
      const keepsAlive = mayStay && request.keepsAlive && answered < MOST_REQUESTS;
      if (socket.destroyed) return;
      const drained = socket.write(written(answer, request, { keepsAlive, date: deps.clock() }));
      if (!keepsAlive) return linger(socket, isBodyMissing(request));
      if (!drained) await onceDrained(socket);
    }
    busy = false;
    if (reader.wantsContinue()) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
    if (ended) socket.end();
    else socket.resume();
  };
  socket.on('data', (bytes: Buffer) => {
    reader.push(bytes);
    step().catch(() => socket.destroy());
  });
  socket.on('end', () => {
    ended = true;
    if (!busy) socket.end();
  });
  socket.on('error', () => socket.destroy());
  socket.resume();
}

async function answerOf(request: WebRequest, peer: Peer, deps: ConnectionDeps) {
  const page = peer.isPlainToTls && (request.refused ?? 413) === 413 ? 497 : request.refused;
  if (page === null) return { answer: await deps.answer(request, peer), mayStay: true };
  await deps.see(request, peer);
  return { answer: nginxPage(page, request), mayStay: !isClosing(page) };
}

/**
 * Ends our side of the connection, unless a body is still to be discarded, and discards incoming bytes for a while.
 * Without this, the client could lose the answer.
 */
function linger(socket: Duplex, waitsForBody: boolean): void {
  socket.removeAllListeners('data');
  if (!waitsForBody) socket.end();
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('end', () => socket.destroy());
  socket.once('close', () => clearTimeout(timer));
}

/** Reports whether nginx would wait for the rest of the body in order to discard it. */
function isBodyMissing({ refused, headers, body }: WebRequest): boolean {
  return (refused ?? 413) === 413 && Number(headers.get('content-length') ?? 0) > body.length;
}

function onceDrained(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    socket.once('drain', resolve);
    socket.once('close', resolve);
  });
}
