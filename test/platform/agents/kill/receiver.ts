import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A receiver of Security Event Tokens (RFC 8935) that accepts or refuses them. */
export class TokenReceiver {
  readonly tokens: { headers: IncomingHttpHeaders; text: string }[] = [];
  /** Answer to each token. */
  answer: { status: number; body?: string } = { status: 202 };
  attempts = 0;
  url = '';
  /** Listening address, `host:port`. */
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
