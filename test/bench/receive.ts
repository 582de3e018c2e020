import { DEFAULT_TRANSPORT } from '../../src/exporter/client/options.ts';
import { Transport } from '../../src/exporter/client/transport.ts';

// receive.ts URL FILE: downloads into a file as the exporter does, hashing the bytes on arrival; prints the SHA-256.

const [url, file] = process.argv.slice(2);
if (url === undefined || file === undefined) throw new Error('usage: receive.ts URL FILE');
const transport = new Transport({
  ...DEFAULT_TRANSPORT,
  origin: new URL(url).origin,
  apiKey: 'none-needed',
  userAgent: 'evidence-bench',
  signal: new AbortController().signal,
});
const observer = { restart: () => undefined, chunk: () => undefined };
const { exchange } = await transport.download({ method: 'GET', url, repeatable: true }, file, observer);
await transport.close();
process.stdout.write(`${exchange.sha256}\n`);
