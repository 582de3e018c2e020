/** An answer that Go gives in place of its handlers. See net/http/server.go. */
export function refusedByGo(status: string, text?: string): string {
  const said = text === undefined ? status : `${status}: ${text}`;
  return `HTTP/1.1 ${said}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${said}`;
}

const BAD_REQUEST = '400 Bad Request';
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const VERSION = /^HTTP\/(\d)\.(\d)$/;
/** httpguts.ValidHostHeader */
const HOST = /^[!$%&'()*+,\-./:;=[\]_~\w]*$/;

/**
 * Judges the beginning of a request as Go reads it, a line at a time.
 * @param head as much of it as came, a character for each byte.
 * @returns what it is refused with; `more` where a line is missing, `fits` for what a handler is to answer.
 */
export function judgeHead(head: string): { refused: string } | 'more' | 'fits' {
  const lines = head.split('\n');
  // Text without a line end is no line yet.
  lines.pop();
  const [first, ...rest] = lines.map((line) => line.replace(/\r$/, ''));
  if (first === undefined) return 'more';
  const [method = '', target, ...protocol] = first.split(' ');
  const [, major, minor] = VERSION.exec(protocol.join(' ')) ?? [];
  if (target === undefined || !TOKEN.test(method) || major === undefined) return { refused: refusedByGo(BAD_REQUEST) };
  const isUpgrade = first === 'PRI * HTTP/2.0';
  const end = rest.indexOf('');
  if (end === -1) return 'more';
  if (major !== '1' && !isUpgrade)
    return { refused: refusedByGo('505 HTTP Version Not Supported', 'unsupported protocol version') };
  const wrong = wrongHeader(rest.slice(0, end), minor === '0' || method === 'CONNECT' || isUpgrade);
  return wrong === null ? 'fits' : { refused: refusedByGo(BAD_REQUEST, wrong) };
}

/** The fault that Go finds in headers that other servers accept. */
function wrongHeader(lines: readonly string[], mayLackHost: boolean): string | null {
  const names = lines.map((line) => line.split(':', 1)[0] ?? '');
  const host = lines.find((line) => /^host:/i.test(line));
  if (host === undefined && !mayLackHost) return 'missing required Host header';
  if (host !== undefined && !HOST.test(host.slice('host:'.length).trim())) return 'malformed Host header';
  return names.some((name) => /^[\w-]+ /.test(name)) ? 'invalid header name' : null;
}
