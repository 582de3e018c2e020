import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../support/process.ts';

/** Recomputation with Python's hashlib, hmac and json, from the package's bytes and the master key. */
const RECOMPUTE = `
import hashlib, hmac, json, sys
package = json.load(open(sys.argv[1], encoding='utf-8'))
master = open(sys.argv[2], 'rb').read()
stream = package['stream']['stream_id']
extract = hmac.new(b'\\0' * 32, master, 'sha256').digest()
previous, expected, epoch = '0' * 64, 1, 1
for entry in package['entries']:
    content = {name: entry[name] for name in entry if name not in ('hash', 'seal')}
    text = json.dumps(content, sort_keys=True, separators=(',', ':'), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == entry['hash'], entry
    key = hmac.new(extract, b'seal/%d/' % epoch + stream.encode() + b'\\x01', 'sha256').digest()
    assert hmac.new(key, entry['hash'].encode(), 'sha256').hexdigest() == entry['seal'], entry
    assert entry['seal_key_id'] == 'e%d-' % epoch + hashlib.sha256(stream.encode()).hexdigest()[:16]
    assert entry['prev_hash'] == previous and entry['sequence'] == expected and entry['stream_id'] == stream
    previous, expected = entry['hash'], expected + 1
    epoch += (entry['action'], entry['resource_type']) == ('key.rotated', 'seal_key')
assert package['head_hash'] == previous and package['entry_count'] == expected - 1
assert list(package)[-1] == 'entries'
print(expected - 1)
`;

/**
 * Verifies every hash, link and seal of a package with Python.
 * @param dataDir of the platform that made it.
 * @param folder for a temporary file.
 * @returns the number of entries.
 * @throws Error with Python's findings.
 */
export async function recomputeInPython(packageJson: string, dataDir: string, folder: string): Promise<string> {
  const file = join(folder, `${randomUUID()}.json`);
  await writeFile(file, packageJson);
  try {
    const words = ['-c', RECOMPUTE, file, join(dataDir, 'master.key')];
    return (await run('python3', words)).trim();
  } finally {
    await rm(file);
  }
}
