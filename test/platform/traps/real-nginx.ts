import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../../support/ports.ts';
import { certificateIn } from './decoy-places.ts';

/** Debian's nginx, which serves a picture for every path in /assets/ and 404 for all others. */
export interface RealNginx {
  port: number;
  tlsPort: number;
  /** Server header. */
  name: string;
  close(): Promise<void>;
}

export async function startNginx(): Promise<RealNginx> {
  const folder = await mkdtemp(join(tmpdir(), 'nginx-'));
  const [port, tlsPort] = [await freePort(), await freePort()];
  const { certificate, key } = await certificateIn();
  await writeFile(join(folder, 'certificate.pem'), certificate);
  await writeFile(join(folder, 'key.pem'), key);
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};`);
  const sites = 'location / { return 404; } location /assets/ { empty_gif; }';
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/errors;
events { worker_connections 512; }
http { access_log off; ${places.join(' ')}
  ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3; ssl_prefer_server_ciphers on;
  server { listen 127.0.0.1:${port}; ${sites} }
  server { listen 127.0.0.1:${tlsPort} ssl; ssl_certificate certificate.pem; ssl_certificate_key key.pem; ${sites} } }`,
  );
  const child = spawn('nginx', ['-e', join(folder, 'errors'), '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' });
  const name = await nameOf(port, child);
  return {
    port,
    tlsPort,
    name,
    async close() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      await rm(folder, { recursive: true });
    },
  };
}

/** Waits for an answer, and returns its Server header. */
async function nameOf(port: number, child: { exitCode: number | null }): Promise<string> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`);
    const [, name] = /Server: (.*)\r/.exec(await exchange(port, 'GET / HTTP/1.0\r\n\r\n')) ?? [];
    if (name !== undefined) return name;
    await setTimeout(20);
  }
}

/**
 * Sends bytes. Returns the answer as Latin-1, and the state of the connection: `closed`, or `open` if nothing arrived
 * for a while.
 */
export function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1');
    const end = (state: string) => {
      clearTimeout(quiet);
      socket.destroy();
      resolve(`${answer}|${state}`);
    };
    let quiet = globalThis.setTimeout(() => end('open'), SILENT_MS);
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      answer += text;
      clearTimeout(quiet);
      quiet = globalThis.setTimeout(() => end('open'), QUIET_MS);
    });
    socket.on('end', () => end('closed'));
    socket.on('error', () => end('closed'));
    socket.write(Buffer.from(bytes, 'latin1'));
  });
}

/** Silence that ends an exchange, after an answer and without one; long enough for a busy machine. */
const QUIET_MS = 2000;
const SILENT_MS = 10_000;
