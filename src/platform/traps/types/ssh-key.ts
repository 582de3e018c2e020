import { generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { DecoyPlace } from '../decoys/decoy.ts';
import { pickOne, randomHostName } from '../decoys/names.ts';
import { fingerprintOf } from '../decoys/ssh/authentication.ts';
import { sshPublicKey } from '../decoys/ssh/host-keys.ts';
import { sshNumber, sshString, sshUint32 } from '../decoys/ssh/wire.ts';
import { readOptions, type TrapType } from './type.ts';

const optionsSchema = z.strictObject({ algorithm: z.enum(['ed25519', 'rsa']).default('ed25519') });
const USERS = ['deploy', 'backup', 'ansible', 'jenkins', 'ops', 'gitlab-runner', 'admin', 'rsync'];
const RSA_BITS = 3072;

const generate = promisify(generateKeyPair);

/** Private key of a login. A use is recognized by the key's fingerprint, before the login is decided. */
export const sshKey: TrapType = {
  type: 'ssh_key',
  decoy: 'ssh',
  needsDecoy: true,
  async make(input) {
    const { algorithm } = readOptions(optionsSchema, input);
    const { host, port } = input.decoy as DecoyPlace;
    const { privateKey } =
      algorithm === 'rsa' ? await generate('rsa', { modulusLength: RSA_BITS }) : await generate('ed25519');
    const [user, alias] = [pickOne(USERS), randomHostName(pickOne(['bastion', 'build', 'app', 'jump']))];
    const comment = `${user}@${randomHostName(pickOne(['ci', 'build', 'admin']))}`;
    const blob = sshPublicKey(privateKey);
    const filename = `id_${algorithm}`;
    const fingerprint = fingerprintOf(blob);
    const type = algorithm === 'rsa' ? 'ssh-rsa' : 'ssh-ed25519';
    const content = openSshFile(privateKey, blob, comment);
    const stanza = `Host ${alias}\n  HostName ${host}\n  Port ${port}\n  User ${user}\n  IdentityFile ~/.ssh/${filename}\n  IdentitiesOnly yes\n`;
    return {
      credential: {
        private_key: content,
        public_key: `${type} ${blob.toString('base64')} ${comment}`,
        fingerprint,
        user,
        host,
        port,
        ssh_config: stanza,
      },
      artifact: {
        filename,
        content,
        instructions: `Put the file into the folder .ssh of a home folder, with mode 0600, and add these lines to ~/.ssh/config, which show where the key is used:\n\n${stanza}\nA line "ssh ${alias}" in ~/.bash_history makes the key look used.`,
      },
      marks: [{ kind: 'ssh_fingerprint', value: fingerprint }],
      channels: ['ssh'],
      knownAs: `${fingerprint} (${comment})`,
    };
  },
};

/** Returns a private key file without a passphrase: https://cvsweb.openbsd.org/src/usr.bin/ssh/PROTOCOL.key */
function openSshFile(key: KeyObject, blob: Buffer, comment: string): string {
  const check = randomBytes(4);
  const secret = Buffer.concat([check, check, ...privateParts(key), sshString(comment)]);
  // Padding bytes count up from 1.
  const padding = Buffer.from(Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, at) => at + 1));
  const file = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...['none', 'none', ''].map(sshString),
    sshUint32(1),
    sshString(blob),
    sshString(Buffer.concat([secret, padding])),
  ]);
  const lines = file.toString('base64').match(/.{1,70}/g) ?? [];
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join('\n')}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

function privateParts(key: KeyObject): Buffer[] {
  const { x = '', d = '', n = '', e = '', p = '', q = '', qi = '' } = key.export({ format: 'jwk' });
  const part = (text: string) => Buffer.from(text, 'base64url');
  if (key.asymmetricKeyType === 'rsa')
    return [sshString('ssh-rsa'), ...[n, e, d, qi, p, q].map((text) => sshNumber(part(text)))];
  return [sshString('ssh-ed25519'), sshString(part(x)), sshString(Buffer.concat([part(d), part(x)]))];
}
