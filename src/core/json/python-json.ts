import type { Written } from './source-text.ts';

/** Arguments of Python's `json.dumps`; its defaults are `spaced`, `ascii` and unsorted. */
export interface PythonJsonOptions {
  /** `spaced`: ", " and ": "; `compact`: "," and ":". */
  separators: 'spaced' | 'compact';
  /** `ensure_ascii`. */
  ascii: boolean;
  sortKeys: boolean;
}

/**
 * Writes JSON like Python's `json.dumps`. Numbers stay as written, because a Python writer wrote them the same way.
 *
 * @param json text from which `value` was read.
 */
export function pythonJson(json: string, value: Written, options: PythonJsonOptions): string {
  const [comma, colon] = options.separators === 'spaced' ? [', ', ': '] : [',', ':'];
  const write = (node: Written): string => {
    if (node.kind === 'scalar') return json.slice(node.start, node.end);
    if (node.kind === 'string') return pythonString(node.value, options.ascii);
    if (node.kind === 'array') return `[${node.items.map(write).join(comma)}]`;
    const members = options.sortKeys
      ? node.members.toSorted((a, b) => compareCodePoints(a.name, b.name))
      : node.members;
    return `{${members.map(({ name, value: inner }) => pythonString(name, options.ascii) + colon + write(inner)).join(comma)}}`;
  };
  return write(value);
}

const SHORT: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
};

/** Escapes everything outside of printable ASCII, including DEL; or only the characters that JSON requires. */
function pythonString(text: string, ascii: boolean): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to be escaped.
  const escaped = text.replace(ascii ? /["\\]|[^ -~]/g : /["\\\u0000-\u001f]/g, (sign) => {
    return SHORT[sign] ?? `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${escaped}"`;
}

/** Compares strings by code points, like Python; ECMAScript compares UTF-16 units, which differ beyond U+FFFF. */
export function compareCodePoints(a: string, b: string): number {
  const [left, right] = [a[Symbol.iterator](), b[Symbol.iterator]()];
  for (;;) {
    const [one, other] = [left.next(), right.next()];
    if (one.done === true || other.done === true) return Number(other.done ?? false) - Number(one.done ?? false);
    const difference = (one.value.codePointAt(0) ?? 0) - (other.value.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
}
