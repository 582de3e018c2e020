import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Somebody who is told by Security Event Tokens (RFC 8935), and takes them or not. */
export class TokenReceiver {
  readonly tokens: { headers: IncomingHttpHeaders; text: string }[] = [];
  /** What is answered. */
  answer: { status: number; body?: string } = { status: 202 };
  attempts = 0;
  url = '';
  /** Where it listens: `host:port`. */
  host = '';
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      this.attempts++;
      const text = (await request.toArray()).join('');
      const { status, body } = this.answer;
      if (status === 202) this.tokens.push({ headers: request.headers, text });
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    this.host = `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    this.url = `http://${this.host}/events`;
    return this;
  }

  close(): Promise<void> {
    return new Promise((done) => this.#server.close(() => done()));
  }
}
